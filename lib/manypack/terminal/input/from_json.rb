# frozen_string_literal: true

# Packs the objects that parsed JSON or YAML stands for: the reverse of json_text.c, which never writes two keys alike.
# Anything that is not written exactly as json_text.c writes it stands for itself, so different keys stay different. The
# result is bytes, because a Hash cannot have "a" both as a str and as a bin.
module Manypack
  module Terminal
    module FromJSON
      # Keys with a meaning: a text that begins with $, a value such as a number, and any object, packed.
      TEXT = /\A\$\$/
      WORD = /\A\$(null|true|false|NaN|-?Infinity|-?\d+(?:\.\d+)?(?:e[+-]\d+)?)\z/
      PACKED = %r{\A\$msgpack:([A-Za-z0-9+/]*={0,2})\z}

      WORDS = {"null" => nil, "true" => true, "false" => false, "NaN" => Float::NAN, "Infinity" => Float::INFINITY,
               "-Infinity" => -Float::INFINITY}.freeze

      # A time as cat writes it has capitals, and no year 0.
      TIME = /\A(?!0000)[-\d:.+TZ]+\z/

      # The Integers that MessagePack has.
      INTEGERS = (-(2**63)...2**64).freeze

      # Unpacks keys. An ext stays an ExtensionValue, whatever the program has registered on DefaultFactory.
      CODEC = Factory.new.codec(**OPTIONS)

      # The head of an array or map.
      CONTAINER = /\A[\x80-\x9f\xdc-\xdf]/n

      MAX_DEPTH = OPTIONS.fetch(:max_depth)

      # The depth of JSON for objects of MAX_DEPTH: a map as a list of pairs has three levels.
      MAX_NESTING = MAX_DEPTH * 3 + 3

      module_function

      # Returns the packed bytes of a value from JSON.parse, or of YAML. Raises RangeError for an Integer that is too
      # large, and ArgumentError for a value that is nested too deep.
      def pack(value)
        Packer.new.tap { |packer| write(value, packer, 0) }.to_s
      end

      def write(value, packer, depth)
        case value
        when Hash then write_map(value, packer, depth)
        when Array then write_array(value, packer, depth)
        when ::Time then packer.write(time(value.to_i, value.nsec))
        when Integer, String, nil, true, false, Float then packer.write(value)
        else packer.write(value.to_s) # a Date of YAML
        end
      end

      # Returns the depth of what is in a container: an empty one is no level, as in Manypack.pack.
      def inside(container, depth)
        raise ArgumentError, "nested deeper than #{MAX_DEPTH} levels" if depth == MAX_DEPTH && !container.empty?

        depth + 1
      end

      def write_array(array, packer, depth)
        depth = inside(array, depth)
        packer.write_array_header(array.size)
        array.each { |element| write(element, packer, depth) }
      end

      def write_map(hash, packer, depth)
        return if hash.size == 1 && write_special(*hash.first, packer, depth)

        check_keys(hash)
        write_pairs(hash, packer, depth) do |key|
          key.is_a?(String) ? packer.buffer << key(key) : write(key, packer, depth)
        end
      end

      def write_pairs(pairs, packer, depth)
        depth = inside(pairs, depth)
        packer.write_map_header(pairs.size)
        pairs.each do |key, value|
          yield key
          write(value, packer, depth)
        end
      end

      # Refuses many keys such as [NaN]: unpacking the map would take quadratic time.
      def check_keys(hash)
        packed = hash.keys.grep(PACKED)
        Arguments.check_key_hashes(packed.map { |key| CODEC.unpack(key(key)) }, 0) unless packed.empty?
      end

      # Writes the value that an object with one pair stands for. Returns nil if it stands for itself.
      def write_special(key, value, packer, depth)
        case [key, value]
        in ["$map", Array => pairs] if alike?(pairs)
          write_pairs(pairs, packer, depth) { |one| write(one, packer, depth) }
        in ["$packed", Array | Hash => object] then packer.write(pack(object))
        in ["$msgpack", String => base64] if (packed = packed(base64)) && CONTAINER.match?(packed)
          packer.buffer << packed
        else special(key, value)&.then { |object| packer.write(object.first) }
        end
      end

      # Returns an Array with the scalar that a pair stands for, or nil.
      def special(key, value)
        case [key, value]
        in ["$bin", String] then bytes(value)
        in ["$hex", /\A(\h\h)*\z/] then [[value].pack("H*")]
        in ["$str", String] then bytes(value)&.map { |text| text.force_encoding(Encoding::UTF_8) }
        in ["$float", "NaN" | "Infinity" | "-Infinity"] then [WORDS.fetch(value)]
        in ["$timestamp", TIME] then moment(value)
        in ["$ext", [Integer => type, String => body]] if type.between?(-128, 127)
          bytes(body)&.map { |text| ExtensionValue.new(type, text) }
        else nil
        end
      end

      # Returns true for pairs of which two have the same key: other maps are written as objects.
      def alike?(pairs)
        return false unless pairs.all? { |pair| pair.is_a?(Array) && pair.size == 2 }

        pairs.map { |key, _| likeness(key) }.uniq.size < pairs.size
      end

      # Returns a value that is equal for keys that json_text.c takes to be alike: a str and a bin of the same ASCII,
      # 0.0 and -0.0, and all NaN.
      def likeness(key)
        value = key.is_a?(Hash) && key.size == 1 ? special(*key.first)&.first || key : key
        case value
        when String then value.ascii_only? ? value.b : [value.encoding, value.b]
        when Float then value.nan? ? :nan : [value.zero? ? 0.0 : value].pack("G").unpack1("Q")
        when nil, true, false, Integer then [value]
        else pack(value)
        end
      end

      def bytes(base64)
        [base64.unpack1("m0")]
      rescue ArgumentError
        nil
      end

      # Returns nil if there is no such day or hour.
      def moment(text)
        time = Type.const_get(:Texts).load_time(text)
        [time(time.to_i, time.nsec)] if time
      end

      def time(sec, nsec) = ExtensionValue.new(Timestamp::TYPE, Timestamp.to_msgpack_ext(sec, nsec))

      # Returns the packed key.
      def key(key)
        if key.start_with?("$")
          case key
          when TEXT then return Manypack.pack(key.delete_prefix("$"))
          when WORD then word = word($1)
          when PACKED then packed = packed($1)
          end
        end
        word || packed || Manypack.pack(key)
      end

      # Returns the packed word or number; nil for a number that cat would write differently, because then two keys
      # would be the same.
      def word(word)
        value = WORDS.fetch(word) { word.match?(/[.e]/) ? Float(word) : Integer(word, 10) }
        return if value.is_a?(Integer) && !INTEGERS.cover?(value)

        packed = Manypack.pack(value)
        packed if WORDS.key?(word) || Manypack.to_json(packed) == word
      end

      # Returns the packed object; nil if it is no object, or a key that cat would write differently.
      def packed(base64)
        packed, = bytes(base64)
        return unless packed && [packed].pack("m0") == base64

        case (text = CODEC.unpack(packed))
        when nil, true, false, Integer, Float then nil
        when String then packed unless text.encoding == Encoding::UTF_8 && text.valid_encoding?
        else packed
        end
      rescue DecodeError
        nil
      end
    end
  end
end
