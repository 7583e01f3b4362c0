# frozen_string_literal: true

# Rails on the drop-in and on the msgpack gem: each reads the messages and the caches that the other one has written.
require "test_helper"
require "integration/processes"

class RailsTest < Minitest::Test
  include Processes

  LIBRARIES = { "MessagePack::Factory" => [], "Manypack::Factory" => %w[-r manypack/drop_in] }.freeze

  LIBRARIES.keys.repeated_permutation(2) do |writer, reader|
    define_method("test_#{reader}_reads_what_#{writer}_wrote") do
      rails(writer, "write")
      rails(reader, "read")
    end
  end

  private

  def rails(library, command)
    program = start_command([*ruby, *LIBRARIES.fetch(library), File.join(__dir__, "rails/messages.rb"), command, folder])
    finish(program)
    assert_equal library, program.output.chomp
  end
end
