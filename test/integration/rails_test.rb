# frozen_string_literal: true

# Rails on the drop-in and on the msgpack gem: each reads the messages, the cookies and the caches that the other one has
# written.
require "test_helper"
require "integration/rails/programs"

class RailsTest < Minitest::Test
  include RailsPrograms

  LIBRARIES.keys.repeated_permutation(2) do |writer, reader|
    %w[messages cookies].each do |what|
      define_method("test_#{reader}_reads_the_#{what}_that_#{writer}_wrote") do
        rails(writer, what, "write")
        rails(reader, what, "read")
      end
    end
  end

  def test_cookies_survive_another_secret
    rails("Manypack::Factory", "cookies", "write")
    rails("Manypack::Factory", "cookies", "read", { "SECRET" => "new" })
  end
end
