# frozen_string_literal: true

# Which objects of a tree lie in their slot as a whole, and which of them could.

require "objspace"

module Embedding
  # By class: makes an object of that many bytes or elements at its final size. If Ruby keeps it in its slot, a decoded
  # object of that size fits its slot, too.
  BUILD = {
    String => ->(size) { "s" * size },
    Array => ->(size) { Array.new(size, 0) },
    Hash => ->(size) { Array.new(size) { |i| [i, i] }.to_h },
    Struct => ->(size) { Struct.new(*Array.new(size) { |i| :"member#{i}" }).new }
  }.freeze

  module_function

  # Returns for each class how many objects there are (:count), fit their slot (:fitting) and lie in it (:embedded).
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

  # Returns whether nothing of it is outside of its slot.
  def embedded?(object)
    ObjectSpace.memsize_of(object) == slot_size(object)
  end

  # Returns the bytes of the object's slot.
  def slot_size(object)
    ObjectSpace.dump(object)[/"slot_size":(\d+)/, 1]&.to_i || GC::INTERNAL_CONSTANTS.fetch(:RVALUE_SIZE)
  end

  def size(object)
    object.is_a?(String) ? object.bytesize : object.size
  end

  def collect(object, all)
    return if all[object]

    all[object] = true unless object.nil?
    case object
    when Array, Struct then object.each { |element| collect(element, all) }
    when Hash then object.each { |pair| pair.each { |element| collect(element, all) } }
    end
  end
end
