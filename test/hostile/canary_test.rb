# frozen_string_literal: true

# No byte comes out that nobody wrote, or that was somebody else's: where the extension was built with --enable-canaries, memory
# that is new, spare or about to be freed is full of 0xc1, which nothing here has.
require_relative "hostile"

if Manypack.const_defined?(:CANARIES)
  module Hostile
    class CanaryTest < Minitest::Test
      CANARY = "\xC1".b.freeze

      # On both sides of every window, slot, block and chunk.
      SIZES = [0, 1, 7, 8, 9, 16, 17, 31, 32, 255, 256, 257, 1_023, 1_024, 4_080, 4_096, 4_200, 16_384, 17_000, 65_535, 65_536, 300_000, 600_000].freeze
      PIECES = [1, 7, 100, 255, 256, 3_000].freeze

      # Writes a part of itself, and then does what the block says.
      Writer = Struct.new(:size, :last) do
        def to_msgpack(packer)
          packer.write_array_header(2).write("w" * size)
          last.call(packer)
        end
      end

      def test_22_all_that_is_packed_is_what_was_written
        SIZES.each do |size|
          objects = graphs(size)
          objects.each do |object|
            packed = Manypack.pack(object)
            streamed = Manypack::Packer.new(write_reference_threshold: 256).write(object)
            assert_clean packed, io_of { |io| Manypack.pack(object, io) }, streamed.to_s, streamed.to_a.join, io_of { |io| streamed.write_to(io) },
                         io_of { |io| Manypack::Packer.new(io).write(object).flush }
            assert_equal object, Manypack.unpack(packed)
          end
        end
      end

      def test_22_a_result_that_is_shorter_than_was_guessed_has_its_own_bytes_only
        [300_000, 5_000, 70_000, 40_000, 100].each do |size|
          3.times { Manypack.pack(["g" * 300_000]) }
          assert_clean Manypack.pack(["x" * size] * 3), "\x93".b + (Manypack.pack("x" * size) * 3)
        end
      end

      def test_22_after_errors_and_around_callbacks_that_raise_or_write
        SIZES.each do |size|
          packer = Manypack::Packer.new.write("before")
          whole = Writer.new(size, ->(to) { to.write("end") })
          failing = [Writer.new(size, ->(_) { raise IOError }), ["x" * size, Object.new], ["x" * size, 1 << 64], ["x" * size, "x".b.force_encoding("UTF-16LE")]]
          failing.each do |object|
            assert_raises(StandardError) { Manypack.pack([whole, object]) }
            assert_raises(StandardError) { packer.write([whole, object]) }
            packer.write(whole)
          end
          assert_clean packer.to_s, "\xA6before".b + (Manypack.pack(["w" * size, "end"]) * failing.size)
          packer.reset
          assert_clean packer.write("x" * size).to_s, Manypack.pack("x" * size)
          body = Manypack.pack(graphs(size).last)
          assert_clean Nesting::RECURSIVE.dump([Nesting::Wrapped.new(graphs(size).last)]), Manypack.pack([Manypack::ExtensionValue.new(1, body)])
        end
      end

      def test_22_a_buffer_gives_what_was_put_into_it_and_nothing_of_what_was_cleared_or_read
        SIZES.product(PIECES).each do |size, piece|
          buffer = Manypack::Buffer.new(nil, write_reference_threshold: 256) << ("o" * size)
          buffer.read(piece)
          buffer.clear
          (size / piece).clamp(1, 50).times { buffer << ("p" * piece) }
          assert_clean buffer.to_s[0, piece], buffer.read(piece, +"old"), "p" * piece
          buffer << ("q" * size)
          buffer.skip(buffer.size - size)
          assert_clean buffer.to_s, buffer.to_a.join, buffer.read, "q" * size
          assert_equal "", (buffer << "").read
          60.times { buffer << ("r" * piece) }
          buffer.read((60 * piece) - 5)
          20.times { buffer << ("s" * piece) }
          assert_clean buffer.read, "#{"r" * 5}#{"s" * (20 * piece)}"
        end
      end

      def test_22_all_that_is_unpacked_was_in_the_input_however_it_comes
        SIZES.product(PIECES).each do |size, piece|
          object = graphs(size).last
          packed = Manypack.pack(object)
          next if packed.bytesize / piece > 5_000

          unpacker = Manypack::Unpacker.new
          %i[read skip].each do |method|
            packed.bytes.each_slice(piece) { |bytes| go_on(unpacker.feed(bytes.pack("C*")), method) }
            assert_equal object, unpacker.feed(packed).read
          end
          go_on(unpacker.feed(packed[0, piece]), :read)
          unpacker.reset
          assert_equal object, unpacker.feed(packed).read
        end
      end

      def test_22_input_that_a_handler_changes_is_unpacked_as_it_was
        SIZES.each do |size|
          [:clear, ->(input) { input.replace(CANARY * (size + 50)) }, ->(input) { input << (CANARY * 5_000) }].each do |change|
            input = Manypack.pack([Manypack::ExtensionValue.new(1, "e" * size), "x" * size, { "k" * size => 1 }])
            factory = Manypack::Factory.new
            factory.register_type(1, Nesting::Wrapped, unpacker: ->(body) { change.to_proc.call(input) && body })
            assert_equal ["e" * size, "x" * size, { "k" * size => 1 }], factory.load(input)
          end
        end
      end

      def test_22_bigints
        [0, 5, -5, 1 << 64, -(1 << 4_000), (1 << 65_536) + 1].each do |integer|
          assert_clean Manypack::Bigint.to_msgpack_ext(integer), Manypack::Bigint.to_msgpack_ext(integer)
          assert_equal integer, Manypack::Bigint.from_msgpack_ext(Manypack::Bigint.to_msgpack_ext(integer))
        end
      end

      private

      # Objects in which all sizes are about as given.
      def graphs(size)
        text = "x" * size
        [text, [1] * size, [text, { text => text.b }, [2**64 - 1, 1.5, nil], { "a" => [[text]] * 3 }]]
      end

      # All of them are equal, and have no canary.
      def assert_clean(*outputs)
        outputs.each { |output| refute_includes output.b, CANARY }
        assert_equal 1, outputs.map(&:b).uniq.size
      end

      def io_of
        StringIO.new("".b).tap { |io| yield io }.string
      end

      # As far as there are bytes.
      def go_on(unpacker, method)
        unpacker.public_send(method)
      rescue EOFError
        nil
      end
    end
  end
end
