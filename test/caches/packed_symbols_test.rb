# frozen_string_literal: true

# Symbols are packed as their names, whatever the cache of their Ractor has.
require "test_helper"
require "support/program"

class SymbolCacheTest < Minitest::Test
  include CorePart
  include Messages

  LONGEST = 31 # that are kept
  MOST = 512   # the same

  # Symbols that are never collected, as those of a program are.
  def symbols(names)
    eval(names.map { |name| ":#{name.inspect}" }.join(",").prepend("[").concat("]"))
  end

  def test_a_symbol_of_any_length_is_packed_as_its_name
    names = Array.new(LONGEST + 4) { |size| "s" * size } + ["é" * 15, "é" * 16, "日本語", "a\0b", "\0" * 9, "s" * 300]
    2.times { assert_equal pack(names), exercise { pack(symbols(names)) } }
    rows = [names.to_h { |name| [name, name] }] * 3
    symbolic = [symbols(names).to_h { |symbol| [symbol, symbol] }] * 3
    assert_equal pack(rows), exercise { pack(symbolic) }
    assert_equal pack(rows, compatibility_mode: true), pack(symbolic, compatibility_mode: true)
    assert_equal pack(rows), Manypack::Packer.new.write(symbolic).to_s
  end

  def test_more_symbols_than_it_holds
    names = Array.new(4 * MOST) { |i| "symbol #{i}" }
    symbols = symbols(names)
    packed = names.map { |name| pack(name) }
    3.times { assert_equal packed, symbols.map { |symbol| pack(symbol) } }
    [1, 2, 3, 4, 8, 16, 32].each do |step|
      some = (0...names.size).step(step)
      assert_equal pack(some.map { |i| names[i] } * 2), pack(some.map { |i| symbols[i] } * 2)
    end
  end

  def test_symbols_that_are_collected_leave_their_places_to_others
    5.times do |round|
      names = Array.new(2_000) { |i| "symbol #{i} of round #{round}" }
      assert_equal pack(names), pack(names.map(&:to_sym))
      assert_equal names, names.map { |name| name.to_sym.to_msgpack_ext }
      GC.start
    end
  end

  # Those of a program that is written in that encoding, and those that were made by to_sym before or after.
  def test_names_in_other_encodings_are_packed_as_strings_in_them_are
    [["BINARY", "\xFF\xFE"], ["EUC-JP", "\xC6\xFC"], ["ISO-8859-1", "\xE9"], ["EUC-JP", "ascii"]].each do |encoding, bytes|
      name = bytes.dup.force_encoding(encoding)
      literal = eval("# encoding: #{encoding}\n:".b.concat(bytes.b).force_encoding(encoding))
      [literal, name.to_sym, (name * 2).to_sym, (name * 200).to_sym].each do |symbol|
        2.times do
          assert_equal pack(symbol.name), exercise { pack(symbol) }
          assert_equal pack({ symbol.name => [symbol.name] }), exercise { pack({ symbol => [symbol] }) }
          assert_equal pack([symbol.name] * 2), Manypack::Packer.new.write_array_header(2).write_symbol(symbol).write(symbol).to_s
          assert_equal pack(symbol.name, compatibility_mode: true), pack(symbol, compatibility_mode: true)
        end
        assert_equal [symbol.name, symbol.name.encoding], [symbol.to_msgpack_ext, symbol.to_msgpack_ext.encoding]
      end
    end
  end

  def test_a_name_that_is_no_text_is_an_error_each_time_and_leaves_nothing
    symbol = eval("# encoding: Windows-1252\n:\x81".b.force_encoding("Windows-1252"))
    packer = Manypack::Packer.new
    2.times do
      assert_raises(Encoding::UndefinedConversionError) { pack([symbol]) }
      assert_raises(Encoding::UndefinedConversionError) { packer.write([1, symbol]) }
    end
    assert_equal "01", hex(packer.write(1).to_s)
  end

  def test_a_registered_type_goes_first
    factory = Manypack::Factory.new
    factory.register_type(1, Symbol)
    2.times do
      assert_equal "a1 78", hex(pack(:x))
      assert_equal "d4 01 78", hex(factory.dump(:x))
      assert_equal "81 d4 01 78 d4 01 79", hex(factory.dump({ x: :y }))
    end
  end

  def test_what_a_symbol_gives_to_an_ext_type
    ["x", "é" * 15, "s" * 300].each do |name|
      symbols([name]).push(name.to_sym).each do |symbol|
        2.times { assert_equal [name, symbol.name.encoding], [symbol.to_msgpack_ext, symbol.to_msgpack_ext.encoding] }
        assert_predicate symbol.to_msgpack_ext, :frozen?
      end
    end
  end
end

class SymbolCacheLifeTest < Minitest::Test
  include ProgramHelper

  def test_each_ractor_has_its_own
    assert_program <<~'RUBY', "8"
      symbols = eval("[" + Array.new(700) { |i| ":s#{i}" }.join(", ") + "]").freeze
      packed = Manypack.pack(symbols.map(&:name)).freeze
      ractors = Array.new(8) do |i|
        Ractor.new(symbols, packed, i) do |all, expected, n|
          20.times.all? do
            GC.start if n.zero?
            Manypack.pack(all) == expected && Manypack.pack(all.rotate(n)) == Manypack.pack(all.rotate(n).map(&:name))
          end
        end
      end
      print ractors.map { |ractor| value(ractor) }.count(true)
    RUBY
  end

  def test_threads_of_one_ractor_have_one_together
    assert_program <<~'RUBY', "true"
      foreign = Class.new { def to_msgpack(packer) = packer.write(Thread.pass || :foreign) }.new
      lists = Array.new(4) { |t| eval("[" + Array.new(300) { |i| ":t#{t}_#{i}" }.join(", ") + "]").flat_map { |one| [one, foreign] } }
      expected = lists.map { |list| Manypack.pack(list.map { |one| one.equal?(foreign) ? "foreign" : one.name }) }
      packed = lists.map { |list| Thread.new { Array.new(20) { Manypack.pack(list) }.uniq } }.map(&:value)
      print packed == expected.map { |one| [one] }
    RUBY
  end
end
