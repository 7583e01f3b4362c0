# frozen_string_literal: true

# Manypack and the msgpack gem in one process: objects of the other gem are packed once, or refused.
require "test_helper"
require "support/program"

class BothGemsTest < Minitest::Test
  include ProgramHelper

  # Loads both, in either order, and packs objects whose to_msgpack leads to the other gem.
  PROGRAM = <<~'RUBY'
    require "stringio"
    Foreign = Struct.new(:write) { def to_msgpack(packer = nil) = write.call(packer) }
    long = "x" * 2_000_000
    values = [nil, true, false, 5, 1.5, "a", "b".b, :s, [1, [2]], {"a" => 1}, 1 << 40, long, long.b, [long]]
    values.each do |value|
      foreign = Foreign.new(->(packer) { value.to_msgpack(packer) })
      expected = MessagePack.pack([0, value])
      [Manypack.pack([0, foreign]), Manypack::Packer.new.write([0, foreign]).to_s, Manypack.pack([0, foreign], canonical: true)].each_with_index do |bytes, i|
        expected = Manypack.canonicalize(expected) if i == 2
        raise "#{value.inspect[0, 20]}: #{bytes[0, 20].inspect}" unless bytes == expected
      end
    end

    extension = MessagePack::ExtensionValue.new(7, "ab")
    raise "ext" unless Manypack.pack([extension]) == MessagePack.pack([extension])

    class MessagePack::Mine
      def to_msgpack(packer) = packer.write("\x01".b)
    end
    raise "a bin" unless Manypack.pack(MessagePack::Mine.new) == "\xC4\x01\x01".b

    [-> { Manypack.pack(MessagePack::Timestamp.new(1, 2)) }, -> { Manypack.pack(1, MessagePack::Packer.new) },
     -> { Manypack.pack(1, Manypack::Packer.new) }, -> { Manypack::Packer.new(Manypack::Packer.new) },
     -> { MessagePack.pack([Foreign.new(->(packer) { Manypack.pack(1, packer) })]) }].each_with_index do |refused, i|
      refused.call
      raise "#{i} is not refused"
    rescue NoMethodError, TypeError
      next
    end
    puts "fine"
  RUBY

  [%w[msgpack manypack], %w[manypack msgpack]].each do |gems|
    define_method("test_#{gems.join("_then_")}") do
      program = gems.map { |gem| "require #{gem.dump}\n" }.join + PROGRAM
      output = IO.popen([RbConfig.ruby, "-I", File.expand_path("../../lib", __dir__), "-e", program], err: %i[child out], &:read)
      assert_equal "fine\n", output
    end
  end
end
