# frozen_string_literal: true

# Every example of the documentation, as a program of its own. `# =>` tells what the expression before it shows, `# raises`
# which error it raises.
require "test_helper"
require "support/program"

class DocsTest < Minitest::Test
  include ProgramHelper

  ROOT = File.expand_path("..", __dir__)
  EXAMPLES = Dir.glob("{*,docs/*}.md", base: ROOT).sort.flat_map do |path|
    lines = File.readlines(File.join(ROOT, path), chomp: true, encoding: "UTF-8")
    starts = lines.each_index.select { |i| lines[i] == "```ruby" && !lines[i + 1].start_with?("gem ") } # not a Gemfile
    starts.map { |i| ["#{path}:#{i + 2}", lines.drop(i + 1).take_while { |line| line != "```" }] }
  end.freeze

  # Ruby 3 says take for what has been value since 4.0, and shows Hashes in another way.
  PRELUDE = <<~'RUBY'
    class Ractor
      alias value take unless method_defined?(:value)
    end
    def raised(place, expected)
      shown = "nothing"
      yield
    rescue Exception => error
      shown = "#{error.class.name.split("::").last}: #{error.message.lines.first.chomp.tr("`", "'")}"
    ensure
      parts = expected.split("...", -1).map { |part| Regexp.escape(part) }
      warn("#{place}: #{shown} is raised, not #{expected}") unless shown.match?(/\A#{parts.join(".*")}\z/)
    end
    def told(place, value, expected)
      shown = value.inspect.gsub(/:(\w+)=>/, '\1: ').gsub('"=>', '" => ')
      same = shown == expected || (value.is_a?(String) && value.b == eval(expected).b)
      warn("#{place}: #{shown}, not #{expected}") unless same
    end
  RUBY

  def test_there_are_examples
    assert_operator EXAMPLES.size, :>, 5
  end

  EXAMPLES.each do |place, lines|
    define_method("test_the_example_at_#{place}") do
      assert_program "#{PRELUDE}#{program(place, lines)}", ""
    end
  end

  private

  def program(place, lines)
    path, first = place.split(":")
    lines.each_with_index.map { |line, i| checked("#{path}:#{first.to_i + i}".dump, line) }.join("\n")
  end

  def checked(place, line)
    case line
    when /\A(.*\S)\s+# => (.*)\z/ then "told(#{place}, (#{$1}), #{$2.dump})"
    when /\A(.*\S)\s+# raises (.*)\z/ then "raised(#{place}, #{$2.dump}) { #{$1} }"
    else line
    end
  end
end
