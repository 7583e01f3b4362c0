# frozen_string_literal: true

# The contracts, as everything else that packs or unpacks keeps them: Unpacker, Packer, Codec, Factory, Pool.
require "test_helper"
%w[values decoding decode_errors options limits packing].each { |name| require_relative "#{name}_contract" }

module Contracts
  # Makes a test class of each contract, a name such as "DecodeErrors", with the pack and unpack of a front.
  def self.kept_by(front, names)
    names.each do |name|
      contract = Object.const_get("#{name}Contract")
      front.const_set("#{name}Test", Class.new(Minitest::Test) { include contract, front::Front })
    end
  end
end

# An Unpacker that is fed the whole message; what is packed is packed by a Packer.
module WholeStream
  module Front
    def pack(obj, **opts)
      Manypack::Packer.new(opts).write(obj).to_s
    end

    def unpack(binary, **opts)
      Manypack::Unpacker.new(opts).feed(binary).full_unpack
    end
  end

  Contracts.kept_by(self, %w[Values Decoding DecodeErrors Options Limits Packing])
end

# An Unpacker that is fed byte by byte, and asked for an object after each of them.
module ByteByByte
  module Front
    # Messages longer than this come in pieces of a few bytes, whose borders are anywhere all the same.
    SINGLE_BYTES = 3_000

    def unpack(binary, **opts)
      unpacker = Manypack::Unpacker.new(opts)
      objects = []
      binary = binary.b
      step = binary.bytesize > SINGLE_BYTES ? 7 : 1
      0.step(binary.bytesize - 1, step) do |at|
        unpacker.feed_each(binary.byteslice(at, step)) { |object| objects << object }
      end
      objects.empty? ? unpacker.full_unpack : objects.first
    end
  end

  Contracts.kept_by(self, %w[Values Decoding DecodeErrors Options Limits])

  class DecodingTest
    # They look for the bytes behind an object, which a stream takes for the next object.
    undef_method :test_every_head_byte_but_0xc1_starts_an_object
    undef_method :test_every_head_byte_takes_as_many_bytes_as_the_specification_says
  end

  class DecodeErrorsTest
    # What follows an object in a stream is the next object.
    undef_method :test_bytes_after_the_object_are_counted

    # Of two objects the second one is no error here.
    def test_a_decoder_works_after_every_kind_of_error
      assert_raises(Manypack::DecodeError) { unpack(bytes("c1")) }
      assert_unpacks({ "a" => [1] }, "81 a1 61 91 01")
    end
  end
end

# The bytes come out of an IO.
module StreamOfAnIo
  require "stringio"

  module Front
    def unpack(binary, **opts)
      Manypack::Unpacker.new(StringIO.new(binary), opts).full_unpack
    end
  end

  Contracts.kept_by(self, %w[Decoding DecodeErrors Options Limits])
end

# A Codec made for each call.
module ByCodec
  module Front
    def pack(obj, **opts)
      Manypack::Codec.new(**opts).pack(obj)
    end

    def unpack(binary, **opts)
      Manypack::Codec.new(**opts).unpack(binary)
    end
  end

  Contracts.kept_by(self, %w[Values Decoding DecodeErrors Options Limits Packing])
end

# A Factory that has ext types, none of which the contracts use.
module ByFactory
  class Registered
    def to_msgpack_ext = ""
    def self.from_msgpack_ext(_body) = new
  end

  FACTORY = Manypack::Factory.new.tap { |factory| factory.register_type(100, Registered) }.freeze

  module Front
    def pack(obj, **opts)
      FACTORY.dump(obj, opts)
    end

    def unpack(binary, **opts)
      FACTORY.load(binary, opts)
    end
  end

  Contracts.kept_by(self, %w[Values Decoding DecodeErrors Options Limits Packing])
end

# A Pool of that Factory.
module ByPool
  module Front
    def pack(obj, **opts)
      ByFactory::FACTORY.pool(1, **opts).dump(obj)
    end

    def unpack(binary, **opts)
      ByFactory::FACTORY.pool(1, **opts).load(binary)
    end
  end

  Contracts.kept_by(self, %w[Values DecodeErrors Options Limits Packing])
end

# The message is the body of a recursive ext, and its unpacker reads it.
module InARecursiveBody
  Wrapped = Struct.new(:content)
  FACTORY = Manypack::Factory.new.tap do |factory|
    factory.register_type(100, Wrapped, packer: ->(wrapped, packer) { packer.write(wrapped.content) },
                                        unpacker: ->(unpacker) { Wrapped.new(unpacker.read) }, recursive: true)
  end.freeze

  module Front
    def unpack(binary, **opts)
      FACTORY.load(Manypack.pack(Manypack::ExtensionValue.new(100, binary)), opts).content
    end
  end

  Contracts.kept_by(self, %w[Values Decoding])

  class DecodingTest
    # What is missing in a body, or too much, is the fault of the unpacker that reads it.
    undef_method :test_every_truncation_point_is_a_truncated_error
    undef_method :test_every_head_byte_but_0xc1_starts_an_object
    undef_method :test_every_head_byte_takes_as_many_bytes_as_the_specification_says
  end
end
