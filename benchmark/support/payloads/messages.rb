# frozen_string_literal: true

# Messages as services send them: one, and many in a row.

require "tempfile"
require_relative "twitter"

module Payloads
  # One line of a web server's log, in the shapes msgpack-ruby measures itself with.
  module Messages
    AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0"

    # @param random [Random]
    # @return [Hash] the whole line as one long string
    def self.plain(random)
      line = structured(random)
      text = format('%<host>s - %<user>s [%<time>s] "%<method>s %<path>s HTTP/1.1" ' \
                    '%<code>d %<size>d "%<referer>s" "%<agent>s"', **line.transform_keys(&:to_sym))
      { "message" => text }
    end

    # @param random [Random]
    # @return [Hash] the line as eleven fields
    def self.structured(random)
      {
        "host" => Array.new(4) { random.rand(1..254) }.join("."), "user" => "-", "time" => "21/Aug/2012:05:14:33 +0000",
        "method" => "GET", "path" => "/articles/#{random.rand(10_000)}?page=#{random.rand(9)}", "code" => 200,
        "size" => random.rand(100_000), "referer" => "http://search.example/?q=districts+by+the+river",
        "agent" => AGENT, "pid" => random.rand(32_768), "took_us" => random.rand(2_000_000)
      }
    end

    # @param random [Random]
    # @return [Integer]
    def self.integer(random)
      random.rand(1 << 40)
    end
  end

  # Many messages in a row: a thousand different ones, again and again.
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
