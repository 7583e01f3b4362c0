# frozen_string_literal: true

# Programs in a process of their own: for what there is one of in a process, and what would disturb other tests.
require "open3"
require "rbconfig"

module ProgramHelper
  LIB = File.expand_path("../../lib", __dir__)

  # What AddressSanitizer may say of an exception that unwinds another stack.
  SANITIZERS_NOTE = /^==\d+==WARNING: ASan is ignoring requested.*?^For details[^\n]*\n/mn

  # What the program prints, without the last newline; it fails the test when it fails or warns. The program has manypack
  # loaded, and value(ractor) for what a Ractor returned. env has environment variables.
  def run_program(program, env = {})
    output_of({ "RUBYOPT" => nil, "RUBYLIB" => nil, "MANYPACK_GC" => nil, **env }, RbConfig.ruby, "-w", "-W:no-experimental",
              "-I", LIB, "-r", "manypack", stdin_data: PRELUDE + program).chomp
  end

  # The warning about this Ruby has a test of its own.
  PRELUDE = <<~'RUBY'
    # encoding: UTF-8
    module Warning
      def self.warn(message, **) = message.include?("#22072") || super
    end
    def value(ractor) = ractor.respond_to?(:value) ? ractor.value : ractor.take
  RUBY

  # What a command prints, as Open3 takes it; it fails the test when it fails. Where Ruby crashed, its report says why
  # first, and ends with a map of the memory that is longer than all the rest.
  def output_of(*command, **options)
    output, status = Open3.capture2e(*command, **options)
    assert_predicate status, :success?, -> { output.scrub[/\A.*?(?=^-- Other runtime information|\z)/m] }
    output.gsub(SANITIZERS_NOTE, "")
  end

  def assert_program(program, expected, env = {})
    assert_equal expected, run_program(program, env)
  end
end
