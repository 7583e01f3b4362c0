# frozen_string_literal: true

# What tests of faults do with Manypack while something fails: every kind of call, and every kind of object at work.
require "json"
require "stringio"
require "manypack"

module Operations
  TREE = { "list" => Array.new(70) { |i| "#{"x" * 150} #{i}" }, "rows" => Array.new(6) { |i| { "id" => i, "at" => "a" * i } },
           "k" * 300 => [1.5, 2**63, "b".b * 2_000, -1, nil, 20.times.inject(1) { |inner, _| [inner] }] }.freeze
  OBJECTS = [[1, "first"], TREE, { "last" => [2, "y" * 90] }].freeze
  MESSAGES = OBJECTS.map { |object| Manypack.pack(object).freeze }.freeze
  BYTES = MESSAGES.join.freeze
  WHOLE = Array.new(MESSAGES.size + 1) { |i| MESSAGES.take(i).join }.freeze
  Row = Struct.new(:list, :rows)
  RECORD = Manypack::Record.new(Row, list: [String], rows: [Hash])
  FACTORY = Manypack::Factory.new.tap do |factory|
    pack = ->(rational, packer) { packer.write([rational.numerator, "z" * 400, rational.denominator]) }
    unpack = ->(unpacker) { unpacker.read.then { |numerator, _, denominator| Rational(numerator, denominator) } }
    factory.register_type(1, Rational, packer: pack, unpacker: unpack, recursive: true)
  end
  RATIONALS = [1r, ["q" * 300, 2r], 3r].freeze

  # What needs nothing but itself gives the same value when it is called again.
  CALLS = {
    "pack" => -> { Manypack.pack(TREE) },
    "unpack" => -> { Manypack.unpack(MESSAGES[1]) },
    "unpack frozen" => -> { Manypack.unpack(MESSAGES[1], shareable: true, symbolize_keys: true) },
    "canonicalize" => -> { Manypack.canonicalize(MESSAGES[1]) },
    "recursive ext" => -> { FACTORY.load(FACTORY.dump(RATIONALS)) },
    "Codec.new" => -> { Manypack::Codec.new(max_objects: 5_000).unpack(MESSAGES[0]) },
    "Factory#register_type" => lambda do
      factory = Manypack::Factory.new
      factory.register_type(2, Complex, packer: :to_s, unpacker: :Complex)
      factory.load(factory.dump(1i))
    end,
    "View" => -> { Manypack::View.new(MESSAGES[1]).then { |view| [view["rows"][3]["id"], view["list"].to_a, view.to_h.size] } },
    "checked View" => -> { Manypack::View.new(MESSAGES[1], check: true).dig("rows", 5, "at") },
    "Path.new" => -> { Manypack::Path.new("$.rows[?@.id > 2].at").to_a(MESSAGES[1]) },
    "Path.all" => -> { Manypack::Path.all(ids: "$.rows[*].id", last: "$.list[-1]").read(MESSAGES[1]) },
    "splice" => lambda do
      Manypack::View.new(MESSAGES[1]).splice("rows[2].id" => TREE, "list" => Manypack::View::REMOVED).bytes
    end,
    "Record.new" => -> { Manypack::Record.new(Row, list: [String], rows: Array).members },
    "Record#load" => -> { RECORD.load(MESSAGES[1]) },
    "Record#dump" => -> { RECORD.dump(Row.new(TREE["list"], TREE["rows"])) },
    "lazy Record" => -> { RECORD.lazy.load(MESSAGES[1]).then { |row| [row.list, row.rows] } },
    "a refusal" => -> { Manypack.unpack(MESSAGES[1][0, 9_000]) rescue $!.message }, # rubocop:disable Style/RescueModifier
    "split" => -> { Manypack.split(StringIO.new(BYTES)).to_a },
    "JSON text" => -> { Manypack::View.new(MESSAGES[0]).to_json },
    "Parallel" => -> { Manypack::Parallel.map(BYTES, processes: 1) { |object| object.size } },
    "Parallel in no process" => -> { Manypack::Parallel.map(BYTES, ractors: 0) { |object| object.size } }
  }.freeze

  # [what makes an object, what works with it, what it must be good for afterwards, and the values that prove it]
  OBJECTS_AT_WORK = {
    "Packer" => [-> { Manypack::Packer.new }, ->(packer) { OBJECTS.each { |object| packer.write(object) } },
                 ->(packer) { packer.to_s }, WHOLE],
    "Packer over an io" => [-> { [Manypack::Packer.new(io = StringIO.new(+"".b)), io] },
                            ->((packer, _)) { OBJECTS.each { |object| packer.write(object).flush } },
                            ->((packer, io)) { flush_or_reset(packer) && io.string }, WHOLE],
    "Unpacker" => [-> { Manypack::Unpacker.new }, ->(unpacker) { BYTES.scan(/.{1,700}/mn) { |piece| unpacker.feed(piece).each { nil } } },
                   ->(unpacker) { unpacker.reset || unpacker.feed(BYTES).each.to_a }, [OBJECTS]],
    "Unpacker over an io" => [-> { Manypack::Unpacker.new(StringIO.new(BYTES)) }, ->(unpacker) { unpacker.each { nil } },
                              ->(unpacker) { unpacker.reset || unpacker.feed(BYTES).each.to_a.last(3) }, [OBJECTS]],
    "Buffer" => [-> { Manypack::Buffer.new }, ->(buffer) { MESSAGES.each { |bytes| buffer << bytes } }, ->(buffer) { buffer.to_s }, WHOLE],
    "Pool" => [-> { FACTORY.pool }, ->(pool) { RATIONALS.each { |object| pool.load(pool.dump(object)) } },
               ->(pool) { pool.load(pool.dump(RATIONALS)) }, [RATIONALS]]
  }.freeze

  NAMES = [*CALLS.keys, *OBJECTS_AT_WORK.keys].freeze

  # A Packer does not know how much an io has taken whose write was interrupted, and refuses until it is reset.
  def self.flush_or_reset(packer)
    packer.flush
  rescue RuntimeError => error
    raise unless error.message.include?("clear or reset the Packer")

    packer.reset || packer
  end

  # Returns what makes an object, works with it and uses it afterwards, and the values that the use may return.
  def self.of(name)
    call = CALLS[name] or return OBJECTS_AT_WORK.fetch(name)
    [-> { nil }, ->(_) { call.call }, ->(_) { call.call }, [call.call]]
  end
end
