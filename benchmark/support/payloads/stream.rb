# frozen_string_literal: true

# Many messages in a row: a thousand different ones, again and again.

require "tempfile"
require_relative "messages"
require_relative "twitter"

module Payloads
  class Stream
    include Enumerable

    DIFFERENT = 1_000

    # @return [Integer] of messages
    attr_reader :count

    KINDS = {
      "messages" => lambda { |random|
        Array.new(DIFFERENT) do |index|
          { "id" => index + random.rand(1 << 20), "level" => %w[debug info warn].sample(random: random),
            "took" => random.rand.round(6) }
        end
      },
      "log lines" => ->(random) { Array.new(DIFFERENT) { Messages.structured(random) } },
      "tweets" => ->(random) { Twitter.new(random).page(DIFFERENT).fetch("statuses") }
    }.freeze

    # @param random [Random]
    # @param kind [String] of KINDS
    # @param count [Integer] a multiple of a thousand
    # @return [Stream]
    def self.build(random, kind, count)
      new(KINDS.fetch(kind).call(random), count)
    end

    # @param messages [Array<Hash>]
    # @param count [Integer]
    def initialize(messages, count)
      @messages = messages
      @count = count
    end

    # @yieldparam message [Hash]
    def each(&block)
      (count / DIFFERENT).times { @messages.each(&block) }
    end

    # @return [Stream] a shorter one
    def first(count)
      self.class.new(@messages, count)
    end

    # @return [String] as the contender packs them
    def bytes(contender)
      @messages.map { |message| contender.pack(message) }.join * (count / DIFFERENT)
    end

    # @return [String] path of a file that is there as long as the Stream
    def file(contender)
      @files ||= []
      @files << Tempfile.new("stream")
      File.binwrite(@files.last.path, bytes(contender))
      @files.last.path
    end
  end
end
