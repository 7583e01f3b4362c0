# frozen_string_literal: true

# Ruby's own format.

module Contenders
  module WithMarshal
    def self.label = "Marshal"
    def self.load = true
    def self.version = RUBY_VERSION
    def self.pack(object) = Marshal.dump(object)
    def self.unpack(bytes) = Marshal.load(bytes)
  end
end
