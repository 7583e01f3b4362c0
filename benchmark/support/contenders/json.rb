# frozen_string_literal: true

# The json library that this Ruby, or the bundle, has.

module Contenders
  module WithJson
    def self.label = "JSON"
    def self.load = require("json")
    def self.version = JSON::VERSION
    def self.pack(object) = JSON.generate(object)
    def self.unpack(bytes) = JSON.parse(bytes)
  end
end
