# frozen_string_literal: true

# Manypack::Codec: the Ruby half, with what is in codec.c.
module Manypack
  # What a Codec says of itself.
  class Codec
    # @return [String] the options that are not as they are by default, and the classes of the ext types
    # @example
    #   Manypack::Codec.new(symbolize_keys: true, max_bytes: 1_000).inspect
    #   #=> "#<Manypack::Codec symbolize_keys: true, max_bytes: 1000>"
    def inspect
      "#<#{self.class}#{description}>"
    end

    private

    def description
      parts = changed_options.map { |name, value| "#{name}: #{value.inspect}" }
      types = (packer_classes | unpacker_classes).group_by(&:first).sort
      parts << "types: {#{types.map { |type, pairs| "#{type} => #{names(pairs)}" }.join(", ")}}" unless types.empty?
      parts.empty? ? "" : " #{parts.join(", ")}"
    end

    # By what Module says: inspect of a class may be the program's own, and do anything.
    def names(pairs)
      names = pairs.map { |_, klass| klass ? Module.instance_method(:inspect).bind_call(klass) : "nil" }
      names.size == 1 ? names.first : "[#{names.join(", ")}]"
    end
  end
end
