# frozen_string_literal: true

# The other ends of the pipes and sockets that a run reads from, as far as a worker process has inherited them.
module Manypack
  module Parallel
    # A pipe or socket ends when the last copy of its other end is closed. If the parent has that end, each worker
    # inherits a copy, and must let go of it, or the source would not end when the parent closes it.
    #
    # Both ends of a pipe have one inode. For a UNIX socket, Linux says which inode is at the other end. Other sockets,
    # and UNIX sockets elsewhere, are known by their addresses, which are those of the source the other way round.
    module OtherEnd
      # How deep an io may be inside the object that is read: a GzipReader, a class of the user's.
      MOST_WRAPPERS = 3

      # Of Linux, from linux/netlink.h, linux/sock_diag.h and linux/unix_diag.h.
      AF_NETLINK = 16
      NETLINK_SOCK_DIAG = 4
      SOCK_DIAG_BY_FAMILY = 20
      NLM_F_REQUEST = 1
      UDIAG_SHOW_PEER = 4
      UNIX_DIAG_PEER = 2
      ANY = 0xffffffff
      HEADERS_BYTES = 32

      module_function

      # In a worker process, before anything else.
      #
      # @param sources [Array] objects that are read from
      def let_go(sources)
        ios = sources.flat_map { |source| ios_of(source) }.uniq
        ios.each { |io| close_writing_half(io) }
        tests = ios.filter_map { |io| test_for(io) }
        open_files.each { |number| let_go_if(number, tests) } if tests.any?
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
        [] # an object of the user's that does not answer
      end

      # Of IO.popen("r+"): while a worker has it, the command waits for more. A socket would be shut down for all.
      def close_writing_half(io)
        io.close_write if io.stat.pipe?
      rescue IOError
        nil # it has none, or is closed
      end

      # @return [#call, nil] takes an IO, and says if that is the other end
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

      # One end may see an IPv4 address as such, and the other as an IPv6 address.
      def name_of(address)
        return address.to_sockaddr unless address.ip?

        [address.ipv6_v4mapped? ? address.ipv6_to_ipv4.ip_address : address.ip_address, address.ip_port]
      end

      def socket(number)
        require "socket"
        ::BasicSocket.for_fd(number).tap { |socket| socket.autoclose = false }
      end

      # The inode of the other end of a UNIX socket, or nil if this system does not say.
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
        nil # it has no such module, or does not let this process ask
      ensure
        socket&.close
      end

      # The number in the attribute of that kind.
      def attribute(answer, kind)
        at = HEADERS_BYTES
        while at + 8 <= answer.bytesize
          size, found, number = answer.unpack("@#{at}SSL")
          return number if found == kind

          at += [(size + 3) & ~3, 4].max
        end
      end

      # By their numbers. The IO objects are not all: what a Thread of the parent was closing when it forked is open
      # here, although its IO says that it is closed. And not every system has all numbers in a folder.
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

      # IO#close would write what the parent has not written yet.
      def let_go_if(number, tests)
        io = IO.for_fd(number, "w", autoclose: false)
        return unless tests.any? { |test| other_end?(test, io) }

        io.reopen(File::NULL, "w")
        io.autoclose = false # reopen forgets it
      rescue SystemCallError, ArgumentError
        nil # it is open for reading only, was that of the folder itself, or is reserved by Ruby
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
