# frozen_string_literal: true

# The examples of the documentation, as programs: `# =>` tells what the expression before it shows, `# raises` which error
# it raises.
module Examples
  ROOT = File.expand_path("../..", __dir__)

  # The line above a file that works together with others: a test of them writes it, see Pages.
  FILE = /\A`(\w+\.\w+)`:\z/

  # Place and lines of each.
  ALL = Dir.glob("{*,docs/*}.md", base: ROOT).sort.flat_map do |path|
    lines = File.readlines(File.join(ROOT, path), chomp: true, encoding: "UTF-8")
    starts = lines.each_index.select { |i| lines[i] == "```ruby" && !lines[i + 1].start_with?("gem ") } # not a Gemfile
    starts.reject! { |i| lines[i - 2].match?(FILE) }
    starts.map { |i| ["#{path}:#{i + 2}", lines.drop(i + 1).take_while { |line| line != "```" }] }
  end.freeze

  # Ruby 3.1 has no Data.
  HERE = ALL.reject { |_, lines| !defined?(Data.define) && lines.grep(/\bData\.define\b/).any? }.freeze

  # Those with a library that Manypack does not depend on are run by `rake test:integration`.
  WITH_A_LIBRARY, ALONE = HERE.partition do |_, lines|
    lines.grep(%r{\Arequire "(?:manypack/)?(.*)"}) { $1 }.any? { |name| %w[active_model active_support faraday karafka rack rails waterdrop].include?(name) }
  end.map(&:freeze)

  # Ruby 3 says take for what has been value since 4.0, and shows Hashes in another way. Files are written in a directory
  # of their own.
  PRELUDE = <<~'RUBY'
    require "tmpdir"
    Dir.chdir(Dir.mktmpdir.tap { |dir| at_exit { Dir.chdir("/") && FileUtils.remove_entry(dir) } })
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

  module_function

  # The program that warns of what is not as the example says.
  def program(place, lines)
    path, first = place.split(":")
    checked = lines.each_with_index.map { |line, i| check("#{path}:#{first.to_i + i}".dump, line) }
    PRELUDE + checked.join("\n")
  end

  def check(place, line)
    case line
    when /\A(.*\S)\s+# => (.*)\z/ then "told(#{place}, (#{$1}), #{$2.dump})"
    when /\A(.*\S)\s+# raises (.*)\z/ then "raised(#{place}, #{$2.dump}) { #{$1} }"
    else line
    end
  end
end
