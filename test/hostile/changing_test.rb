# frozen_string_literal: true

# What user code changes while Manypack works on it: an Array, Hash or String whose length was read before.
require_relative "attacks"
require "stringio"

module Hostile
  class ChangingTest < Minitest::Test
    Rational2 = Struct.new(:text)
    Nested = Struct.new(:list)
    Key = Struct.new(:text)
    Row = Struct.new(:list, :map, :rest)
    ROW = Manypack::Record.new(Row, list: [Object], map: {String => Object}, rest: Hash).with(unknown: {into: :rest})
    ANY = Manypack::Record.new(Row, list: Object, map: Object, rest: Object)

    # Packs itself, and calls a block before.
    class Foreign
      def initialize(&block)
        @block = block
      end

      def to_msgpack(packer)
        @block.call
        packer.write(7)
      end
    end

    # An io that changes the String that it gets or has given.
    class ChangingIO
      def initialize(bytes, change)
        @parts = bytes.scan(/.{1,6}/mn).map { |part| +part }
        @change = change
        @given = []
      end

      def read(*)
        @change.call(@given.last) if @given.last
        @given << @parts.shift
        @given.last
      end

      def write(bytes)
        @change.call(bytes) if (@written = (@written || 0) + 1) < 4
        40
      end
    end

    # What is done to an object while it is at work.
    CHANGES = {
      clear: ->(object) { object.clear }, "<<": ->(object) { object.is_a?(Hash) ? object["new"] = 1 : object << "n" },
      replace: ->(object) { object.is_a?(Hash) ? object.transform_values! { "other" * 40 } : object.replace(object.class.new) },
      concat: lambda do |object|
        object.is_a?(String) ? object.concat("long" * 3_000) : Array.new(3_000) { |i| object.is_a?(Hash) ? object.delete(i) : object.concat([i]) }
      end,
      shorten: ->(object) { object.is_a?(Hash) ? object.shift : object.slice!(1..) },
      freeze: ->(object) { object.freeze }, collect: ->(_) { GC.start }
    }.freeze

    def self.changer(object, change)
      Foreign.new { change.call(object) }
    end

    # Each returns packed bytes. The block that they get changes an object.
    PACKING = {
      "an Array by to_msgpack" => ->(change) { [1].tap { |list| list << changer(list, change) << 2 << 3 }.then { |list| Manypack.pack(list) } },
      "a long Array by to_msgpack" => ->(change) { (1..40).to_a.tap { |list| list << changer(list, change) << "x" }.then { |list| Manypack.pack([list]) } },
      "a Hash by a value" => ->(change) { {"a" => 1}.tap { |map| map.update("b" => changer(map, change), "c" => 3) }.then { |map| Manypack.pack(map) } },
      "a Hash by a key" => ->(change) { {"a" => 1}.tap { |map| map.update(changer(map, change) => 2, "c" => 3) }.then { |map| Manypack.pack([map]) } },
      "a Hash of many pairs" => ->(change) { (1..30).to_h { |i| [i, i] }.tap { |map| map[0] = changer(map, change) }.then { |map| Manypack.pack(map) } },
      "an Array around the one that changes it" => ->(change) { [1, [2]].tap { |list| list[1] << changer(list, change) << 3 }.then { |list| Manypack.pack(list) } },
      "an Array in canonical form" => ->(change) { [1].tap { |list| list << changer(list, change) << 2 }.then { |list| Manypack.pack(list, canonical: true) } },
      "an Array in a Packer" => ->(change) { [1].tap { |list| list << changer(list, change) << 2 }.then { |list| Manypack::Packer.new.write(list).to_s } },
      "an Array to an io" => lambda do |change|
        list = [1].tap { |array| array << changer(array, change) << 2 }
        StringIO.new(+"".b).tap { |io| Manypack.pack(list, io) }.string
      end,
      "the String of an ext packer by another" => lambda do |change|
        text = +"ab" * 40
        factory(change, text).dump([Rational2.new(text), Rational2.new(text), text, changer(text, change), text])
      end,
      "an Array in a recursive ext" => ->(change) { [1, 2].then { |list| factory(change, list).dump([Nested.new(list), list, Nested.new(list)]) } },
      "the payload of an ExtensionValue" => ->(change) { (+"ab" * 30).then { |text| Manypack.pack([text, changer(text, change), Manypack::ExtensionValue.new(5, text)]) } },
      "a list of a Record" => ->(change) { [1].tap { |list| list << changer(list, change) << 2 }.then { |list| ROW.dump(Row.new(list, {}, {})) } },
      "a map of a Record" => ->(change) { {"a" => 1}.tap { |map| map.update("b" => changer(map, change), "c" => 1) }.then { |map| ROW.dump(Row.new([], map, {})) } },
      "the unknown pairs of a Record by a member" => ->(change) { {"x" => 1, "y" => 2}.then { |rest| ROW.dump(Row.new([changer(rest, change)], {}, rest)) } },
      "the unknown pairs by one of them" => ->(change) { {"x" => 1}.tap { |rest| rest.update("y" => changer(rest, change), "z" => 1) }.then { |rest| ROW.dump(Row.new([], {}, rest)) } },
      "a member of a Struct" => ->(change) { [1, 2].then { |list| ANY.dump(Row.new(changer(list, change), list, list)) } },
      "a value of a splice" => ->(change) { [1].tap { |list| list << changer(list, change) << 2 }.then { |list| splice("a" => list) } },
      "a value of a splice by a Proc" => ->(change) { [1, 2].then { |list| splice("list" => list, "a" => ->(_) { change.call(list) && 1 }) } },
      "appended values" => ->(change) { [1, 2].tap { |list| list << changer(list, change) << 3 }.then { |list| splice("list" => Manypack::View.appended(*list)) } },
      "inserted values" => ->(change) { [1, 2].tap { |list| list << changer(list, change) << 3 }.then { |list| splice("list[1]" => Manypack::View.inserted(*list), "list[2]" => list) } },
      "a new key" => ->(change) { (+"c").then { |key| splice("b" => Manypack::View.renamed(key), "a" => ->(_) { change.call(key) && 1 }) } },
      "a path" => ->(change) { (+"list[0]").then { |path| splice(["a"] => ->(_) { change.call(path) && 1 }, path => 5) } },
      "the steps of a path" => ->(change) { ["list", 0].then { |path| splice("a" => ->(_) { change.call(path) && 1 }, path => 5) } },
      "the Hash of changes" => ->(change) { {}.tap { |changes| changes.update("a" => ->(_) { change.call(changes) && 1 }, "b" => 2, "c" => 3) }.then { |changes| splice(changes) } }
    }.freeze

    # Each returns what it has read, which no change may affect.
    READING = {
      "unpack" => ->(change) { MESSAGE.dup.then { |bytes| codec(change, bytes).unpack(bytes) } },
      "unpack untrusted" => ->(change) { MESSAGE.dup.then { |bytes| codec(change, bytes).unpack(bytes, untrusted: true) } },
      "a View" => ->(change) { MESSAGE.dup.then { |bytes| codec(change, bytes).view(bytes).to_a.map { |part| part.respond_to?(:value) ? part.value : part } } },
      "a View's pattern" => ->(change) { %w[a b].then { |names| codec(change, names).view(MAP.dup).deconstruct_keys(names).fetch("a") } },
      "a fed String" => ->(change) { MESSAGE.dup.then { |bytes| codec(change, bytes).unpacker.feed(bytes).read } },
      "a long fed String" => ->(change) { (MESSAGE + Manypack.pack("z" * 900)).then { |bytes| codec(change, bytes).unpacker.feed(bytes).each.to_a.first } },
      "Parallel" => ->(change) { MESSAGE.dup.then { |bytes| Manypack::Parallel.map(bytes, ractors: 0, codec: codec(change, bytes)) { |list| change.call(bytes) && list } } },
      "a String that an io keeps" => ->(change) { Manypack::Unpacker.new(ChangingIO.new(MESSAGE, change), allow_unknown_ext: true).each.to_a },
      "a String that an io keeps, for a Buffer" => ->(change) { Manypack::Buffer.new(ChangingIO.new(MESSAGE, change)).read },
      "a String in a Buffer" => ->(change) { ("x" * 1_000).then { |text| (Manypack::Buffer.new << text).then { |buffer| change.call(text) && buffer.to_s } } },
      "what two Functions return" => lambda do |change|
        text = +"abc" * 20
        functions = {f: Manypack::Path::Function.new(:value) { text }, g: Manypack::Path::Function.new(:value) { (change.call(text) && "abc" * 20).to_s } }
        Manypack::Path.new("$[?f(@) == g(@)]", functions: functions).first(Manypack.pack([1]))
      end,
      "the nodes of a Function" => lambda do |change|
        Manypack::Path.new("$[?n(@.*)]", functions: {n: Manypack::Path::Function.new(:nodes, returns: :logical) { |nodes| change.call(nodes) || true } }).count(Manypack.pack([[1, 2], [3]]))
      end,
      "a key that is compared" => ->(change) { (+"zz").then { |key| Manypack.dig(KEYED.dup, key, codec: codec(change, key)).inspect } },
      "keys that are compared" => ->(change) { %w[zz a].map(&:+@).then { |keys| codec(change, keys).view(KEYED.dup).values_at(*keys, 5) } },
      "a default" => lambda do |change|
        kept = [1, 2]
        row = ANY.with(defaults: {list: -> { kept }, map: -> { change.call(kept) && 5 }, rest: nil})
        row.load("\x80").map
      end
    }.freeze

    MESSAGE = "\x94\x01\xD4\x01a\xA3abc\x91\xD4\x01b".b.freeze
    MAP = "\x83\xA1b\xD4\x01x\xA1a\x01\xA1c\x02".b.freeze
    KEYED = "\x83\xD4\x03k\x01\xA1a\x02\x05\x06".b.freeze

    class << self
      def splice(changes)
        Manypack::View.new(Manypack.pack({"a" => 1, "b" => 2, "list" => [1, 2, 3]})).splice(changes).bytes
      end

      def factory(change, object)
        Manypack::Factory.new.tap do |made|
          made.register_type(1, Rational2, packer: ->(it) { change.call(object) && it.text }, unpacker: ->(body) { change.call(object) && body })
          made.register_type(2, Nested, packer: ->(it, packer) { packer.write(it.list).tap { change.call(object) } }, unpacker: ->(body) { body.read }, recursive: true)
          made.register_type(3, Key, packer: ->(it) { it.text }, unpacker: ->(body) { Key.new(change.call(object) && body) })
        end
      end

      def codec(change, object)
        factory(change, object).codec
      end
    end

    def test_packed_bytes_are_a_message_or_an_error_whatever_changes_what_meanwhile
      PACKING.each do |what, front|
        CHANGES.each do |name, change|
          bytes = assert_changed(what, name, change, front) or next
          assert Manypack.unpack(bytes, allow_unknown_ext: true, duplicate_keys: :error), "#{what}: #{name}"
        end
      end
    end

    def test_what_is_read_is_what_the_bytes_said_whatever_changes_them_meanwhile
      READING.each do |what, front|
        expected = front.call(->(_) { true })
        CHANGES.each do |name, change|
          found = assert_changed(what, name, change, front)
          assert_equal expected, found, "#{what}: #{name}" unless found.nil?
        end
      end
    end

    def test_an_io_that_changes_what_it_writes_gets_no_bytes_of_others
      CHANGES.each do |name, change|
        [->(io) { Manypack.pack([1] * 40, io) }, ->(io) { Manypack::Packer.new(io).write([1] * 40).flush }, ->(io) { (Manypack::Buffer.new(io) << "x" * 2_000).flush }].each do |write|
          assert_changed("an io's write", name, change, ->(changing) { write.call(ChangingIO.new("", changing)) })
        end
      end
    end

    # Keys with the same text and hash, but not equal. Ruby compares each with those in front of it whenever a walk over
    # the Hash goes on.
    class Same < String
      class << self
        attr_accessor :meddler
      end

      def self.key = new("k")

      def eql?(_other)
        Same.meddler&.call
        false
      end
    end

    USES = {
      none: ->(_) {}, write: ->(packer) { packer.write(7) }, long: ->(packer) { packer.write(["z" * 9_000]) }, append: ->(packer) { packer.buffer << "z" * 9_000 },
      fail: ->(packer) { packer.write([1, BasicObject.new]) rescue nil }, reset: ->(packer) { packer.reset }, clear: ->(packer) { packer.buffer.clear },
      full_pack: ->(packer) { packer.full_pack }, flush: ->(packer) { packer.flush.write({ 7 => [8] }) }, look: ->(packer) { packer.size }
    }.freeze

    # Yields blocks that pack a Hash with such keys, each with a Packer that is lent to the block meanwhile.
    def each_walk_over_compared_keys(lent)
      keeps = Foreign.new
      keeps.define_singleton_method(:to_msgpack) { |packer| lent.push(packer).last.write(7) }
      [1, 20].each do |others|
        map = { "a" => keeps, Same.key => 1, "c" => 2, Same.key => keeps, Same.key => [3], **(1..others).to_h { |i| ["o#{i}", i] } }
        map[Same.key] = { Same.key => 4, Same.key => keeps }
        yield -> { Manypack.pack(map) }
        yield -> { Manypack.pack([keeps, map]) }
        yield -> { Manypack::Packer.new.tap { |packer| lent << packer }.write(map).to_s }
        yield -> { Manypack::Packer.new(StringIO.new).tap { |packer| lent << packer }.write_hash(map).to_s }
        yield -> { Manypack.pack([Class.new { define_method(:to_msgpack) { |packer| lent.push(packer).last.write(map) } }.new]) }
        yield -> { ANY.dump(Row.new(keeps, map, 1)) }
        yield -> { ROW.dump(Row.new([keeps], map, {})) }
        yield -> { ROW.dump(Row.new([keeps], {}, map)) }
      end
    end

    def test_a_key_that_uses_the_packer_while_its_hash_is_packed_ends_the_write
      lent = []
      each_walk_over_compared_keys(lent) do |walk|
        USES.each do |name, use|
          used = 0
          lent.clear
          expected = walk.call
          lent.clear
          Same.meddler = -> { lent.each { |packer| use.call((used += 1) && packer) } }
          name == :none ? assert_equal(expected, walk.call) : assert_match(/in use/, assert_raises(RuntimeError, name.to_s) { walk.call }.message)
          assert_operator used, :>, 0, name
          Same.meddler = nil
          lent.first.reset rescue nil
        end
      end
    ensure
      Same.meddler = nil
    end

    # The last pair may fill the memory that the Packer has, to the last byte.
    def test_a_hash_whose_keys_may_be_compared_by_user_code_is_packed_whatever_room_is_left
      keys = [Same.key, Class.new(String).new("k"), [1], { 2 => 3 }, Time.at(0)]
      objects = keys.flat_map { |key| [{ key => { 1 => 1.5, 2 => 2.5 } }, [{ key => { 1 => 2, 3 => 1.5 } }, 1, "abc"], { 1 => { key => nil } }] }
      codec = Manypack::Codec.new(timestamp: true)
      objects.each do |object|
        packed = codec.pack(object)
        (200..280).each do |size|
          ahead = "p" * size
          assert_equal codec.pack(ahead) + packed + "\x01", codec.packer.write(ahead).write(object).write(1).to_s, [object, size].inspect
          assert_equal "\x92".b + codec.pack(ahead) + packed, codec.pack([ahead, object])
          assert_equal "\x83\xA4list\x91".b + codec.pack(ahead) + "\xA3map\x80".b + "\xA1u".b + packed, ROW.with(codec: codec).dump(Row.new([ahead], {}, { "u" => object }))
        end
      end
    end

    def test_a_packer_has_nothing_of_a_write_that_a_key_has_ended
      packer = Manypack::Packer.new.write(1)
      hash = { Same.key => 1, Same.key => "x" * 9_000 }
      { raise: [1], write: [1, 2], look: [1] }.each do |way, objects|
        Same.meddler = { raise: -> { raise IOError }, write: -> { packer.write(2) }, look: -> { packer.size } }[way]
        assert_raises(IOError, RuntimeError) { packer.write(hash) }
        assert_equal objects, Manypack::Unpacker.new.feed(packer.to_s).each.to_a
        packer.reset
        packer.write(1)
      end
    ensure
      Same.meddler = nil
    end

    def test_of_two_fibers_that_stop_where_keys_are_compared_the_first_cannot_go_on
      packer = Manypack::Packer.new
      hash = { Same.key => 1, Same.key => 2, Same.key => 3 }
      Same.meddler = -> { Fiber.yield }
      fibers = Array.new(2) { Fiber.new { packer.write(hash) && :written } }
      fibers.each(&:resume)
      assert_match(/in use/, assert_raises(RuntimeError) { fibers[0].resume }.message)
      Same.meddler = nil
      assert_equal :written, fibers[1].resume
      assert_equal Manypack.pack(hash), packer.to_s
    ensure
      Same.meddler = nil
    end

    def test_a_new_key_is_written_as_the_splice_was_given_it
      key = +"c"
      bytes = ChangingTest.splice("b" => Manypack::View.renamed(key), "a" => ->(_) { key.replace("list") && 1 })
      assert_equal %w[a c list], Manypack.unpack(bytes).keys
    end

    def test_a_renamed_value_that_a_proc_removes_leaves_no_key
      changes = {"b" => Manypack::View.renamed("c"), "$.*" => ->(value) { value == 2 ? Manypack::View::REMOVED : value }}
      assert_equal %w[a list], Manypack.unpack(ChangingTest.splice(changes)).keys
    end

    private

    # Returns what the front returns; nil after a RuntimeError. Fails if nothing was changed.
    def assert_changed(what, name, change, front)
      changed = 0
      front.call(->(object) { (changed += 1) && change.call(object) || true })
    rescue RuntimeError
      nil
    ensure
      assert_operator changed, :>, 0, "#{what}: #{name}"
    end
  end
end
