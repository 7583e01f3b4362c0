# frozen_string_literal: true

# Messages as services send them: one, and many in a row.

require "tempfile"
require_relative "twitter"

module Payloads
  # One line of a web server's log, in the shapes msgpack-ruby measures itself with.
  module Messages
    AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Firefox/115.0"

    # The whole line as one long String.
    def self.plain(random)
      line = structured(random)
      text = format('%<host>s - %<user>s [%<time>s] "%<method>s %<path>s HTTP/1.1" ' \
                    '%<code>d %<size>d "%<referer>s" "%<agent>s"', **line.transform_keys(&:to_sym))
      { "message" => text }
    end

    # The line as eleven fields.
    def self.structured(random)
      {
        "host" => Array.new(4) { random.rand(1..254) }.join("."), "user" => "-", "time" => "21/Aug/2012:05:14:33 +0000",
        "method" => "GET", "path" => "/articles/#{random.rand(10_000)}?page=#{random.rand(9)}", "code" => 200,
        "size" => random.rand(100_000), "referer" => "http://search.example/?q=districts+by+the+river",
        "agent" => AGENT, "pid" => random.rand(32_768), "took_us" => random.rand(2_000_000)
      }
    end

    def self.integer(random)
      random.rand(1 << 40)
    end
  end

  # Many messages in a row: a thousand different ones, again and again.
  class Stream
    include Enumerable

    DIFFERENT = 1_000

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

    # count:: a multiple of a thousand
    def self.build(random, kind, count)
      new(KINDS.fetch(kind).call(random), count)
    end

    def initialize(messages, count)
      @messages = messages
      @count = count
    end

    def each(&block)
      (count / DIFFERENT).times { @messages.each(&block) }
    end

    # Returns a shorter Stream.
    def first(count)
      self.class.new(@messages, count)
    end

    # Returns the messages as the contender packs them.
    def bytes(contender)
      @messages.map { |message| contender.pack(message) }.join * (count / DIFFERENT)
    end

    # Returns the path of a file with them, which is there as long as the Stream.
    def file(contender)
      @files ||= []
      @files << Tempfile.new("stream")
      File.binwrite(@files.last.path, bytes(contender))
      @files.last.path
    end
  end
end
