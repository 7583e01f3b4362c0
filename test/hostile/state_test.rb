# frozen_string_literal: true

# State and re-entrancy: what user code does in the middle of our work, and what an object is after an error.
require_relative "attacks"
require "stringio"

module Hostile
  class StateTest < Minitest::Test
    include Attacks

    # What a user's code raises.
    class Boom < StandardError; end

    # By message, what an Unpacker raises for it; behind it comes 6. After :lost it refuses all until reset.
    ERRORS = {
      "d4 05 61" => [Manypack::UnknownExtTypeError, :next], "92 d4 05 61 02" => [Manypack::UnknownExtTypeError, :next],
      "c8 00 03 05 61 61 61" => [Manypack::UnknownExtTypeError, :next], "92 d4 01 61 02" => [Boom, :next], "81 d4 02 61 01" => [Boom, :next],
      "92 d5 ff 00 00 01" => [Manypack::MalformedFormatError, :next], "92 de 00 11 #{"cb 7f f8 00 00 00 00 00 00 c0" * 17} 01" => [Manypack::LimitError, :next],
      "c1" => [Manypack::MalformedFormatError, :lost], "92 01 c1" => [Manypack::MalformedFormatError, :lost],
      "91" * 200 => [Manypack::StackError, :lost], "81" * 10 => [Manypack::StackError, :lost],
      "dd ff ff ff ff" => [Manypack::LimitError, :lost], "92 01 db ff ff ff ff" => [Manypack::LimitError, :lost]
    }.freeze

    def test_15_after_every_kind_of_error_the_decoder_is_clean_or_refuses_until_reset_and_an_unknown_ext_consumes_its_body
      ERRORS.each do |message, (error_class, state)|
        %i[read full_unpack each].each do |method|
          unpacker = failing_unpacker.feed(bytes("#{message} #{"06" if method != :full_unpack}"))
          taker = ->(_) { flunk } if method == :each # the others refuse a block
          first = assert_raises(error_class, message) { unpacker.public_send(method, &taker) }
          if state == :lost
            %i[read skip unpack read_array_header skip_nil].each do |again|
              assert_equal first.message, assert_raises(error_class) { unpacker.feed("\x01").public_send(again) }.message
            end
            unpacker.reset
          elsif method != :full_unpack
            assert_equal 6, unpacker.read, message
          end
          unpacker.reset
          assert_equal [1, 2], unpacker.feed("\x92\x01\x02").read
        end
      end
      unpacker = Manypack::Unpacker.new.feed("\x92\x01")
      assert_raises(EOFError) { unpacker.read }
      assert_equal [1, 2], unpacker.feed("\x02").read
    end

    # What user code may try on the Unpacker that is at work.
    CALLS = {
      feed: ->(unpacker) { unpacker.feed("\x01") }, read: ->(unpacker) { unpacker.read }, skip: ->(unpacker) { unpacker.skip },
      reset: ->(unpacker) { unpacker.reset }, each: ->(unpacker) { unpacker.each { nil } }, clear: ->(unpacker) { unpacker.buffer.clear },
      close: ->(unpacker) { unpacker.buffer.close }, write: ->(unpacker) { unpacker.buffer << ("x" * 100_000) }, raise: ->(_) { raise Boom },
      throw: ->(_) { throw :out, :thrown }, break: ->(unpacker) { unpacker.each { break :broken } }, header: ->(unpacker) { unpacker.read_array_header },
      read_all: ->(unpacker) { unpacker.buffer.read_all(1) }, register: ->(unpacker) { unpacker.register_type(9) { nil } },
      collect: ->(_) { GC.start && GC.compact }
    }.freeze

    # Where its code runs: each has an Unpacker read [1, x, 2] and 6, and calls back in the middle.
    SOURCES = {
      "the handler of an ext" => ->(call) { unpacker_with(1) { |body, itself| call.call(itself) && body }.feed(MESSAGE) },
      "the handler of a recursive ext" => ->(call) { recursive_unpacker { |body, itself| call.call(itself) && body.read }.feed(RECURSIVE) },
      "the body of a recursive ext" => ->(call) { recursive_unpacker { |body, _| call.call(body) && body.read }.feed(RECURSIVE) },
      "readpartial of the io" => ->(call) { io_unpacker(call, :readpartial) }, "read of the io" => ->(call) { io_unpacker(call, :read) },
      "#to_str of what is fed" => lambda do |call|
        Manypack::Unpacker.new.feed("\x93\x01").tap { |itself| itself.feed(Fed.new { call.call(itself) }).feed("\x02\x06") }
      end,
      "#hash of a key" => ->(call) { unpacker_with(1) { |_, itself| Key.new { call.call(itself) } }.feed(MAP) },
      "#eql? of a key" => ->(call) { unpacker_with(1) { |_, itself| Key.new(:eql?) { call.call(itself) } }.feed(MAP) },
      "a finalizer" => ->(call) { unpacker_with(1) { |body, itself| Garbage.make { catch(:out) { HostileMessages.outcome { call.call(itself) } } } && GC.start && body }.feed(MESSAGE) },
      "another Fiber" => ->(call) { unpacker_with(1) { |body, itself| Fiber.new { call.call(itself) }.resume && body }.feed(MESSAGE) },
      "another Thread" => lambda do |call|
        unpacker_with(1) { |body, itself| Thread.new { (Thread.current.report_on_exception = false) || call.call(itself) }.value && body }.feed(MESSAGE)
      end
    }.freeze

    MESSAGE = "\x93\x01\xD4\x01a\x02\x06".b.freeze
    RECURSIVE = "\x93\x01\xC7\x04\x01\x93\x01\x02\x03\x02\x06".b.freeze
    MAP = "\x93\x01\x83\xD4\x01a\x01\xD4\x01b\x02\xD4\x01b\x03\x02\x06".b.freeze

    SOURCES.each_key do |source|
      define_method("test_16_feed_read_skip_reset_each_clear_close_raise_throw_and_break_from_#{source.tr(" #?", "_")}_give_a_result_or_an_error") do
        ran = 0
        CALLS.each do |name, call|
          counting = ->(itself) { (ran += 1) && call.call(itself) }
          outcomes = Array.new(2) { defined_outcome(source, counting) }
          assert_equal outcomes.first.map(&:class), outcomes.last.map(&:class), name
        end
        assert_operator ran, :>=, CALLS.size
      end
    end

    def test_16_the_same_from_to_msgpack_and_the_handlers_of_a_packer
      calls = { reset: ->(packer) { packer.reset }, full_pack: ->(packer) { packer.full_pack }, clear: ->(packer) { packer.buffer.clear },
                read: ->(packer) { packer.buffer.read }, close: ->(packer) { packer.buffer.close }, to_s: ->(packer) { packer.to_s },
                raise: ->(_) { raise Boom }, throw: ->(_) { throw :out, :thrown }, flush: ->(packer) { packer.flush } }
      calls.each_value do |call|
        packer = Manypack::Packer.new
        packer.register_type(1, Range) { call.call(packer) && "r" }
        [Foreign.new { |lent| [call.call(lent), lent.write_nil] }, 1..2].each do |object|
          result = catch(:out) { outcome { packer.write([1, object, 2]).to_s } }
          assert_includes [[1, nil, 2], nil], unpack(result, allow_unknown_ext: true).tap { |list| list[1] = nil } if result.is_a?(String)
          packer.reset
          assert_equal "\x91\x01".b, packer.write([1]).full_pack
        end
      end
    end

    # In a process of its own, because beside other Ractors ObjectSpace does not find such objects.
    def test_16_the_same_from_what_object_space_finds
      assert_equal "ok", run_ruby(<<~'RUBY')
        CALLS = [->(u) { u.feed("\x01") }, ->(u) { u.read }, ->(u) { u.skip }, ->(u) { u.reset }, ->(u) { u.each { break } }, ->(u) { u.buffer.clear }]
        CALLS.each do |call|
          seen = []
          unpacker = Manypack::Unpacker.new
          unpacker.register_type(1) do |body|
            [Manypack::Unpacker, Manypack::Buffer].each { |klass| ObjectSpace.each_object(klass) { |found| seen << klass; outcome { call.call(found) } } }
            body
          end
          unpacker.buffer
          abort "wrong" unless unpacker.feed("\x93\x01\xD4\x01a\x02\x06".b).read == [1, "a", 2] && unpacker.read == 6
          abort "nothing found" unless seen.uniq.size == 2
        end
        print "ok"
      RUBY
    end

    def test_16_object_space_finds_nothing_of_a_result_that_is_not_done_nor_of_what_compares_keys
      assert_equal "ok", run_ruby(<<~'RUBY')
        class Packed; end
        class Same
          def hash = 7

          def eql?(_)
            ObjectSpace.each_object(Array) { |a| a.map! { 1 << 40 } if a.size > 4 && a.all?(Integer) && !a.frozen? }
            true
          end
        end
        factory = Manypack::Factory.new
        factory.register_type(1, Packed, unpacker: nil, packer: lambda { |_|
          ObjectSpace.each_object(String) { |s| s.clear if !s.frozen? && s.encoding == Encoding::BINARY && s.empty? }
          GC.start
          Array.new(50) { "z" * 16_384 } && "x"
        })
        factory.register_type(2, Same, packer: nil, unpacker: ->(_) { Same.new })
        bytes = factory.dump(["a" * 6_000, Packed.new, "b" * 3_000])
        abort "another result" unless bytes == "\x93\xDA\x17\x70".b + "a" * 6_000 + "\xD4\x01x\xDA\x0B\xB8".b + "b" * 3_000
        abort "another map" unless factory.load("\xDE\0\x40".b + "\xC7\0\x02\xC0".b * 64).size == 1
        print "ok"
      RUBY
    end

    def test_16_an_unpacker_that_moves_to_a_ractor_in_the_middle_is_in_use_or_does_not_move
      mover = lambda do |itself|
        ractor = Ractor.new { Ractor.receive.class }
        ractor.send(itself, move: true)
      ensure
        ractor&.send(nil) rescue nil # it may have ended # rubocop:disable Style/RescueModifier
      end
      unpacker = StateTest.unpacker_with(1) { |body, itself| outcome { mover.call(itself) } && body }
      result = outcome { unpacker.feed(MESSAGE).read }
      assert_includes [[1, "a", 2], Ractor::MovedError, TypeError, RuntimeError], result
      assert_equal [1], Manypack.unpack("\x91\x01")
    end

    def test_17_a_caller_that_changes_the_input_during_decode_or_after_feed_changes_no_result
      changes = [->(input) { input.clear }, ->(input) { input.replace("\xC1" * 10) }, ->(input) { input << ("x" * 1_000_000) },
                 ->(input) { input.force_encoding("UTF-16LE") }, ->(input) { input.setbyte(input.bytesize - 1, 0x79) }, ->(input) { input.encode!("UTF-8", "BINARY", undef: :replace) }]
      ["t", "t" * 2_000, "t" * 200_000].product(changes).each do |tail, change|
        input = "\x92\xD4\x01a".b + Manypack.pack(tail)
        factory = Manypack::Factory.new
        factory.register_type(1, Boom, packer: nil, unpacker: ->(body) { change.call(input) && body })
        assert_equal ["a", tail], factory.load(input)
        %i[feed feed_reference].each do |feed|
          given = Manypack.pack([1, tail])
          unpacker = Manypack::Unpacker.new.public_send(feed, given)
          feed == :feed ? change.call(given) : given.freeze
          assert_equal [1, tail], unpacker.read
        end
      end
    end

    # By what it does, what an io answers when it is asked for some bytes of [1, 2].
    IOS = {
      "too much" => [["\x92\x01\x02" * 50_000], [[1, 2], [1, 2]]], "single bytes" => [["\x92", "\x01", "\x02"], [[1, 2], EOFError]],
      "nothing, and then more" => [["\x92", "", "\x01", "\x02"], [EOFError]], "nil" => [["\x92", nil], [EOFError]],
      "no String" => [["\x92", 5], [TypeError]], "an Array" => [[["\x92"]], [TypeError]], "a frozen String" => [["\x92\x01\x02".b.freeze], [[1, 2]]],
      "UTF-16" => [["\x92\x01\x02\xC0".b.force_encoding("UTF-16LE")], [[1, 2], nil]], "invalid UTF-8" => [["\x92\x01\x02"], [[1, 2]]]
    }.freeze

    def test_17_an_io_that_returns_too_much_too_little_nil_no_string_a_frozen_one_or_another_encoding_gives_a_result_or_an_error
      IOS.each do |name, (answers, expected)|
        %i[readpartial read].each do |method|
          io = AnsweringIo.with(method, answers.dup)
          unpacker = Manypack::Unpacker.new(io)
          actual = expected.map { outcome { unpacker.read } }
          expected.zip(actual).each do |wanted, got|
            wanted.is_a?(Class) && got.is_a?(Class) ? assert_operator(got, :<=, wanted, name) : assert(wanted == got || got.is_a?(Class), "#{name} by #{method}: #{got.inspect}")
          end
        end
      end
    end

    def test_18_arrays_hashes_and_strings_that_a_callback_changes_while_they_are_packed_raise_or_are_counted_right
      changes = { "shrunk" => ->(list) { list.clear }, "shortened" => ->(list) { list.pop }, "longer" => ->(list) { 1_000.times { list << 1 } }, "replaced" => ->(list) { list.replace([1]) } }
      changes.each_value do |change|
        list = [1, Foreign.new { |packer| change.call(list) && packer.write_nil }, 3, "s"]
        assert_refused_while_packed(/Array was modified during packing/) { Manypack.pack(list) }
        packer = Manypack::Packer.new.write("kept")
        list.replace([1, Foreign.new { |lent| change.call(list) && lent.write_nil }, 3])
        assert_refused_while_packed(/Array was modified during packing/) { packer.write(list) }
        assert_equal "kept", Manypack.unpack(packer.to_s)
      end
      { "fewer" => ->(map) { map.delete(:b) }, "none" => ->(map) { map.clear }, "more" => ->(map) { map[:c] = 1 } }.each_value do |change|
        map = { a: Foreign.new { |packer| change.call(map) && packer.write_nil }, b: 2 }
        assert_refused_while_packed(/Hash was modified during packing/, /add a new key into hash during iteration/) { Manypack.pack(map) }
      end
      text = "t" * 100_000
      packed = Manypack.pack([Foreign.new { |packer| text.clear && packer.write_nil }, text])
      assert_equal [nil, ""], Manypack.unpack(packed)
    end

    def test_19_attacks_have_the_same_outcome_with_a_collection_or_compaction_at_every_allocation
      assert_empty run_ruby(<<~'RUBY')
        ATTACKS = ["\xDF\xFF\xFF\xFF\xFF".b * 5, "\x91".b * 130, "\x81".b * 7, map_of(["\x91".b + NAN] * 17), array_of("\x80", 5), "\x92\xD4\x05a\x01".b, "\x81\xA3key\xDBabcd".b, "\x91\xC1".b, Manypack.pack([2**64 - 1, 1.1e300, "s", { "k" => ["v" * 50] }])]
        decode = lambda do |message|
          unpacker = Manypack::Unpacker.new.feed(message.byteslice(0, message.bytesize / 2))
          [-> { Manypack.unpack(message, allow_unknown_ext: true) }, -> { unpacker.read }, -> { unpacker.feed(message.byteslice(message.bytesize / 2..)).read }]
            .map { |work| outcome(&work) }
        end
        calm = ATTACKS.map(&decode).inspect
        GC.stress = true
        stressed = ATTACKS.map(&decode)
        GC.stress = false
        GC.auto_compact = true
        compacted = Array.new(3) { ATTACKS.map(&decode).tap { GC.compact } }
        puts "other outcomes under stress" unless stressed.inspect == calm
        puts "other outcomes when objects move" unless compacted.map(&:inspect).uniq == [calm]
      RUBY
      assert_includes File.read(File.join(ROOT, ".ci/in_a_copy.sh")), "rake test:gc"
      assert_includes File.read(File.join(ROOT, ".ci/other_rubies.sh")), "rake test:compact"
    end

    def test_20_threads_on_one_object_give_errors_or_results_and_one_codec_serves_ractors_of_which_one_dies
      unpacker = Manypack::Unpacker.new
      unpacker.register_type(1) { |body| Thread.pass || body }
      outcomes = Array.new(4) { Thread.new { Array.new(200) { outcome { unpacker.feed("\x92\x01\xD4\x01a".b).read } } } }.flat_map(&:value)
      assert_empty outcomes.uniq - [[1, "a"], RuntimeError, EOFError, Manypack::TruncatedError]
      unpacker.reset
      assert_equal 5, unpacker.feed("\x05").read
      assert_empty run_ruby(<<~'RUBY')
        Warning[:experimental] = false
        CODEC = Manypack::Codec.new(symbolize_keys: true)
        MESSAGE = Manypack.pack([{ "a" => [1, "two", 3.0] }] * 50).freeze
        class Killer
          def self.from_msgpack_ext(_body) = raise(Exception, "dies")
        end
        value = ->(ractor) { ractor.respond_to?(:value) ? ractor.value : ractor.take }
        ractors = Array.new(4) { Ractor.new { Array.new(200) { CODEC.unpack(CODEC.pack(CODEC.unpack(MESSAGE))) == CODEC.unpack(MESSAGE) }.all? } }
        dying = Array.new(2) do
          Ractor.new do
            Thread.current.report_on_exception = false
            factory = Manypack::Factory.new
            factory.register_type(1, Killer)
            unpacker = factory.unpacker.feed("\x93\x01".b)
            begin
              unpacker.read
            rescue EOFError
              unpacker.feed("\xD4\x01a\x02".b).read
            end
          end
        end
        puts "a Ractor was wrong" unless ractors.all? { |ractor| value.call(ractor) }
        dying.each { |ractor| value.call(ractor) && puts("did not die") rescue nil }
        GC.start
        puts "wrong afterwards" unless CODEC.unpack(MESSAGE).size == 50
      RUBY
    end

    def test_21_options_changed_on_a_reused_object_change_nothing
      options = { symbolize_keys: true, max_depth: 3 }
      unpacker = Manypack::Unpacker.new(options)
      codec = Manypack::Codec.new(options)
      options.merge!(symbolize_keys: false, max_depth: 1, freeze: true)
      unpacker.feed("\x81\xA1a\x91\x90".b)
      assert_equal({ a: [[]] }, unpacker.read)
      assert_equal({ a: [[]] }, codec.unpack("\x81\xA1a\x91\x90".b))
      assert_refused { unpacker.send(:initialize, symbolize_keys: false) }
      unpacker.register_type(1) { |body| unpacker.register_type(2) { :changed } rescue body } # rubocop:disable Style/RescueModifier
      assert_equal ["a"], unpacker.feed("\x91\xD4\x01a".b).read
    end

    # --- what the tests above are made of ---

    # Writes itself by a block.
    class Foreign
      def initialize(&block)
        @block = block
      end

      def to_msgpack(packer)
        @block.call(packer)
      end
    end

    # A key with one hash, whose method runs a block.
    class Key
      def initialize(method = :hash, &block)
        @method = method
        @block = block
      end

      def hash
        @block.call if @method == :hash
        1
      end

      def eql?(_other)
        @block.call if @method == :eql?
        false
      end
    end

    # What is fed by to_str.
    class Fed
      def initialize(&block)
        @block = block
      end

      def to_str
        @block.call
        "\x02"
      end
    end

    # Garbage that runs a block when it is collected; Ruby itself crashes when that throws.
    module Garbage
      def self.make(&block)
        10.times { ObjectSpace.define_finalizer(Object.new, proc { block.call }) }
        true
      end
    end

    # An io that gives what it was given.
    class AnsweringIo
      def self.with(method, answers)
        new.tap { |io| io.define_singleton_method(method) { |*_| answers.shift } }
      end
    end

    class << self
      def unpacker_with(type, &block)
        unpacker = Manypack::Unpacker.new
        unpacker.register_type(type) { |body| block.call(body, unpacker) }
        unpacker
      end

      def recursive_unpacker(&block)
        unpacker = nil
        factory = Manypack::Factory.new
        factory.register_type(1, Boom, packer: nil, unpacker: ->(body) { block.call(body, unpacker) }, recursive: true)
        unpacker = factory.unpacker
      end

      def io_unpacker(call, method)
        unpacker = nil
        pieces = ["\x93\x01", "\x02", "\x02\x06"]
        io = AnsweringIo.new
        io.define_singleton_method(method) { |*_| call.call(unpacker) && pieces.shift }
        unpacker = Manypack::Unpacker.new(io)
      end
    end

    private

    def failing_unpacker
      Manypack::Unpacker.new(timestamp: true, max_array_size: 1_000, max_string_bytes: 1_000).tap do |unpacker|
        unpacker.register_type(1) { raise Boom }
        unpacker.register_type(2) { Key.new { raise Boom } }
      end
    end

    # What an Unpacker gives for two objects while user code calls that in the middle; and then it must be as good as new.
    def defined_outcome(source, call)
      unpacker = nil
      objects = Array.new(3) do
        catch(:out) { outcome { (unpacker ||= StateTest.class_exec(call, &SOURCES.fetch(source))).read } }
      end
      return objects unless unpacker

      outcome { unpacker.reset }
      fresh = outcome { unpacker.feed("\x92\x01\x02").read }
      assert_includes [[1, 2], IOError, RuntimeError], fresh, source
      objects
    end
  end
end
