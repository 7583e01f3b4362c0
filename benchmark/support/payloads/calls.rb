# frozen_string_literal: true

# The ways in which a program makes one small call after another: payloads of the benchmark's group "calls".

require "stringio"
require "tempfile"

module Payloads
  # The messages are so short that the price of a call is all that counts.
  module Calls
    # One way. make gets a library, Manypack or MessagePack, and a message; it returns a Proc that goes through the
    # message so many times.
    Way = Struct.new(:times, :make)

    MANY = 50
    MESSAGES = { "1" => 1, "a str of 40" => "abcdefghij" * 4,
                 "three keys" => { "id" => 1_000, "name" => "abc", "ok" => true } }.freeze

    # A way in which an Unpacker gets many messages at once.
    def self.fed(times = MANY)
      Way.new(times, lambda do |library, message|
        bytes = library.pack(message) * times
        unpacker = library::Unpacker.new
        -> { yield unpacker, bytes }
      end)
    end

    # A way in which a Packer is used again and again.
    def self.packing(times = 1, io: -> {})
      Way.new(times, lambda do |library, message|
        packer = library::Packer.new(io.call)
        -> { yield packer, message }
      end)
    end

    # A way that needs a library and packed bytes.
    def self.unpacking(times = 1)
      Way.new(times, lambda do |library, message|
        bytes = library.pack(message) * times
        -> { yield library, bytes }
      end)
    end

    # A way that needs the pool of a Factory.
    def self.pooled
      Way.new(1, lambda do |library, message|
        pool = library::Factory.new.freeze.pool(1)
        bytes = library.pack(message)
        -> { yield pool, message, bytes }
      end)
    end

    # A file with so many messages; the block returns what is to be done, for a library and that file. The file is
    # deleted with the Proc that reads it.
    def self.from_file(times)
      Way.new(times, lambda do |library, message|
        file = Tempfile.new("messages", binmode: true)
        file.write(library.pack(message) * times)
        file.flush
        yield library, file
      end)
    end

    WAYS = {
      "skip" => fed { |unpacker, bytes| unpacker.feed(bytes) && MANY.times { unpacker.skip } },
      "read" => fed { |unpacker, bytes| unpacker.feed(bytes) && Array.new(MANY) { unpacker.read } },
      "feed and read" => fed(1) { |unpacker, bytes| unpacker.feed(bytes).read },
      "feed_each" => fed { |unpacker, bytes| unpacker.feed_each(bytes) { |object| object } },
      "headers read" => Way.new(1, lambda do |library, message|
        bytes = library.pack([message, nil])
        unpacker = library::Unpacker.new
        -> { [unpacker.feed(bytes).read_array_header, unpacker.read, unpacker.skip_nil] }
      end),
      "load of an io" => unpacking { |library, bytes| library.load(StringIO.new(bytes)) },
      "each of a StringIO" =>
        unpacking(MANY) { |library, bytes| library::Unpacker.new(StringIO.new(bytes)).each { |object| object } },
      "each of a File" => from_file(MANY) do |library, file|
        -> { File.open(file.path, "rb") { |open| library::Unpacker.new(open).each { |object| object } } }
      end,
      "read of a rewound File" => from_file(1) do |library, file|
        open = File.open(file.path, "rb")
        unpacker = library::Unpacker.new(open)
        -> { file && open.rewind && unpacker.read }
      end,
      "Unpacker.new, feed, read" => unpacking { |library, bytes| library::Unpacker.new.feed(bytes).read },
      "pool.unpacker" => pooled { |pool, _, bytes| pool.unpacker { |unpacker| unpacker.feed(bytes).read } },
      "pool.packer" => pooled { |pool, message, _| pool.packer { |packer| packer.write(message).to_s } },
      "write" => packing(MANY) { |packer, message| MANY.times { packer.write(message) } && packer.reset },
      "write and full_pack" => packing { |packer, message| packer.write(message).full_pack },
      "write and flush" => packing(io: -> { File.open(File::NULL, "wb") }) do |packer, message|
        packer.write(message).flush && nil
      end,
      "write and write_to" => packing { |packer, message| packer.write(message).write_to(StringIO.new(String.new)) },
      "headers written" => packing do |packer, message|
        packer.write_array_header(2).write(message).write_map_header(1).write_nil.write_int(1).full_pack
      end
    }.freeze
  end
end
