# frozen_string_literal: true

# A worker process inherits the other ends of the pipes and sockets that a run reads from, and closes them.
module Manypack
  module Parallel
    # A pipe or socket ends when the last copy of its other end is closed. If the parent has that end, each worker
    # inherits a copy, and must close it, or the source would not end when the parent closes its own.
    #
    # Both ends of a pipe have the same inode. For a UNIX socket, Linux reports the inode of the other end. Other
    # sockets, and UNIX sockets elsewhere, are found by their addresses: those of the source, swapped.
    module OtherEnd
      # How many objects may wrap the io that is read, such as a GzipReader or an object of a user's class.
      MOST_WRAPPERS = 3

      # Constants of Linux, from linux/netlink.h, linux/sock_diag.h and linux/unix_diag.h.
      AF_NETLINK = 16
      NETLINK_SOCK_DIAG = 4
      SOCK_DIAG_BY_FAMILY = 20
      NLM_F_REQUEST = 1
      UDIAG_SHOW_PEER = 4
      UNIX_DIAG_PEER = 2
      ANY = 0xffffffff
      HEADERS_BYTES = 32

      module_function

      # Closes the other ends of the objects that are read from. A worker process calls it first.
      def close_copies(sources)
        ios = sources.flat_map { |source| ios_of(source) }.uniq
        ios.each { |io| close_writing_half(io) }
        tests = ios.filter_map { |io| test_for(io) }
        open_files.each { |number| close_if(number, tests) } if tests.any?
      end

      # The IOs that an object reads from.
      def ios_of(object, wrappers = MOST_WRAPPERS)
        return [object] if object.is_a?(IO)
        return [] if wrappers.zero?
        return ios_of(object.to_io, wrappers - 1) if object.respond_to?(:to_io)

        parts = object.instance_variables.map { |name| object.instance_variable_get(name) }
        parts.concat(object.to_a) if object.is_a?(Struct)
        parts.flat_map { |part| ios_of(part, wrappers - 1) }
      rescue StandardError
        [] # a user's object raised
      end

      # Closes the writing half of an IO.popen("r+"), whose command waits for more input as long as a worker can write.
      # A socket must stay open, because this would shut it down for all processes.
      def close_writing_half(io)
        io.close_write if io.stat.pipe?
      rescue IOError
        nil # it has no writing half, or is closed
      end

      # Returns a Proc that returns true for an IO that is the other end; nil if there is no other end.
      def test_for(io)
        stat = io.stat
        if stat.pipe? then ->(other) { same_file?(stat, other.stat) }
        elsif stat.socket? then socket_test(socket(io.fileno), stat.ino)
        end
      rescue IOError, SystemCallError
        nil # it is closed, or not connected
      end

      def same_file?(one, other)
        one.ino == other.ino && one.dev == other.dev
      end

      def socket_test(source, inode)
        peer = unix_peer(inode) if source.local_address.unix?
        return ->(other) { other.stat.socket? && other.stat.ino == peer } if peer

        names = names_of(source).reverse
        ->(other) { other.stat.socket? && names_of(socket(other.fileno)) == names }
      end

      def names_of(socket)
        [socket.local_address, socket.remote_address].map { |address| name_of(address) }
      end

      # One end may have an IPv4 address where the other end has the same address mapped to IPv6.
      def name_of(address)
        return address.to_sockaddr unless address.ip?

        [address.ipv6_v4mapped? ? address.ipv6_to_ipv4.ip_address : address.ip_address, address.ip_port]
      end

      def socket(number)
        require "socket"
        ::BasicSocket.for_fd(number).tap { |socket| socket.autoclose = false }
      end

      # Returns the inode of the other end of a UNIX socket, or nil if this system does not tell it.
      def unix_peer(inode)
        request = [SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 0, 0, ::Socket::AF_UNIX, 0, 0, ANY, inode, UDIAG_SHOW_PEER,
                   ANY, ANY]
        answer = ask_linux(request.pack("SSLLCCSL5")) if RUBY_PLATFORM.include?("linux")
        return unless answer && answer.unpack1("@4S") == SOCK_DIAG_BY_FAMILY

        attribute(answer, UNIX_DIAG_PEER)
      end

      def ask_linux(request)
        socket = ::Socket.new(AF_NETLINK, ::Socket::SOCK_RAW, NETLINK_SOCK_DIAG)
        socket.send([request.bytesize + 4].pack("L") + request, 0)
        socket.recv(1 << 12)
      rescue SystemCallError
        nil # the kernel lacks that module, or does not let this process ask
      ensure
        socket&.close
      end

      # Returns the number in the attribute of that kind.
      def attribute(answer, kind)
        at = HEADERS_BYTES
        while at + 8 <= answer.bytesize
          size, found, number = answer.unpack("@#{at}SSL")
          return number if found == kind

          at += [(size + 3) & ~3, 4].max
        end
      end

      # Returns the numbers of all open files. The IO objects do not have all of them: a file that a Thread of the
      # parent was closing during the fork is open here, although its IO says that it is closed; since Ruby 4.1 the IOs
      # of other Ractors are not found. Not every system lists all numbers in /dev/fd.
      def open_files
        numbers = ObjectSpace.each_object(IO).filter_map { |io| number_of(io) }
        numbers |= Dir.children("/dev/fd").map(&:to_i) if File.directory?("/dev/fd")
        numbers
      end

      def number_of(io)
        io.fileno
      rescue IOError
        nil # it is closed
      end

      # Reopens the file on the null device, because IO#close of the parent's IO would write what the parent has
      # buffered.
      def close_if(number, tests)
        io = IO.for_fd(number, "w", autoclose: false)
        return unless tests.any? { |test| other_end?(test, io) }

        io.reopen(File::NULL, "w")
        io.autoclose = false # reopen resets it
      rescue SystemCallError, ArgumentError
        nil # the file is open for reading only, was the folder itself, or is reserved by Ruby
      end

      def other_end?(test, io)
        test.call(io)
      rescue SystemCallError
        false # a socket that is not connected
      end
    end
    private_constant :OtherEnd
  end
end
