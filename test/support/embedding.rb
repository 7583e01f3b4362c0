# frozen_string_literal: true

# Slots of decoded documents: which ones their objects fall in, and whether they lie in them as a whole.

require "objspace"
require_relative "../support/contender_process"
require_relative "../support/contenders"
require_relative "inputs"

# Which objects of a tree lie in their slot as a whole, and which of them could.
module Embedding
  # An object of so many bytes or places, made at once at its final size: what Ruby then keeps in the slot fits there.
  BUILD = {
    String => ->(size) { "s" * size },
    Array => ->(size) { Array.new(size, 0) },
    Hash => ->(size) { Array.new(size) { |i| [i, i] }.to_h },
    Struct => ->(size) { Struct.new(*Array.new(size) { |i| :"member#{i}" }).new }
  }.freeze

  module_function

  # @param root [Object]
  # @return [Hash{String => Hash{Symbol => Integer}}] by class how many objects there are, fit their slot and lie in it
  def census(root)
    all = {}.compare_by_identity
    collect(root, all)
    fits = Hash.new { |known, (klass, size)| known[[klass, size]] = embedded?(BUILD.fetch(klass).call(size)) }
    all.keys.group_by { |object| BUILD.keys.find { |klass| object.is_a?(klass) } }.except(nil).to_h do |klass, objects|
      fitting = objects.select { |object| fits[[klass, size(object)]] }
      embedded = fitting.count { |object| embedded?(object) }
      [klass.name, { count: objects.size, fitting: fitting.size, embedded: embedded }]
    end
  end

  # @return [Boolean] whether nothing of it is outside of its slot
  def embedded?(object)
    ObjectSpace.memsize_of(object) == slot_size(object)
  end

  # @return [Integer] bytes of the object's slot
  def slot_size(object)
    ObjectSpace.dump(object)[/"slot_size":(\d+)/, 1]&.to_i || GC::INTERNAL_CONSTANTS.fetch(:RVALUE_SIZE)
  end

  # @api private
  def size(object)
    object.is_a?(String) ? object.bytesize : object.size
  end

  # @api private
  def collect(object, all)
    return if all[object]

    all[object] = true unless object.nil?
    case object
    when Array, Struct then object.each { |element| collect(element, all) }
    when Hash then object.each { |pair| pair.each { |element| collect(element, all) } }
    end
  end
end

class Slots
  TITLE = "Decoded documents"

  # @param inputs [Inputs]
  def initialize(inputs)
    @inputs = inputs
  end

  # @return [Hash] rows
  def measure
    rows = Contenders::MEMORY.flat_map do |contender|
      measured = ContenderProcess.once(contender, Work, ["slots", @inputs.file(contender)])
      @inputs.objects.keys.zip(measured).map { |name, row| { document: name, contender: contender.label, **row } }
    end
    { rows: rows }
  end

  # @param result [Hash] of measure
  # @return [Array<Terminal::Table>]
  def tables(result)
    rows = result[:rows]
    sizes = rows.first[:slots].keys
    counts = rows.map { |row| [row[:document], row[:contender], *row[:slots].values, row[:slots].values.sum] }
    shares = rows.map { |row| [row[:document], row[:contender], *CLASSES.map { |name| share(row[:classes][name]) }] }
    [Terminal::Table.new(title: "#{TITLE}: objects by slot size",
                         headings: ["document", "", *sizes, "all"], rows: counts),
     Terminal::Table.new(title: "#{TITLE}: in their slot, of those whose size allows it",
                         headings: ["document", "", *CLASSES], rows: shares)]
  end

  CLASSES = %i[String Array Hash].freeze

  private

  def share(classes)
    return "-" unless classes && classes[:fitting] > 0

    format("%.2f %% of %d", classes[:embedded] * 100.0 / classes[:fitting], classes[:fitting])
  end

  # What the process of a contender answers.
  class Work
    # @param contender [Module] of Contenders
    def initialize(contender)
      @contender = contender
    end

    # @param input [String] path
    # @return [Array<Hash>] for each message its slots, and by class how many there are, could and do sit in their slot
    def slots(input)
      MessagesFile.read(input).map do |message|
        seen = @contender.unpack(message) # keeps its keys alive: those of a server's messages were all seen before
        GC.start
        GC.disable
        before = allocated
        object = @contender.unpack(message)
        slots = allocated.to_h { |size, count| [size, count - before[size]] }
        GC.enable
        seen.clear
        { slots: slots, classes: Embedding.census(object) }
      end
    end

    private

    def allocated
      unless GC.respond_to?(:stat_heap)
        return { GC::INTERNAL_CONSTANTS.fetch(:RVALUE_SIZE) => GC.stat(:total_allocated_objects) }
      end

      GC.stat_heap.to_h { |_, heap| [heap.fetch(:slot_size), heap.fetch(:total_allocated_objects) { 0 }] }
    end
  end
end
