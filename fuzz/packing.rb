# frozen_string_literal: true

# Packs objects that change meanwhile.
module Fuzz
  # Packs objects, some of which change the objects that are being packed, use the Packer, or raise. The outcome must be
  # an error or a complete message, the same for all fronts.
  class Packing
    # An object that packs itself and misbehaves.
    class Rogue
      attr_reader :near

      # near:: an Array of objects that are being packed, too
      def initialize(choice, near)
        @choice = choice
        @near = near
      end

      def to_msgpack(packer)
        deeds = @choice % 40 == 0 ? DEAR : DEEDS
        deeds[@choice / 40 % deeds.size].call(self, packer)
      end
    end

    DEEDS = [
      ->(_, packer) { packer.write(1) }, ->(_, packer) { packer.write_map_header(1).write("k").write([nil]) },
      ->(_, packer) { packer.write("x" * 5000) }, ->(_, _) { raise Boom, "by to_msgpack" }, ->(_, _) { throw :fuzz },
      ->(rogue, packer) { rogue.near.each { |object| object << 1 if object.is_a?(Array) } && packer.write(2) },
      ->(rogue, packer) { rogue.near.each { |object| object.clear unless object.frozen? } && packer.write(3) },
      ->(rogue, packer) { rogue.near.grep(Hash).each { |hash| hash.delete(hash.keys.last) } && packer.write(4) },
      ->(rogue, packer) { rogue.near.grep(String).each { |text| text << "y" * 300 } && packer.write(5) },
      ->(_, packer) { packer.buffer << "\x05" }, ->(_, packer) { misuse(packer) && packer.write(6) },
      ->(_, packer) { Manypack.pack([1] * 20).then { |packed| packer.write_bin(packed) } }
    ].freeze

    # Deeds that are slow, and therefore done less often.
    DEAR = [->(rogue, packer) { packer.write([rogue]) },
            ->(_, packer) { GC.start(full_mark: false) || packer.write(7) }].freeze

    # Calls that would take the output from a Packer that is writing.
    MISUSES = [->(packer) { packer.reset }, ->(packer) { packer.full_pack }, ->(packer) { packer.buffer.clear },
               ->(packer) { packer.flush }, ->(packer) { packer.to_s }].freeze

    def self.misuse(packer)
      MISUSES.each do |misuse|
        misuse.call(packer)
      rescue RuntimeError
        nil
      end
    end

    def initialize
      @factory = Manypack::Factory.new
      Types.register_tame(@factory, Manypack::Bigint)
    end

    # Raises Violation if the fronts pack the object of a seed differently, or not to one complete message.
    def check(seed)
      outcomes = fronts(seed).map { |name, front| [name, Outcome.of(&front)] }
      expected = outcomes.first[1]
      whole(expected[2]) if expected[0] == :object
      outcomes.each do |name, outcome|
        next if Outcome.same?(expected, outcome)

        raise Violation, "#{name} packs seed #{seed} to#{Outcome.contrast(outcome, expected, "Factory#dump to")}"
      end
    end

    private

    def fronts(seed)
      { "Factory#dump" => -> { @factory.dump(object(seed)) },
        "Codec#pack" => -> { @factory.codec({}).pack(object(seed)) },
        "Packer#write" => -> { @factory.packer.write(object(seed)).to_s },
        "Packer that refers" => -> { @factory.packer(write_reference_threshold: 0).write(object(seed)).to_s },
        "Pool#dump" => -> { @factory.pool(1).dump(object(seed)) },
        "Factory#dump to an io" => -> { StringIO.new("".b).tap { |io| @factory.dump(object(seed), io) }.string },
        "DefaultFactory" => -> { Manypack.pack(object(seed)) } }
    end

    # Checks that the bytes are exactly one message.
    def whole(bytes)
      unpacker = Manypack::Unpacker.new(allow_unknown_ext: true, max_depth: 2000).feed(bytes)
      unpacker.skip
      raise Violation, "#{unpacker.buffer.size} bytes behind the message" unless unpacker.buffer.empty?

      Manypack.unpack(bytes, allow_unknown_ext: true, max_depth: 2000)
    rescue Manypack::DecodeError => e
      raise Violation, "packed to bytes that are no message: #{e.message}: #{bytes.unpack1("H*")[0, 300]}"
    end

    def object(seed)
      @random = Random.new(seed)
      @near = []
      graph(@random.rand(4))
    end

    def graph(levels)
      object = case @random.rand(levels.positive? ? 10 : 6)
               when 0 then [nil, true, false, 1.5, Float::NAN, -0.0].sample(random: @random)
               when 1 then @random.rand(2**66) - 2**65
               when 2, 3 then string
               when 4 then Rogue.new(@random.rand(40 * 100), @near)
               when 5 then [:symbol, Object, 3r, Time.at(0)].sample(random: @random)
               when 6, 7 then fill([]) { |array| array << graph(levels - 1) }
               else fill({}) { |hash| hash[graph(@random.rand(3).zero? ? levels - 1 : 0)] = graph(levels - 1) }
               end
      @near << object if object.is_a?(String)
      object
    end

    def string
      encoding = %w[UTF-8 BINARY].sample(random: @random)
      text = @random.rand(10).zero? ? "z" * 600 : Messages::TEXTS.sample(random: @random).dup
      text.force_encoding(encoding)
    end

    def fill(container)
      @near << container
      @random.rand([3, 3, 6, 20].sample(random: @random)).times { yield container }
      container
    end
  end
end
