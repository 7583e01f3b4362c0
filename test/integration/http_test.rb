# frozen_string_literal: true

# The server and the client of docs/web.md, over Puma; and what else clients send, byte by byte.
require "test_helper"
require "integration/pages"
require "integration/processes"
require "net/http"

class HttpTest < Minitest::Test
  include Pages
  include Processes

  TYPE = "application/vnd.msgpack"

  def setup
    assert_equal %w[config.ru client.rb], write_files_of("docs/web.md", folder)
    puma = start_command([*ruby, "-S", "puma", "--bind", "tcp://127.0.0.1:0", "config.ru"])
    @url = wait_until { puma.output[%r{Listening on (http://127\.0\.0\.1:\d+)}, 1] }
  end

  def test_the_client_and_the_server_of_the_page_understand_each_other
    client = start_command([{ "URL" => @url }, *ruby, "client.rb"])
    finish(client)
    assert_equal "#{{ "events" => [{ "id" => 1, "tags" => ["new"] }] }.inspect}\n", client.output
  end

  def test_errors_are_responses
    { "\x92\x01\xC1" => "400 0xc1 is not a MessagePack head byte, at byte 2\n",
      "\x91" * 40 => "400 containers are nested too deeply for max_depth, at byte 32\n",
      "\xC0" * 1_048_577 => "413 max_bytes is 1048576, but the body has 1048577\n" }.each do |body, answer|
      response = Net::HTTP.post(URI(@url), body.b, "Content-Type" => TYPE)
      assert_equal answer, "#{response.code} #{response.body}"
    end
  end

  def test_a_chunked_body_is_unpacked_or_refused
    assert_equal ["200", { "events" => [[1, 2]] }], chunked("\x92", "\x01", "\x02")
    assert_equal "413", chunked(*["\xC0" * 100_000] * 11).first
  end

  def test_json_is_the_answer_to_others
    response = Net::HTTP.get_response(URI(@url))
    assert_equal ["200", "application/json", '{"events":[]}'], [response.code, response["content-type"], response.body]
  end

  private

  # Sends the chunks as one body; returns status and body.
  def chunked(*chunks)
    uri = URI(@url)
    request = Net::HTTP::Post.new(uri, "Content-Type" => TYPE, "Accept" => TYPE, "Transfer-Encoding" => "chunked")
    request.body_stream = Chunks.new(chunks)
    response = Net::HTTP.start(uri.host, uri.port) { |http| http.request(request) }
    [response.code, response["content-type"] == TYPE ? Manypack.unpack(response.body) : response.body]
  end

  # An io for Net::HTTP, which makes a chunk of each read.
  class Chunks
    def initialize(chunks)
      @chunks = chunks.map(&:b)
    end

    def readpartial(_size, buffer = +"")
      buffer.replace(@chunks.shift || raise(EOFError))
    end
  end
end
