# frozen_string_literal: true

# The matrix of options and fronts (test/contract/matrix_test.rb) for the fronts of integrations: each option has its
# effect there, or is refused. The fronts are found by reflection: a new one fails here until it has a row.
require "test_helper"
require "contract/matrix_test"
require "manypack/active_support"
require "manypack/faraday"
require "manypack/karafka"
require "manypack/rack"
require "manypack/rails"
require "manypack/waterdrop"

class OptionsTest < Minitest::Test
  PROBES = MatrixTest::PROBES
  PACKED = MatrixTest::PACKED
  Payload = Struct.new(:raw_payload)
  Job = Struct.new(:serialize)
  Entry = Struct.new(:value, :expires_at, :version)
  NONE = ->(env) { env.fetch("manypack.body") }

  # What is refused as an answer, not by an exception.
  Refused = Class.new(StandardError)

  def self.parsed(bytes, **options)
    body = Manypack::Rack::Parser.new(NONE, **options).call("CONTENT_TYPE" => "application/msgpack", "rack.input" => StringIO.new(bytes))
    body.is_a?(Array) && body.size == 3 ? raise(Refused, body.inspect) : body
  end

  def self.received(bytes, **options)
    env = Faraday::Env.from(status: 200, body: bytes, response_headers: { "Content-Type" => "application/msgpack" })
    Manypack::Faraday::Response.new(**options).on_complete(env)
    env[:body]
  end

  def self.sent(object, **options)
    env = { body: object, request_headers: {} }
    Manypack::Faraday::Request.new(**options).on_request(env)
    env[:body]
  end

  def self.cached(bytes, **options)
    Manypack::ActiveSupport::CacheCoder.new(**options).load("\x93\xC0\xC0".b + bytes).value
  end

  WHOLE = {
    "Rack::Parser" => ->(bytes, **o) { parsed(bytes, **o) },
    "Rails::ParameterParser" => ->(bytes, **o) { Manypack::Rails::ParameterParser.new(**o).call(bytes) },
    "Faraday::Response" => ->(bytes, **o) { received(bytes, **o) },
    "Karafka::Deserializer" => ->(bytes, **o) { Manypack::Karafka::Deserializer.new(**o).call(Payload.new(bytes)) },
    "Karafka::ActiveJobDeserializer" => ->(bytes, **o) { Manypack::Karafka::ActiveJobDeserializer.new(**o).deserialize(Payload.new(bytes)) },
    "ActiveSupport::CacheCoder" => ->(bytes, **o) { cached(bytes, **o) }
  }.freeze
  LOADER = Class.new { def self.load(bytes) = [bytes] }

  # The fronts that take `as:`. Each is tried with each kind of it, too.
  LOADING = WHOLE.slice("Rack::Parser", "Faraday::Response", "Karafka::Deserializer").freeze
  LOADED = LOADING.flat_map do |name, front|
    [["#{name} as: :view", ->(bytes, **o) { front.call(bytes, as: :view, **o).value }], ["#{name} as: a Type", ->(bytes, **o) { front.call(bytes, as: Manypack::Type[Object], **o) }],
     ["#{name} as: a loader", ->(bytes, **o) { front.call(bytes, as: LOADER, **o) }]]
  end.to_h.freeze
  DECODING = { **WHOLE, **LOADED }.freeze
  ENCODING = {
    "Rack::Responder" => ->(object, **o) { Manypack::Rack::Responder.new(**o).call({}, object)[2].join },
    "Faraday::Request" => ->(object, **o) { sent([object], **o) },
    "Karafka::ActiveJobDeserializer" => ->(object, **o) { Manypack::Karafka::ActiveJobDeserializer.new(**o).serialize(Job.new(object)) },
    "WaterDrop::Middleware" => ->(object, **o) { Manypack::WaterDrop::Middleware.new(**o).call({ payload: [object] })[:payload] },
    "ActiveSupport::CacheCoder" => ->(object, **o) { Manypack::ActiveSupport::CacheCoder.new(**o).dump(Entry.new(object)) }
  }.freeze
  BOTH = (DECODING.keys & ENCODING.keys).freeze

  # Where a default says the same, the option says the opposite.
  STRICT = ["Rack::Parser", "Rack::Parser as: :view", "Rack::Parser as: a Type", "Rails::ParameterParser"].freeze
  OPPOSITE = { untrusted: false, utf8: :accept, duplicate_keys: :last }.freeze
  OF_OBJECTS = %i[symbolize_keys freeze shareable allow_unknown_ext timestamp utf8 duplicate_keys].freeze

  # Rails needs plain parameters, and a loader builds what it likes.
  REFUSED = { "Rails::ParameterParser" => %i[symbolize_keys freeze shareable], **LOADED.keys.grep(/loader/).to_h { |name| [name, OF_OBJECTS] } }.freeze

  # In a cache the message is in an array, and several numbers of ext types are taken.
  OTHER_PROBES = { "ActiveSupport::CacheCoder" => { allow_unknown_ext: [true, "\x81\xA1k\xD4\x63a".b], max_depth: [2, "\x81\xA1k\x91\x91\x01".b], max_bytes: [7, "\x81\xA1k\x92\x01\x02".b], max_objects: [6, "\x81\xA1k\x93\x01\x02\x03".b],
                                                    max_array_size: [3, "\x81\xA1k\x94\x01\x02\x03\x04".b] },
                   "Rack::Parser as: a loader" => { untrusted: [false, "\x81\xA1k".b + ("\x91" * 40).b + "\x01".b] } }.freeze

  def test_every_constructor_of_an_integration_has_a_row
    fronts = [Manypack::Rack, Manypack::Rails, Manypack::Faraday, Manypack::Karafka, Manypack::WaterDrop, Manypack::ActiveSupport]
             .flat_map { |mod| PublicMethods.constructors_of(mod) }
    rows = (DECODING.keys + ENCODING.keys).map { |name| "Manypack::#{name[/\A\S+/]}.new" }
    assert_equal fronts.sort, rows.uniq.sort
  end

  DECODING.each do |name, front|
    define_method("test_every_option_of_unpacking_has_its_effect_on_#{name}") do
      PROBES.merge(OTHER_PROBES.fetch(name, {})).each do |option, (value, bytes)|
        value = OPPOSITE.fetch(option, value) if STRICT.include?(name)
        if REFUSED.fetch(name, []).include?(option)
          assert_match(/no effect/, assert_raises(ArgumentError) { front.call(bytes, option => value) }.message)
        else
          refute_equal outcome(front, bytes), outcome(front, bytes, option => value), "#{option} of #{name}"
          assert_equal outcome(front, bytes, option => value), outcome(front, bytes, codec: codec_for(name, option => value)), "codec: with #{option} of #{name}"
        end
      end
    end

    define_method("test_options_that_#{name}_does_not_have_are_refused") do
      assert_raises(ArgumentError) { front.call("\x80", max_byte: 1) }
      assert_raises(TypeError) { front.call("\x80", codec: 5) }
      next if BOTH.include?(name)

      %i[canonical compatibility_mode].each { |option| assert_match(/no effect on unpacking/, assert_raises(ArgumentError) { front.call("\x80", option => true) }.message) }
    end
  end

  # Bytes that are cut, that go on after the object, and that are none.
  WRONG = ["\x92\x01", "\x01\x02", "\x92\x01\xC1", "\xD9\x05a", "\x91" * 200].map(&:b).freeze

  LOADING.each do |name, front|
    define_method("test_#{name}_loads_as_unpack_does") do
      [:view, Manypack::Type[Object], LOADER].each do |as|
        assert_equal MatrixTest.described(Manypack.unpack("\x91\x01".b, as: as)), MatrixTest.described(front.call("\x91\x01".b, as: as))
        WRONG.each do |bytes|
          error = assert_raises(Manypack::DecodeError) { Manypack.unpack(bytes, as: as) }
          mine = assert_raises(Manypack::DecodeError, Refused) { front.call(bytes, as: as, untrusted: false) }
          assert_includes mine.message, error.message, "#{as} #{bytes.inspect}"
        end
      end
      assert_raises(TypeError) { front.call("\x01", as: 5) }
    end
  end

  (WHOLE.keys - LOADING.keys).each do |name|
    define_method("test_#{name}_says_that_it_has_no_use_for_as") do
      [:view, Manypack::Type[Object]].each { |as| assert_match(/\Aas has no effect on /, assert_raises(ArgumentError) { WHOLE[name].call("\x80", as: as) }.message) }
    end
  end

  ENCODING.each do |name, front|
    define_method("test_every_option_of_packing_has_its_effect_on_#{name}") do
      PACKED.each do |option, (value, object)|
        next if name == "ActiveSupport::CacheCoder" && option == :default # cache_coder_test says why it is refused

        unless name == "ActiveSupport::CacheCoder" && option == :timestamp # every object has an ext type there
          refute_equal outcome(front, object), outcome(front, object, option => value), "#{option} of #{name}"
        end
        assert_equal outcome(front, object, option => value), outcome(front, object, codec: codec_for(name, option => value)), option
      end
      next if BOTH.include?(name)

      assert_match(/no effect on packing/, assert_raises(ArgumentError) { front.call(1, max_bytes: 1) }.message)
    end
  end

  # A default fills what nobody has set, and a codec wins over it.
  def test_a_codec_wins_over_the_defaults_of_a_front
    bytes = "\x82\xA1a\x01\xA1a\x02".b
    STRICT.each do |name|
      assert_raises(Refused, Manypack::DecodeError) { DECODING[name].call(bytes) }
      assert_raises(Refused, Manypack::DecodeError) { DECODING[name].call(bytes, codec: Manypack::Codec.new(max_bytes: 100)) }
      assert_equal({ "a" => 2 }, DECODING[name].call(bytes, codec: Manypack::Codec.new(untrusted: false)))
      assert_raises(Refused, Manypack::DecodeError) { DECODING[name].call("\x92\x01\x02".b, codec: Manypack::Codec.new(max_bytes: 2)) }
    end
  end

  # A program may make them before it registers its ext types. The cache has its own types.
  Point = Struct.new(:x)

  def test_fronts_that_got_no_codec_know_the_types_of_the_moment
    pid = fork do
      fronts = { Manypack::Rack::Parser => [NONE], Manypack::Rack::Responder => [], Manypack::Rails::ParameterParser => [], Manypack::Faraday::Request => [],
                 Manypack::Faraday::Response => [], Manypack::Karafka::Deserializer => [], Manypack::Karafka::ActiveJobDeserializer => [], Manypack::WaterDrop::Middleware => [] }
      fronts = fronts.to_h { |klass, arguments| [klass, klass.new(*arguments)] }
      Manypack::DefaultFactory.register_type(99, Point, packer: ->(point) { point.x.chr }, unpacker: ->(body) { Point.new(body.ord) })
      body = "\x81\xA1k\xD4\x63\x05".b
      object = { "k" => Point.new(5) }
      env = Faraday::Env.from(status: 200, body: body, response_headers: { "Content-Type" => "application/msgpack" })
      fronts[Manypack::Faraday::Response].on_complete(env)
      sent = { body: object, request_headers: {} }
      fronts[Manypack::Faraday::Request].on_request(sent)
      read = [env[:body], fronts[Manypack::Rack::Parser].call("CONTENT_TYPE" => "application/msgpack", "rack.input" => StringIO.new(body)), fronts[Manypack::Rails::ParameterParser].call(body),
              fronts[Manypack::Karafka::Deserializer].call(Payload.new(body)), fronts[Manypack::Karafka::ActiveJobDeserializer].deserialize(Payload.new(body))]
      written = [sent[:body], fronts[Manypack::Rack::Responder].call({}, object)[2].join, fronts[Manypack::Karafka::ActiveJobDeserializer].serialize(Job.new(object)), fronts[Manypack::WaterDrop::Middleware].call({ payload: object })[:payload]]
      exit!(read == [object] * 5 && written == [body] * 4 ? 0 : 1)
    end
    assert_predicate Process.wait2(pid)[1], :success?
  end

  private

  # The caches of ActiveSupport have types of their own unless they get a codec.
  def codec_for(name, **options)
    return Manypack::Codec.new(**options) unless name == "ActiveSupport::CacheCoder"

    Manypack::Factory.new.tap { |factory| Manypack::ActiveSupport.register_types(factory) }.codec(**options)
  end

  def outcome(front, argument, **options)
    MatrixTest.described(front.call(argument, **options))
  rescue StandardError => e
    "#{e.class} #{e.message}"
  end
end
