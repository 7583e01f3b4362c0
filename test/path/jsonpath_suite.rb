# frozen_string_literal: true

# Runs the public compliance suite of JSONPath (RFC 9535), whose file is the argument, and prints the cases that are wrong.
require "json"
require "manypack"

# One case of the suite.
class Case
  def initialize(description)
    @description = description
    @selector = description["selector"]
  end

  # Returns nil if the case is right, else what is wrong.
  def fault
    path = Manypack::Path.new(@selector, dynamic_patterns: true)
    return "is taken, but invalid" if @description["invalid_selector"]

    bytes = Manypack.pack(@description["document"])
    unexpected("result", path.to_a(bytes).map { |value| value.is_a?(Manypack::View) ? value.value : value }) ||
      unexpected("result_paths", path.paths(bytes))
  rescue ArgumentError => e
    "is refused: #{e.message}" unless @description["invalid_selector"]
  end

  def to_s
    "#{@description["name"]}: #{@selector.inspect}"
  end

  private

  # The suite has several results where the order of members is open: "results", "results_paths".
  def unexpected(name, found)
    allowed = @description[name.sub("result", "results")] || [@description[name]]
    "finds #{found.inspect}, not #{allowed.map(&:inspect).join(" or ")}" unless allowed.include?(found)
  end
end

cases = JSON.parse(File.read(ARGV.fetch(0), encoding: "UTF-8")).fetch("tests").map { |description| Case.new(description) }
faults = cases.to_h { |one| [one, one.fault] }.compact
faults.each { |one, fault| puts "#{one} #{fault}" }
puts "#{cases.size - faults.size} of #{cases.size} cases are right"
exit faults.empty?
