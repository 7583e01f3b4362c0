# frozen_string_literal: true

# Runs the programs of this folder with the drop-in and with the msgpack gem.
require "integration/processes"

module RailsPrograms
  include Processes

  LIBRARIES = { "MessagePack::Factory" => [], "Manypack::Factory" => %w[-r manypack/drop_in] }.freeze

  private

  def rails(library, what, command, environment = {})
    program = start_command([environment, *ruby, *LIBRARIES.fetch(library), File.join(__dir__, "#{what}.rb"), command, folder])
    finish(program)
    assert_equal library, program.output.chomp
  end
end
