# frozen_string_literal: true

# What the demo lets you look at: lines of Ruby, each printed, then run, then what came of it. A line whose outcome is
# not what Manypack promises fails the demo.

require "open3"
require "rbconfig"

class DemoLook
  LIB = File.expand_path("../../lib", __dir__)
  LONG = 50 # bytes of a String that is shown whole

  # Ruby 3 says take for what has been value since 4.0.
  VALUE = Ractor.method_defined?(:value) ? "value" : "take"

  # Headings, each with lines of Ruby and what they have to come to: a value, its class, or the class of an error.
  SCENES = {
    "A line of code, and the way back" => [
      ['bytes = Manypack.pack({"id" => 1, "tags" => ["a", nil, 1.5]})', String],
      ["Manypack.unpack(bytes)", { "id" => 1, "tags" => ["a", nil, 1.5] }]
    ],
    "An attack: 635 bytes that announce 127 nested arrays of 4,294,967,295 elements" => [
      ['attack = "\xDD\xFF\xFF\xFF\xFF".b * 127', String],
      ["Manypack.unpack(attack)", Manypack::TruncatedError],
      ["Manypack.unpack(attack, untrusted: true)", Manypack::LimitError],
      ['Manypack.unpack("\x91".b * 1_000_000)', Manypack::StackError]
    ],
    "In place of the msgpack gem, in a process of its own" => [
      [%q(ruby('require "manypack/drop_in"; p MessagePack::Packer')), "Manypack::Packer\n"],
      ["theirs = MessagePack.pack(document) # here it is the msgpack gem", String],
      [%(ours = ruby('require "manypack/drop_in"\nprint MessagePack.pack(MessagePack.load($stdin))', theirs)), String],
      ["ours == theirs", true]
    ],
    "A tree that is born shareable, in a Ractor without a copy" => [
      ["Ractor.shareable?(tree = Manypack.unpack(ours, shareable: true))", true],
      ["Ractor.new(tree) { |given| given.object_id }.#{VALUE} == tree.object_id", true]
    ]
  }.freeze

  # @param screen [DemoScreen]
  # @param document [Object]
  def initialize(screen, document)
    @screen = screen
    @binding = context(document)
  end

  # Prints and runs all lines.
  #
  # @return [Array<String>] those that came to something else than promised
  def run
    SCENES.flat_map do |heading, lines|
      @screen.heading(heading)
      broken = lines.reject { |code, promise| keeps?(code, promise) }
      @screen.blank
      broken.map(&:first)
    end
  end

  private

  def keeps?(code, promise)
    @screen.lines("  >> ", code)
    outcome = evaluate(code)
    @screen.lines(*outcome.is_a?(Exception) ? ["  !! ", tell(outcome), :red] : ["  => ", show(outcome)])
    promise === outcome || promise == outcome
  end

  def evaluate(code)
    @binding.eval(code)
  rescue Errno::EPIPE # nobody looks any more
    raise
  rescue StandardError => error
    error
  end

  def tell(error)
    "#{error.class}: #{error.message.lines.first.chomp}"
  end

  def show(object)
    return object.inspect unless object.is_a?(String) && object.bytesize > LONG

    "#{object.byteslice(0, LONG / 4).inspect}... (#{object.bytesize} bytes)"
  end

  # What the lines see: the document, a process of its own, and their own variables.
  def context(document)
    place = Object.new
    place.define_singleton_method(:ruby) do |program, input = ""|
      Open3.capture2(RbConfig.ruby, "-I", LIB, "-e", program, stdin_data: input, binmode: true).first
    end
    place.instance_eval { binding }
  end
end
