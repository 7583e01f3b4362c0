# frozen_string_literal: true

# The value of a YAML document, for FromJSON. It reads the nodes itself, because errors about a Symbol, an alias or a
# tag must explain the problem to a person, with the line.
require "date"
require "yaml"

module Manypack
  module Terminal
    module FromYAML
      # A value that cannot be packed, and the line and the column of it, from 0 on.
      class Invalid < StandardError
        attr_reader :line, :column

        def initialize(message, node)
          @line = node.start_line
          @column = node.start_column
          super(message)
        end
      end

      SCANNER = Psych::ScalarScanner.new(Psych::ClassLoader.new)
      private_constant :SCANNER

      # The tags that say what a plain value is anyway.
      TEXT_TAGS = ["tag:yaml.org,2002:str", "!"].freeze
      BINARY_TAG = "tag:yaml.org,2002:binary"

      # Tags of lists and maps that change nothing.
      CONTAINER_TAGS = ["!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"].freeze

      # Numbers of JSON that Ruby's YAML takes for text, such as 1e5. A str that looks so is in quotes: see YAMLStream.
      EXPONENT = /\A-?(?:0|[1-9]\d*)(?:\.\d+)?[eE][-+]?\d+\z/

      FLOAT = /\A[-+]?(?:\d[\d_]*)?\.?\d[\d_]*(?:e[-+]?\d+)?\z/i

      module_function

      # Returns the values of all documents of a text. Raises Invalid, and Psych::SyntaxError.
      def each(text)
        Psych.parse_stream(text) { |document| yield value(document.root), document }
      end

      def value(node)
        case node
        when Psych::Nodes::Mapping then map(node)
        when Psych::Nodes::Sequence then sequence(node)
        when Psych::Nodes::Scalar then scalar(node)
        when Psych::Nodes::Alias
          wrong("*#{node.anchor} repeats a value by its anchor, which pack does not; write the value again", node)
        end
      end

      def wrong(message, node)
        raise Invalid.new(message, node)
      end

      def sequence(node)
        refuse_tag(node)
        node.children.map { |child| value(child) }
      end

      def map(node)
        refuse_tag(node)
        node.children.each_slice(2).each_with_object({}) do |(key, child), hash|
          refuse_merge(key)
          name = value(key)
          wrong("a list or a map is no key; cat writes it as $msgpack:...", key) if [Array, Hash].include?(name.class)
          wrong("the key #{name.inspect} is there twice", key) if hash.key?(name)

          hash[name] = value(child)
        end
      end

      # Refuses a merge key: other readers would put the pairs of its value into the map.
      def refuse_merge(key)
        return unless key.is_a?(Psych::Nodes::Scalar) && key.value == "<<" && !key.quoted && key.tag.nil?

        wrong("<< merges another map, which pack does not; write its pairs here, or \"<<\" for a key", key)
      end

      def refuse_tag(node)
        return if node.tag.nil? || CONTAINER_TAGS.include?(node.tag)

        wrong("the tag #{node.tag} is not supported", node)
      end

      def scalar(node)
        return tagged(node) if node.tag
        return node.value if node.quoted

        plain(node, Terminal.quietly { EXPONENT.match?(node.value) ? Float(node.value) : SCANNER.tokenize(node.value) })
      rescue ArgumentError, Psych::DisallowedClass
        node.value # such as 2026-13-45
      end

      def tagged(node)
        return node.value if TEXT_TAGS.include?(node.tag)

        refuse_tag(node) unless node.tag == BINARY_TAG
        node.value.gsub(/\s/, "").unpack1("m0")
      rescue ArgumentError
        wrong("!!binary is not followed by base64", node)
      end

      def plain(node, value)
        case value
        when Symbol
          wrong("#{node.value} is a Symbol of Ruby, which MessagePack has not; in quotes it is a str", node)
        when Float
          finite = value.finite? || !node.value.match?(FLOAT)
          finite ? value : wrong("#{node.value} is too large for a Float", node)
        when ::Time then (value.subsec * 1_000_000_000).to_r.denominator == 1 ? value : node.value
        when Integer
          fits = FromJSON::INTEGERS.cover?(value)
          fits ? value : wrong("#{node.value} has more than the 64 bits of an Integer", node)
        when String, nil, true, false then value
        else value.to_s
        end
      end
    end
  end
end
