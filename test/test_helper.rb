# frozen_string_literal: true

# What every test needs: bytes written in hex, assertions about both directions, Ractors, and the GC modes.
#
# MANYPACK_GC=stress   `rake test:gc`: what a core part does inside #exercise runs with a GC at every allocation
# MANYPACK_GC=compact  `rake test:compact`: GC.auto_compact is on from Ruby 3.2 on, and the heap is compacted after every test
#
# A test class whose file should take part in `rake test:gc` includes CorePart and wraps what it does with Manypack
# in #exercise, so that the assertions around it stay fast. The assertions of this helper do so by themselves.

require "minitest/autorun"
require "manypack"

Warning[:experimental] = false

GC_MODE = ENV.fetch("MANYPACK_GC", "none")
abort "MANYPACK_GC is none, stress or compact, not #{GC_MODE}" unless %w[none stress compact].include?(GC_MODE)

# With a GC at every allocation, and under Valgrind, a test takes a hundred times as long: there it tries a few of its
# cases. `rake test:memcheck` says so by MANYPACK_MEMCHECK.
FEW_CASES = GC_MODE == "stress" || ENV.key?("MANYPACK_MEMCHECK")

# Runs the block and returns its value; a core part has a version of it that disturbs the block with the GC.
module Exercise
  def exercise
    yield
  end
end

# In the test classes that `rake test:gc` runs.
module CorePart
  def exercise
    GC.stress = true if GC_MODE == "stress"
    yield
  ensure
    GC.stress = false if GC_MODE == "stress"
  end
end

# Ruby 3.1 aborts ("can't remove str from str_id") when it compacts while it sweeps and a dead Symbol comes after its
# String was moved, whatever is loaded: there the dead are gone before anything moves.
module CompactAfterEveryTest
  AUTOMATIC = RUBY_VERSION >= "3.2"

  def before_setup
    GC.auto_compact = AUTOMATIC
    super
  end

  def after_teardown
    super
    GC.start
    GC.compact
  end
end

# A class without a name is called by its address. Here that is another one at each call, so that a test which compares
# two of them always fails, and not only when the class has moved in between.
module AnotherAddress
  def to_s = super.gsub(/0x\h{16}/) { format("0x%016x", rand(2**48)) }
  alias inspect to_s
end
Module.prepend(AnotherAddress) if GC_MODE == "compact"

# The direction that does not matter to a test, and what several topics assert.
module Messages
  # The TruncatedError that the block raises, or nil.
  def truncated
    yield
    nil
  rescue Manypack::TruncatedError => error
    error
  end

  # Objects that the block allocates once it is warm, and Ruby has made what it makes once for each call site.
  def allocations
    GC.start
    GC.disable
    Array.new(5) do
      before = GC.stat(:total_allocated_objects)
      yield
      GC.stat(:total_allocated_objects) - before
    end.min
  ensure
    GC.enable
  end

  # "93 01 02 03" as a binary String.
  def bytes(hex)
    [hex.delete(" ")].pack("H*")
  end

  def hex(binary)
    binary.unpack1("H*").scan(/../).join(" ")
  end

  def pack(obj, **opts)
    Manypack.pack(obj, **opts)
  end

  def unpack(binary, **opts)
    Manypack.unpack(binary, **opts)
  end

  def assert_packs(expected, obj, **opts)
    packed = exercise { pack(obj, **opts) }
    assert_equal expected, hex(packed)
    assert_equal Encoding::BINARY, packed.encoding
  end

  def assert_unpacks(expected, input, **opts)
    binary = bytes(input)
    actual = exercise { unpack(binary, **opts) }
    expected.nil? ? assert_nil(actual) : assert_equal(expected, actual)
    assert_same expected.class, actual.class
  end

  def assert_round_trips(expected, obj)
    assert_packs expected, obj
    assert_unpacks obj, expected
  end

  def assert_unpack_error(error_class, message, input, **opts)
    binary = bytes(input)
    error = assert_raises(error_class) { exercise { unpack(binary, **opts) } }
    assert_equal message, error.message
    assert_equal message[/at byte (\d+)(?:;|\z)/, 1].to_i, error.offset
    assert_kind_of Manypack::DecodeError, error
    error
  end

  # What our objects say when they refuse a call: a RuntimeError by any mistake in Ruby code would pass for it otherwise.
  REFUSAL = /in use by another call|cannot be used: |already initialized|Factory is not initialized|clear or reset the/

  def assert_refused(words = REFUSAL)
    error = assert_raises(RuntimeError) { yield }
    assert_instance_of RuntimeError, error
    assert_match words, error.message
    error
  end

  # An object that changes while it is packed: ours is an error of packing, Ruby's own words for a Hash stay as they are.
  def assert_refused_while_packed(ours, rubys = nil)
    error = assert_raises(RuntimeError) { yield }
    assert_match Regexp.union(*ours, *rubys), error.message
    assert_instance_of ours.match?(error.message) ? Manypack::EncodeError::RuntimeError : RuntimeError, error
  end

  # error_highlight and did_you_mean add lines of their own to some messages.
  def first_line(error)
    error.message.lines.first.chomp
  end
end

module RactorHelper
  # What the block returns in a Ractor of its own; what it raises there is raised here.
  def in_ractor(*args, &block)
    ractor = Ractor.new(*args, &block)
    ractor.respond_to?(:value) ? ractor.value : ractor.take
  end
end

module Minitest
  class Test
    include Exercise
    include Messages
    include RactorHelper
    include CompactAfterEveryTest if GC_MODE == "compact"
  end
end
