# frozen_string_literal: true

# docs/migrating.md has a row for each idiom of the msgpack gem that does something else in Manypack.
require "test_helper"
require "support/program"

class IdiomsTest < Minitest::Test
  include ProgramHelper

  PAGE = File.read(File.expand_path("../../docs/migrating.md", __dir__))

  # The idioms that differ, and the beginning of the row that says so.
  DIFFERENT = {
    "full_pack at the end of to_msgpack, without an io" => "`full_pack`, `reset` and `clear` inside `to_msgpack`",
    "reset in to_msgpack" => "`full_pack`, `reset` and `clear` inside `to_msgpack`",
    "pack 500 levels" => "packing more than 128 levels",
    "unpack an object with to_str" => "`MessagePack.load(object)` with an object that only has `to_str`",
    "a key that is no UTF-8, symbolized" => "`symbolize_keys` and a key that is not valid UTF-8",
    "Packer#write_array_header of -1" => "`write_array_header(-1)`",
    "MessagePack.unpack of a Packer" => "`MessagePack.load(object)` with an object that only has `to_str`",
    "MessagePack.pack with a Packer as io" => "a Packer as the io",
    "Buffer#freeze and write" => "a Buffer that is frozen", "Packer.allocate" => "a Buffer that is frozen",
    "ExtensionValue with bad parts" => "an ExtensionValue whose type is no Integer",
    "freeze makes ExtensionValue frozen" => "`freeze: true` and the payload",
    "a type for a class and its subclass" => "an object whose class has no ext type",
    "Packer#register_type without a block" => "`Packer#register_type` without a block or a method name",
    "Unpacker is not Enumerable" => "`Unpacker`",
    "Unpacker#skip over an unknown ext" => "`skip`",
    "Unpacker reads on after 0xc1" => "reading after 0xc1",
    "Unpacker reads on after an unknown ext" => "reading after UnknownExtTypeError",
    "Unpacker reads on after the end" => "reading after EOFError",
    "Factory#register_type with empty options" => "`register_type(1, Point, {})` or with nil",
    "Factory#register_type with nil as options" => "`register_type(1, Point, {})` or with nil",
    "Factory#register_type beyond its range" => "a type number of more than 64 bits",
    "a recursive unpacker that reads too much" => "a recursive unpacker that reads past its body",
    "an ext handler whose own input is cut" => "a decoding error raised in an ext proc",
    "Pool#load from an io" => "`Factory::Pool#load(io)`",
    "Buffer#read of what is no Integer" => "sizes for a Buffer, and its options",
    "Buffer#read of a negative number" => "sizes for a Buffer, and its options",
    "Buffer.new with wrong options" => "sizes for a Buffer, and its options",
    "Timestamp with bad arguments" => "`Timestamp`", "Timestamp as a key" => "`Timestamp`",
    "Timestamp#dup and frozen?" => "`Timestamp`", "Timestamp is Comparable" => "`Timestamp`",
    "Bootsnap: a cache file that is damaged" => "`MessagePack.load(io)` where bytes follow the object"
  }.freeze

  def test_each_difference_has_a_row
    theirs, ours = outcomes(*gem_paths, "msgpack"), outcomes(LIB, "manypack/drop_in")
    assert_equal theirs.keys, ours.keys
    assert_operator theirs.size, :>, 150
    assert_empty ours.select { |_, outcome| outcome.include?("Manypack::") }
    different = theirs.reject { |name, outcome| outcome == ours[name] }
    assert_empty different.except(*DIFFERENT.keys).to_h { |name, outcome| [name, [outcome, ours[name]]] }
    assert_empty DIFFERENT.keys - different.keys, "these are alike: take their rows out"
    assert_empty(DIFFERENT.values.reject { |row| PAGE.include?("\n| #{row}") })
  end

  private

  def gem_paths
    Gem.loaded_specs.fetch("msgpack").full_require_paths
  end

  def outcomes(*paths, library)
    command = [{ "RUBYOPT" => nil, "RUBYLIB" => nil }, RbConfig.ruby, "-W0", "-E", "UTF-8", *paths.map { |path| "-I#{path}" }, "-r", library]
    out, status = Open3.capture2(*command, File.join(__dir__, "idioms.rb"), binmode: true)
    assert_predicate status, :success?
    Marshal.load(out)
  end
end
