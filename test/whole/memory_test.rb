# frozen_string_literal: true

# How Manypack's objects live in Ruby's memory: inside their slots, known to the collector, gone at once.
require "test_helper"
require "objspace"
require "stringio"
require "support/embedding"
require "support/terminal_classes"
require_relative "../../benchmark/support/payloads"

class MemoryTest < Minitest::Test
  # There is an Outbox where there are no Ractor::Ports.
  OURS = [Manypack::Packer, Manypack::Unpacker, Manypack::Buffer, Manypack::Codec, Manypack::Factory,
          *[:Splitter, :Stop, *(:Outbox unless defined?(Ractor::Port))].map { |name| Manypack::Parallel.const_get(name) },
          Manypack::View, Manypack::Type, Manypack::LazyRecord, Manypack.const_get(:Tally)].freeze

  PAIR = Manypack::Record.new(Struct.new(:a, :b), a: String, b: [Integer])

  # How an object is made, how it comes to hold other objects, and what shows that it still does.
  Ending = Class.new { def readpartial(*) = raise(EOFError, "the end") }
  CASES = {
    "Packer" => [-> { Manypack::Packer.new }, ->(packer) { packer.write(["p" * 300, "q"]) },
                 ->(packer) { packer.to_s == Manypack.pack(["p" * 300, "q"]) }],
    "Packer over an io" => [-> { Manypack::Packer.new(StringIO.new("".b)) }, ->(packer) { packer.write("io") },
                            ->(packer) { packer.flush.buffer.io.string == "\xA2io".b }],
    "Unpacker" => [-> { Manypack::Unpacker.new(symbolize_keys: true) }, ->(unpacker) { unpacker.feed_each("\x92\xA3one\x81\xA1k".b) { raise "whole" } },
                   ->(unpacker) { unpacker.feed("\x05").read == ["one", { k: 5 }] }],
    "Unpacker over an io" => [-> { Manypack::Unpacker.new(StringIO.new("\x01\x92\xA3one\xA3two".b)) }, ->(unpacker) { unpacker.read },
                              ->(unpacker) { unpacker.read == %w[one two] }],
    "Unpacker over an io that ends by an error" => [-> { Manypack::Unpacker.new(Ending.new) }, ->(unpacker) { MemoryTest.error { unpacker.read } },
                                                    ->(unpacker) { MemoryTest.error { unpacker.read }.cause.message == "the end" }],
    "broken Unpacker" => [-> { Manypack::Unpacker.new }, ->(unpacker) { MemoryTest.error { unpacker.feed("\x91\xC1".b).read } },
                          ->(unpacker) { MemoryTest.error { unpacker.read }.offset == 1 }],
    "Buffer" => [-> { Manypack::Buffer.new(write_reference_threshold: 256) }, ->(buffer) { buffer << "short" << "long" * 100 << "short" },
                 ->(buffer) { buffer.read == "short#{"long" * 100}short" }],
    "Factory" => [-> { Manypack::Factory.new }, ->(factory) { factory.register_type(3, Rational, packer: :to_s, unpacker: ->(s) { s.to_r }) },
                  ->(factory) { factory.load(factory.dump(2/3r)) == 2/3r }],
    "Codec" => [-> { Manypack::Factory.new.tap { |f| f.register_type(3, Rational, packer: :to_s, unpacker: ->(s) { s.to_r }) }.codec },
                ->(codec) { codec.dump(1) }, ->(codec) { codec.load(codec.dump(2/3r)) == 2/3r }],
    "Splitter" => [-> { OURS[5].new(Manypack::Codec.new) }, ->(splitter) { splitter.feed("\x92\x01".b).feed("\x02\x93".b) },
                   ->(splitter) { splitter.take(1, 1, false).then { |bytes, from, to| bytes.byteslice(from...to) } == "\x92\x01\x02".b }],
    "Tally" => [-> { OURS.last.new }, ->(tally) { tally.add("\x81\xA1a\x01".b, 0, 4) }, ->(tally) { tally.counts[0][0x81] >= 1 }],
    "Stop" => [-> { OURS[6].new }, ->(stop) { stop.set }, ->(stop) { stop.set? }],
    "Type" => [-> { Manypack::Type[[PAIR], %w[one two], nil] }, ->(type) { type.load(Manypack.pack([{ "a" => "x", "b" => [1] }])) },
               ->(type) { type.load("\xA3one".b) == "one" && type.load(Manypack.pack([{ "a" => "y", "b" => [2] }])).first.b == [2] }],
    "LazyRecord" => [-> { PAIR.lazy.load(Manypack.pack({ "a" => "x" * 300, "b" => [1] })) }, ->(lazy) { lazy.a }, ->(lazy) { lazy.a == "x" * 300 && lazy.b == [1] }],
    "View" => [-> { Manypack::View.new(Manypack.pack({ "a" => ["x" * 600, [1]] })) }, ->(view) { 3.times { view["a"] } },
               ->(view) { view["a"][1][0] == 1 }],
    **(!defined?(Ractor::Port) ? { "Outbox" => [-> { OURS[7].new }, ->(outbox) { outbox.put("o" * 300) }, ->(outbox) { outbox.take.tap { |object| outbox.put(object) } == "o" * 300 }] } : {})
  }.freeze

  # What the block raises.
  def self.error
    yield
    nil
  rescue StandardError => error
    error
  end

  def test_documents_decode_into_their_slots
    documents = Payloads.documents.merge(Payloads.messages).merge("nested" => Array.new(50) { |i| [{ "k" * i => "v" * i * 12 }] * 3 })
    documents.each do |name, document|
      [{}, { freeze: true }, { shareable: true }, { symbolize_keys: true }].each do |options|
        Embedding.census(unpack(pack(document), **options)).each do |klass, counts|
          assert_operator counts[:embedded], :>=, counts[:fitting] * 0.99, "#{klass} of #{name} with #{options}: #{counts}"
        end
      end
    end
  end

  def test_a_packed_message_lies_in_its_slot
    (0..24).each do |i|
      packed = pack("x" * (i * 25))
      assert_equal Embedding.embedded?("x" * packed.bytesize), Embedding.embedded?(packed), "of #{packed.bytesize} bytes"
    end
  end

  def test_an_ext_lies_in_its_slot
    assert Embedding.embedded?(unpack("\xD4\x05a".b, allow_unknown_ext: true))
  end

  def test_a_factory_tells_of_its_types
    factory = Manypack::Factory.new
    sizes = [ObjectSpace.memsize_of(factory)]
    5.times do |i|
      factory.register_type(i, Class.new, packer: :to_s, unpacker: :new)
      sizes << ObjectSpace.memsize_of(factory)
    end
    assert_equal sizes, sizes.uniq.sort
    assert_operator ObjectSpace.memsize_of(factory.dup), :>, sizes.first
  end

  def test_every_struct_of_c_is_looked_at
    names = Dir[File.expand_path("../../ext/manypack/**/*.c", __dir__)].flat_map { |path| File.read(path).scan(/wrap_struct_name = "(Manypack::.*?)"/) }
    names = names.flatten - (defined?(Ractor::Port) ? ["Manypack::Parallel::Outbox"] : [])
    assert_equal names.sort, [*OURS.map(&:name), "Manypack::RactorState", "Manypack::View::Index"].sort # on which see RactorStateTest, ViewMemoryTest
    assert_equal OURS.map(&:name).sort, each_busy.map { |_, object| object.class.ancestors.find(&:name).name }.uniq.sort
  end

  def test_all_have_write_barriers
    protection = /"wb_protected":true/ # which not every Ruby GC reports
    each_busy { |name, object| assert_equal ObjectSpace.dump([]).match?(protection), ObjectSpace.dump(object).match?(protection), name }
  end

  def test_an_old_object_keeps_what_is_young
    objects = CASES.transform_values { |make, _, _| make.call }
    4.times { GC.start }
    objects.each { |name, object| CASES.fetch(name)[1].call(object) }
    GC.verify_internal_consistency # aborts where an old object has a young one without a barrier
    2.times { GC.start(full_mark: false) }
    objects.each { |name, object| assert CASES.fetch(name)[2].call(object), name }
  end

  if GC.respond_to?(:verify_compaction_references)
    def test_moving_everything_leaves_all_of_it_whole
      objects = each_busy.to_h
      GC.verify_compaction_references(toward: :empty, **(RUBY_VERSION < "3.2" ? { double_heap: true } : { expand_heap: true }))
      objects.each { |name, object| assert CASES.fetch(name)[2].call(object), name }
    end
  end

  def test_what_nobody_uses_is_gone_after_one_collection
    GC.start
    before = living
    Thread.new { 200.times { each_busy { nil } } }.join
    GC.start
    assert_operator living, :<, before + 100 # some of 2,600 may be on a stack
  end

  private

  def living
    OURS.sum { |klass| ObjectSpace.each_object(klass).count }
  end

  def each_busy
    return enum_for(:each_busy) unless block_given?

    CASES.each { |name, (make, use, _)| yield name, make.call.tap(&use) }
  end
end
