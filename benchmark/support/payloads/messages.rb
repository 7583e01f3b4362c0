# frozen_string_literal: true

# One line of a web server's log, in the shapes msgpack-ruby measures itself with.
module Payloads
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
end
