# frozen_string_literal: true

# All checks of the Ruby API, for one message at a time.
require "manypack"
require_relative "../test/interop/msgpack_gem"
require "msgpack/bigint"
require_relative "outcome"
require_relative "types"
require_relative "meddler"
require_relative "messages"
require_relative "subject"
require_relative "differential"
require_relative "limits"
require_relative "packing"
require_relative "views"
require_relative "records"
require_relative "fronts"

module Fuzz
  # Checks messages. Use only one in a process: it registers ext types on Manypack::DefaultFactory.
  class Harness
    def initialize
      @subject = Subject.new(Meddler.new)
      @differential = Differential.new
      @limits = Limits.new
      @packing = Packing.new
      @views = Views.new
      @records = Records.new
      @fronts = Fronts.new
    end

    # Returns the message of a seed, a String.
    def message(seed) = messages(seed).message

    def messages(seed) = Messages.new(Random.new(seed), Types::ALL + [Messages::TIMESTAMP], Types::RECURSIVE)

    # Raises Violation if these bytes break a promise. The bytes decide on everything random.
    def check(bytes)
      @subject.check(bytes)
      @differential.check(bytes)
      @limits.check(bytes)
      @packing.check(Zlib.crc32(bytes))
      @views.check(bytes)
      @records.check(bytes)
      @fronts.check(bytes)
    end

    def tally = @subject.tally
  end
end
