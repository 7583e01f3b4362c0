# frozen_string_literal: true

#--
# Manypack::Incompatibility: a difference between two versions of a Type.
#++
module Manypack
  # A place at which one version of a Type writes what another one does not read: what Type#incompatibilities returns.
  class Incompatibility
    # Returns where it is, such as <code>$.items[*].price</code>.
    attr_reader :path

    # Returns what differs, in words.
    attr_reader :reason

    # Returns packed bytes that the old version writes and the new one refuses; nil if none were found.
    attr_reader :example

    # Type#incompatibilities makes them.
    #
    #   Manypack::Incompatibility.new("$.id", "no Integer", nil).path #=> "$.id"
    def initialize(path, reason, example)
      @path = path
      @reason = reason
      @example = example
    end

    # Returns the path and the reason.
    #
    #   NEW.incompatibilities(OLD).first.to_s #=> "$.price: the old version writes nil, the new one takes Float"
    def to_s
      "#{path}: #{reason}"
    end

    # Returns true for an Incompatibility at the same place, for the same reason and with the same example.
    def ==(other)
      other.is_a?(Incompatibility) && state == other.state
    end

    # The same as ==, for keys of a Hash.
    def eql?(other) = self == other

    # Returns an Integer, the same for equal objects.
    def hash = state.hash

    protected

    # Compares the bytes of the example, because YAML gives one in ASCII another encoding.
    def state = [path, reason, example&.b]
  end
end
