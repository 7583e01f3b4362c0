# frozen_string_literal: true

# The oj gem, by its fast parser.

module Contenders
  module WithOj
    def self.label = "oj"

    def self.load
      require("oj")
      const_set(:PARSER, Oj::Parser.new(:usual))
    end

    def self.version = Oj::VERSION
    def self.pack(object) = Oj.dump(object, mode: :strict)
    def self.unpack(bytes) = PARSER.parse(bytes)
  end
end
