# frozen_string_literal: true

# What Karafka, WaterDrop and ActiveJob call, without a broker.
require "test_helper"
require "support/program"
require_relative "karafka_root"
require "active_job"
require "bigdecimal"
require "date"
require "manypack/karafka"

ActiveJob::Base.logger = nil

class KarafkaTest < Minitest::Test
  include ProgramHelper

  Message = Struct.new(:raw_payload)
  Point = Struct.new(:x)
  POINTS = Manypack::Factory.new.tap do |factory|
    factory.register_type(1, Point, packer: ->(point) { [point.x].pack("c") }, unpacker: ->(body) { Point.new(body.unpack1("c")) })
  end.codec

  def deserialize(payload, **options)
    Manypack::Karafka::Deserializer.new(**options).call(Message.new(payload))
  end

  def test_a_payload_is_unpacked
    assert_equal({ "id" => 1 }, deserialize("\x81\xA2id\x01"))
  end

  def test_a_tombstone_is_nil
    assert_nil deserialize(nil)
    assert_nil Manypack::Karafka::ActiveJobDeserializer.new.deserialize(Message.new(nil))
    assert_raises(EOFError) { deserialize("") }
  end

  def test_options_are_those_of_unpack
    assert_equal({ id: 1 }, deserialize("\x81\xA2id\x01", symbolize_keys: true))
    assert_predicate deserialize("\x91\x01", freeze: true), :frozen?
    error = assert_raises(Manypack::StackError) { deserialize("\x91" * 40, untrusted: true) }
    assert_equal 32, error.offset
    error = assert_raises(ArgumentError) { deserialize("\xC0", max_byte: 1) }
    assert_match(/max_bytes/, error.message)
  end

  def test_a_codec_brings_ext_types_and_options_and_options_replace_its_own
    assert_equal Point.new(5), deserialize("\xD4\x01\x05", codec: POINTS)
    assert_equal({ id: 1 }, deserialize("\x81\xA2id\x01", codec: Manypack::Codec.new(symbolize_keys: true)))
    assert_equal({ "id" => 1 }, deserialize("\x81\xA2id\x01", codec: Manypack::Codec.new(symbolize_keys: true), symbolize_keys: false))
  end

  Event = Struct.new(:id)
  EVENT = Manypack::Record.new(Event, id: Integer)

  def test_payloads_become_objects_of_a_record_or_views
    bytes = Manypack.pack({ "id" => 7 })
    assert_equal Event.new(7), deserialize(bytes, as: EVENT)
    assert_equal Event.new(7), deserialize(bytes, as: EVENT, untrusted: true)
    assert_equal 7, deserialize(bytes, as: EVENT.lazy).id
    assert_equal 7, deserialize(bytes, as: :view)["id"]
    assert_equal bytes.bytesize, deserialize(bytes, as: Class.new { def self.load(bytes) = bytes.bytesize })
    assert_nil deserialize(nil, as: EVENT)
    assert_equal "$.id", assert_raises(Manypack::RecordError) { deserialize(Manypack.pack({ "id" => "7" }), as: EVENT) }.path
    assert_raises(Manypack::LimitError) { deserialize(bytes, as: EVENT, max_bytes: 2) }
    assert_raises(Manypack::LimitError) { deserialize(bytes, as: :view, max_bytes: 2) }
    assert Ractor.shareable?(Manypack::Karafka::Deserializer.new(as: EVENT, untrusted: true))
  end

  def test_an_object_with_load_takes_the_options_that_unpack_takes
    loader = Class.new { def self.load(bytes) = bytes }
    assert_equal "\x01".b, deserialize("\x01", as: loader, untrusted: true, codec: Manypack::Codec.new)
    assert_raises(Manypack::LimitError) { deserialize("\x92\x01\x02", as: loader, max_bytes: 2) }
    assert_raises(Manypack::LimitError) { deserialize("\x92\x01\x02", as: loader, codec: Manypack::Codec.new(max_bytes: 2)) }
    assert_match(/\Autf8 has no effect on what /, assert_raises(ArgumentError) { Manypack::Karafka::Deserializer.new(as: loader, utf8: :strict) }.message)
    assert_raises(TypeError) { deserialize("", as: 5) }
    assert_raises(TypeError) { deserialize("", as: EVENT, codec: 5) }
    assert_raises(ArgumentError) { deserialize("", as: EVENT, untrust: true) }
  end

  def test_misspelt_options_are_told_what_was_meant_and_a_codec_is_one
    assert_equal "unknown option codex, did you mean codec?", assert_raises(ArgumentError) { Manypack::Karafka::Deserializer.new(codex: 1) }.message
    assert_equal "unknown option codex, did you mean codec?", assert_raises(ArgumentError) { Manypack::Karafka::ActiveJobDeserializer.new(codex: 1) }.message
    assert_equal "wrong argument type Integer (expected Manypack::Codec)", assert_raises(TypeError) { Manypack::Karafka::Deserializer.new(codec: 5) }.message
    assert_equal "wrong argument type Integer (expected Manypack::Codec)", assert_raises(TypeError) { Manypack::Karafka::ActiveJobDeserializer.new(codec: 5) }.message
  end

  def test_types_of_the_default_factory_are_known
    program = <<~RUBY
      Point = Struct.new(:x)
      Manypack::DefaultFactory.register_type(1, Point, packer: ->(point) { "p" }, unpacker: ->(body) { Point.new(body) })
      p Manypack::Karafka::Deserializer.new.call(Struct.new(:raw_payload).new("\\xD4\\x01p")).x
    RUBY
    assert_equal %("p"\n), IO.popen([RbConfig.ruby, "-W0", "-Ilib", "-rmanypack/karafka", "-e", program], &:read)
  end

  def test_deserializers_are_shareable
    deserializer = Manypack::Karafka::Deserializer.new(shareable: true)
    assert Ractor.shareable?(deserializer)
    assert Ractor.shareable?(deserializer.call(Message.new("\x91\x81\xA2id\xA3one")))
  end

  # In a process of its own, because on Ruby 4.0.5 a Ractor can break the class variables of other gems.
  def test_deserializers_work_in_every_ractor_and_errors_keep_their_offset
    assert_program <<~'RUBY', %([[1], nil, ["0xc1 is not a MessagePack head byte, at byte 2", 2]]), ENV.slice("RUBYOPT", "RUBYLIB")
      $VERBOSE = false
      require "manypack/karafka"
      Message = Struct.new(:raw_payload)
      ractor = Ractor.new(Manypack::Karafka::Deserializer.new(untrusted: true, shareable: true)) do |deserializer|
        ["\x91\x01", nil, "\x92\x01\xC1"].map do |payload|
          deserializer.call(Message.new(payload))
        rescue Manypack::DecodeError => error
          [error.message, error.offset]
        end
      end
      p value(ractor)
    RUBY
  end

  # Also when Karafka deserializes a message for a second time, to retry it.
  def test_karafkas_own_messages_are_deserialized_when_asked_for
    assert_equal [{ id: 1 }, true], karafka_message("\x81\xA2id\x01").then { |message| [message.payload, message.deserialized?] }
    assert_nil karafka_message(nil).payload
    poison = karafka_message("\xC1")
    2.times { assert_raises(Manypack::MalformedFormatError) { poison.payload } }
    refute_predicate poison, :deserialized?
  end

  class Job < ActiveJob::Base
    class << self
      attr_accessor :performed
    end

    def perform(*arguments)
      self.class.performed = arguments
    end
  end

  def test_jobs_cross_as_they_were
    deserializer = Manypack::Karafka::ActiveJobDeserializer.new(untrusted: true)
    arguments = [1, "text", { key: [1.5, nil] }, Date.new(2026), BigDecimal("1.5"), :symbol]
    payload = deserializer.serialize(Job.new(*arguments))
    assert_equal Encoding::BINARY, payload.encoding
    ActiveJob::Base.execute(deserializer.deserialize(Message.new(payload)))
    assert_equal arguments, Job.performed
    assert Ractor.shareable?(deserializer)
  end

  private

  def karafka_message(payload)
    deserializers = Struct.new(:payload).new(Manypack::Karafka::Deserializer.new(symbolize_keys: true))
    Karafka::Messages::Message.new(payload, Karafka::Messages::Metadata.new(deserializers: deserializers))
  end
end
