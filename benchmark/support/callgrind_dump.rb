# frozen_string_literal: true

# One file of callgrind's: the instructions of one operation of one case, as instructions_child.rb described it.
require "json"

class CallgrindDump
  # @return [String]
  attr_reader :path, :case_id, :operation

  # @return [Integer] values and keys that the operation goes through
  attr_reader :objects

  # @param path [String]
  def initialize(path)
    @path = path
    @text = File.read(path)
    request = @text[/^desc: Trigger: Client Request: (.*)$/, 1]
    @case_id, @operation, @times, @objects = JSON.parse(request) if request
  end

  # @return [Boolean] whether the program asked for it; the last is of the program's end
  def requested?
    !@times.nil?
  end

  # @return [Integer]
  def part
    @text[/^part: (\d+)/, 1].to_i
  end

  # @return [Float] instructions of one operation for each object
  def per_object
    @text[/^(?:summary|totals): (\d+)/, 1].to_f / @times / objects
  end

  # @param library [String] such as "manypack.so"
  # @return [Float] the library's own instructions in it
  def per_object_in(library)
    own_costs(library).to_f / @times / objects
  end

  private

  # A line of costs is the current function's own unless the line before was of a call. Names come once, then numbers.
  def own_costs(library)
    names = {}
    inside = call = false
    @text.each_line.sum do |line|
      called = call
      call = line.start_with?("calls=")
      names[$1] ||= $2 if line =~ /^c?ob=\((\d+)\)(?: (.*))?$/ && $2
      inside = names[$1].to_s.end_with?(library) if line =~ /^ob=\((\d+)\)/
      inside && !called && line =~ /^[-+*\d]\S* (\d+)$/ ? $1.to_i : 0
    end
  end
end
