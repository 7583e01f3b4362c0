# frozen_string_literal: true

# Compares loading by Records with unpacking.
module Fuzz
  # A type that fits the unpacked object must load an equal object, through every method. And any type must load any
  # bytes to a value or a DecodeError, and valid? and collect: true must agree with that.
  class Records
    Row = Struct.new(:a, :id, :name, :rest)
    Node = Struct.new(:a, :b)
    Type = Manypack::Type

    ROW = Manypack::Record.new(Row, a: Type[Integer, String, nil], id: 0..100, name: [Object], rest: Object)
                          .with(defaults: { a: nil, id: 0, name: [], rest: nil }, unknown: { into: :rest })
    NODE = Manypack::Record.new(Node, a: Type[:self, nil, Integer], b: Object).with(defaults: { a: nil, b: nil })
    TAGGED = Manypack::Record.union("a", "id" => ROW, 1 => NODE, else: Manypack::View)
    TYPES = [ROW, ROW.array, ROW.with(unknown: :raise), NODE, TAGGED, Type[[NODE]], Type[[NODE.array]],
             Type[{ String => Object }], Type[{ Symbol => [Float] }], Type[%w[a id]], Type[Float], Type[Manypack::View],
             Type[Integer, [Type[String, nil]], { Integer => Object }]].freeze
    LAZY = [ROW.with(unknown: :skip).lazy, NODE.lazy].freeze
    LIMITS = Views::LIMITS

    def initialize
      factory = Manypack::Factory.new # no type for Integer: Integers are not packed as exts here
      Types.plain(factory, 1) { |body| Plain.new(body) }
      Types.recursive(factory, 2) { |unpacker| Box.new(unpacker.read) }
      factory.register_type(10, Symbol)
      @codec = factory.codec
    end

    # Raises Violation if they differ.
    def check(bytes)
      return if bytes.empty?

      @bytes = bytes.b.freeze
      @random = Random.new(Zlib.crc32(bytes) + 3)
      @options = { allow_unknown_ext: true, timestamp: @random.rand(3).zero? }
      fitting
      any_type(TYPES.sample(random: @random))
      looked_at(LAZY.sample(random: @random))
    end

    private

    def type(type, **more) = Type[type].with(codec: @codec, **@options, **more)

    # --- a type made for the message --------------------------------------------------------------------

    def fitting
      codec = @codec.with(**@options, duplicate_keys: :error) # load checks duplicates, too
      expected = Outcome.of { plain(codec.unpack(@bytes)) }
      return unless expected[0] == :object

      type = type(type_of(codec.unpack(@bytes), 3))
      agree expected, Outcome.of { plain(type.load(@bytes)) }, type
      agree expected, Outcome.of { plain(type.load(@bytes, collect: true)) }, type
      agree expected, Outcome.of { plain(codec.view(@bytes).as(type)) }, type
      again(expected, type) if Outcome.of { codec.pack(codec.unpack(@bytes)) }[0] == :object
      cut(type)
    end

    def again(expected, type)
      agree expected, Outcome.of { plain(type.load(type.dump(type.load(@bytes), check: true))) }, type
    end

    def cut(type)
      part = @bytes.byteslice(0, @random.rand(@bytes.bytesize))
      return if Outcome.of { type.load(part) }[2].is_a?(Manypack::TruncatedError)

      raise Violation, "#{type} of a part of the bytes, #{part.bytesize} of #{@bytes.bytesize}"
    end

    def type_of(object, levels)
      case object
      when nil, true, false then object
      when Integer then integer_type(object)
      when Float then [Float, Object].sample(random: @random)
      when String then [String, Object, Type[nil, String]].sample(random: @random)
      when Array then levels.zero? ? Object : list_of(object, levels)
      when Hash then levels.zero? ? Object : map_of(object, levels)
      else Object
      end
    end

    # A Range may only have int64 ends.
    def integer_type(number)
      return Integer unless number.between?(-2**63, 2**63 - 1)

      [Integer, Object, number..number, (number..)].sample(random: @random)
    end

    # The type of the first element if it loads all elements unchanged, otherwise Object. Float would load an Integer,
    # but as a Float.
    def list_of(array, levels)
      first = type_of(array.first, levels - 1)
      array.all? { |element| unchanged?(Type[first], @codec.pack(element)) } ? [Type[first]] : [Object]
    rescue StandardError
      [Object] # an element cannot be packed again, or is not of the type
    end

    def unchanged?(type, bytes) = plain(type.load(bytes)).eql?(plain(@codec.unpack(bytes)))

    def map_of(hash, levels)
      return Object unless hash.size.between?(1, 20) && hash.keys.all? { |key| member?(key) }

      types = hash.to_h { |key, value| [key.to_sym, type_of(value, levels - 1)] }
      Manypack::Record.new(Struct.new(*types.keys), **types)
    end

    def member?(key) = key.is_a?(String) && key.ascii_only? && key.match?(/\A[a-z]\w*\z/)

    # Turns Structs back into Hashes, and makes String keys binary.
    def plain(object)
      case object
      when Struct then object.is_a?(Plain) || object.is_a?(Box) ? object : plain(object.to_h.transform_keys(&:name))
      when Hash then object.to_h { |key, value| [key.is_a?(String) ? key.b : key, plain(value)] }
      when Array then object.map { |element| plain(element) }
      else object
      end
    end

    # --- types that know nothing of the message ---------------------------------------------------------

    def any_type(type)
      type = type(type, **LIMITS.sample(random: @random))
      outcome = decoded { type.load(@bytes) }
      loaded = outcome[0] == :object
      raise Violation, "valid? of #{type} is not what load says" if type.valid?(@bytes) != loaded

      collected = decoded { type.load(@bytes, collect: true) }
      raise Violation, "collect: true changes what #{type} loads" if (collected[0] == :object) != loaded

      agree outcome, collected, type if loaded
    end

    def looked_at(type)
      lazy = type(type).load(@bytes)
      [:to_h, :load, :inspect, :bytes, *lazy.record.members].each do |name|
        lazy.public_send(name)
      rescue Manypack::DecodeError
        nil
      end
    rescue Manypack::DecodeError
      nil
    end

    # Raises Violation for any error except DecodeError.
    def decoded(&block)
      outcome = Outcome.of(&block)
      return outcome unless outcome[0] == :error && !outcome[2].is_a?(Manypack::DecodeError)

      raise Violation, "a Record raises #{outcome[2].full_message(highlight: false)}"
    end

    def agree(expected, actual, type)
      return if Outcome.same?(expected, actual)

      raise Violation, "#{type.inspect} with #{@options}:#{Outcome.contrast(actual, expected, "unpacking")}"
    end
  end
end
