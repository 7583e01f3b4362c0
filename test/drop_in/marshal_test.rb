# frozen_string_literal: true

# During a rolling deploy, and after going back, processes with the msgpack gem and with the drop-in load what the other
# has written by Marshal or YAML.
require "test_helper"
require "support/program"
require "yaml"

class DropInMarshalTest < Minitest::Test
  include ProgramHelper

  WRITES = <<~'RUBY'
    errors = { "\xC1" => {}, "\x91\x01\x02" => {}, "\xD4\x05a" => {}, "\x92" => {}, "\x91" * 200 => {} }.keys.map { |bytes| MessagePack.unpack(bytes.b) rescue $! }
    errors << (MessagePack::Unpacker.new.feed("\x01").read_array_header rescue $!) << (MessagePack.pack(2**70) rescue $!) << (MessagePack::Packer.new.write_string(1) rescue $!)
    objects = [MessagePack::Timestamp.new(5, 7), MessagePack::ExtensionValue.new(5, "ab"), *errors]
    $stdout.binmode.write(Marshal.dump([Marshal.dump(objects), YAML.dump(objects)]))
  RUBY

  READS = <<~'RUBY'
    marshal, yaml = Marshal.load($stdin.binmode.read)
    texts = [Marshal.load(marshal), YAML.unsafe_load(yaml)].map do |stamp, ext, *errors|
      errors.each { |error| error.message.empty? and raise }
      [stamp == MessagePack::Timestamp.new(5, 7), stamp.class, stamp.to_msgpack_ext, ext == MessagePack::ExtensionValue.new(5, "ab"), ext.class, *errors.map(&:class)].inspect
    end
    raise texts.inspect unless texts.uniq.size == 1
    print texts.first
  RUBY

  LIBRARIES = {
    "the msgpack gem" => [Gem.loaded_specs.fetch("msgpack").full_require_paths, "msgpack"],
    "the drop-in" => [[LIB], "manypack/drop_in"]
  }.freeze

  LIBRARIES.each_key do |writer|
    LIBRARIES.each_key do |reader|
      define_method("test_#{reader}_loads_what_#{writer}_wrote".tr(" ", "_")) do
        assert_equal <<~TEXT.lines.map(&:chomp).join(" "), ruby(reader, READS, ruby(writer, WRITES))
          [true, MessagePack::Timestamp, "\\x00\\x00\\x00\\x1C\\x00\\x00\\x00\\x05", true, MessagePack::ExtensionValue,
          MessagePack::MalformedFormatError, MessagePack::MalformedFormatError, MessagePack::UnknownExtTypeError, EOFError, MessagePack::StackError,
          MessagePack::UnexpectedTypeError, RangeError, TypeError]
        TEXT
      end
    end
  end

  # What Manypack itself wrote before it was used as the drop-in.
  def test_the_drop_in_loads_what_manypack_wrote
    written = Marshal.dump([Marshal.dump(Manypack::Timestamp.new(5, 7)), Marshal.dump(Manypack::ExtensionValue.new(5, "ab"))])
    assert_equal "MessagePack::Timestamp 5 7 MessagePack::ExtensionValue", ruby("the drop-in", <<~'RUBY', written)
      stamp, ext = Marshal.load($stdin.binmode.read).map { |bytes| Marshal.load(bytes) }
      print [stamp.class, stamp.sec, stamp.nsec, ext.class].join(" ")
    RUBY
  end

  private

  def ruby(library, program, input = "")
    paths, feature = LIBRARIES.fetch(library)
    command = [{ "RUBYOPT" => nil, "RUBYLIB" => nil }, RbConfig.ruby, "-W0", *paths.map { |path| "-I#{path}" }, "-r", feature, "-r", "yaml", "-e", program]
    out, status = Open3.capture2(*command, stdin_data: input, binmode: true)
    assert_predicate status, :success?
    out
  end
end
