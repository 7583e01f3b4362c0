# frozen_string_literal: true

# Turns parsed JSON or YAML into the objects that Manypack.pack takes: the reverse of json_text.c.
module Manypack
  module Terminal
    module FromJSON
      # A key that stands for itself, and those that stand for others.
      TEXT = /\A\$\$/
      WORD = /\A\$(null|true|false|NaN|-?Infinity|-?\d+|-?\d+\.\d+(?:e[+-]?\d+)?)\z/
      PACKED = %r{\A\$msgpack:([A-Za-z0-9+/]*={0,2})\z}

      WORDS = {"null" => nil, "true" => true, "false" => false, "NaN" => Float::NAN, "Infinity" => Float::INFINITY,
               "-Infinity" => -Float::INFINITY}.freeze

      TIME = /\A(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):(\d\d))\z/

      # The body of an ext that contains others is no object here: every ext comes as it is.
      CODEC = Codec.new(**OPTIONS)

      module_function

      # Returns the object that a value from JSON.parse or YAML.safe_load stands for.
      def object(value)
        case value
        when Hash then map(value)
        when Array then value.map { |element| object(element) }
        when ::Time then timestamp(value.to_i, value.nsec)
        when Integer, String, nil, true, false, Float then value
        else value.to_s # a Date of YAML
        end
      end

      def map(hash)
        special = (special(*hash.first) if hash.size == 1)
        return special.first if special

        pairs = hash.map { |key, value| [key.is_a?(String) ? key(key) : object(key), object(value)] }
        Arguments.check_key_hashes(pairs.map(&:first), 0) # [NaN] as a key can be written in many ways
        pairs.to_h
      end

      # An Array with the value that an object with one pair stands for, or nil if it stands for itself.
      def special(key, value)
        case [key, value]
        in ["$bin", String] then bytes(value)
        in ["$hex", /\A(\h\h)*\z/] then [[value].pack("H*")]
        in ["$str", String] then bytes(value)&.map { |text| text.force_encoding(Encoding::UTF_8) }
        in ["$float", "NaN" | "Infinity" | "-Infinity"] then [WORDS.fetch(value)]
        in ["$timestamp", TIME] then [timestamp(*moment(TIME.match(value).captures))]
        in ["$ext", [-128..127 => type, String => body]] then bytes(body)&.map { |text| ExtensionValue.new(type, text) }
        else nil
        end
      end

      def bytes(base64)
        [base64.unpack1("m0")]
      rescue ArgumentError
        nil
      end

      def moment(parts)
        *date, fraction, sign, hours, minutes = parts
        ahead = (hours.to_i * 60 + minutes.to_i) * 60
        date = date.map(&:to_i)
        raise ArgumentError, "no such day" unless ::Time.utc(*date.first(3)).day == date[2] # it would be the next month

        [::Time.utc(*date).to_i - (sign == "-" ? -ahead : ahead), fraction.to_s.ljust(9, "0").to_i]
      end

      def timestamp(sec, nsec)
        ExtensionValue.new(Timestamp::TYPE, Timestamp.to_msgpack_ext(sec, nsec))
      end

      def key(key)
        return key unless key.start_with?("$")

        case key
        when TEXT then key.delete_prefix("$")
        when WORD then word($1)
        when PACKED then CODEC.unpack($1.unpack1("m0"))
        else key
        end
      end

      def word(word)
        WORDS.fetch(word) { word.match?(/[.e]/) ? Float(word) : Integer(word, 10) }
      end
    end
  end
end
