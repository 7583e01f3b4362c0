# frozen_string_literal: true

# A document with one in a hundred of its parts changed, so that nothing is made for one file: keys that come once, text
# beyond ASCII, Symbols in place of Strings, values deep inside of arrays.
module Payloads
  class Mutation
    SHARE = 0.01
    DEPTH = 20
    KINDS = { "unique keys" => :unique_key, "non-ASCII text" => :foreign_text, "symbols" => :symbol,
              "deep nesting" => :nest }.freeze

    # @param random [Random]
    # @param kind [String] of KINDS
    def initialize(random, kind)
      @random = random
      @change = KINDS.fetch(kind)
    end

    # @param object [Object]
    # @return [Object] a changed copy
    def of(object)
      case object
      when Hash then object.to_h { |key, value| [changed(key, :unique_key), changed(of(value), :nest)] }
      when Array then object.map { |value| of(value) }
      when String then changed(object, :foreign_text, :symbol)
      else object
      end
    end

    private

    def changed(object, *kinds)
      kinds.include?(@change) && @random.rand < SHARE ? send(@change, object) : object
    end

    def unique_key(key)
      "#{key}_#{@random.rand(1 << 32)}"
    end

    def foreign_text(text)
      "#{text} αβγ 日本語"
    end

    def symbol(text)
      text[0, 12].to_sym
    end

    def nest(value)
      DEPTH.times.inject(value) { |inner| [inner] }
    end
  end
end
