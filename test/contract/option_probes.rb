# frozen_string_literal: true

# A probe of each option of unpacking, and the fronts that take `as:`. Test classes include and extend it.
require "support/in_file"
require "stringio"

module OptionProbes
  include InFile
  extend self

  # For each option of unpacking a value, and bytes under "k" of a message to which it makes a difference.
  VALUES = {
    symbolize_keys: [true, "\x81\xA1a\x01"], freeze: [true, "\xA1a"], shareable: [true, "\x91\xA1a"],
    allow_unknown_ext: [true, "\xD4\x07a"], timestamp: [true, "\xD6\xFF\0\0\0\1"], max_depth: [1, "\x91\x91\x01"],
    max_bytes: [3, "\x92\x01\x02"], max_objects: [3, "\x93\x01\x02\x03"], max_map_size: [1, "\x82\x01\x02\x03\x04"],
    max_array_size: [1, "\x92\x01\x02"], max_string_bytes: [2, "\xA3abc"], max_ext_bytes: [1, "\xD5\x07ab"],
    utf8: [:strict, "\xA1\xFF"], duplicate_keys: [:error, "\x82\xA1a\x01\xA1a\x02"], untrusted: [true, "\x91" * 40 + "\x01"]
  }.transform_values { |value, inner| [value, inner.b] }.freeze

  # The same with the whole message.
  PROBES = VALUES.transform_values { |value, inner| [value, "\x81\xA1k".b + inner] }.freeze

  Held = Struct.new(:k)
  HELD = Manypack::Record.new(Held, k: Object)
  ANY = Manypack::Type[Object]
  CODEC = Manypack::Codec.new

  Event = Manypack::Record.define(k: Object)

  # What loads the messages of a stream, and the ways to say so.
  LOADERS = { "a Type" => ANY, "a Record" => HELD, "a class that has a Record" => Event }.freeze
  STREAMS = {
    "split" => ->(bytes, **o) { Manypack.split(bytes, **o).first },
    "split of an io" => ->(bytes, **o) { Manypack.split(StringIO.new(bytes), **o).first },
    "foreach" => ->(bytes, **o) { in_file(bytes) { |path| Manypack.foreach(path, **o).first } },
    "Codec#foreach" => ->(bytes, codec: CODEC, **o) { in_file(bytes) { |path| codec.foreach(path, **o).first } },
    "Unpacker.open" => ->(bytes, **o) { in_file(bytes) { |path| Manypack::Unpacker.open(path, **o, &:read) } },
    "Unpacker.new of an io" => ->(bytes, **o) { Manypack::Unpacker.new(StringIO.new(bytes), **o).read },
    "Unpacker.new" => ->(bytes, **o) { Manypack::Unpacker.new(**o).feed(bytes).read },
    "Codec#unpacker" => ->(bytes, as:, **o) { Manypack::Codec.new(**o).unpacker(nil, as: as).feed(bytes).read },
    "Factory#unpacker" => ->(bytes, codec: Manypack::Codec.new, **o) { Manypack::Factory.new.unpacker(**codec.options, **o).feed(bytes).read },
    "Parallel.map" => ->(bytes, **o) { Manypack::Parallel.map(bytes, ractors: 0, **o, &:itself).first },
    "Parallel.each" => ->(bytes, **o) { Manypack::Parallel.each(bytes, ractors: 0, **o).first }
  }.freeze

  # Fronts that read one object.
  SINGLE = {
    "View#as" => ->(bytes, as:, **o) { Manypack::View.new(bytes, **o).as(as) },
    "unpack" => ->(bytes, **o) { Manypack.unpack(bytes, **o) },
    "load" => ->(bytes, **o) { Manypack.load(bytes, **o) },
    "unpack of an io" => ->(bytes, **o) { Manypack.unpack(StringIO.new(bytes), **o) },
    "load_file" => ->(bytes, **o) { in_file(bytes) { |path| Manypack.load_file(path, **o) } },
    "Codec#unpack" => ->(bytes, as:, codec: CODEC, **o) { codec.unpack(bytes, as: as, **o) },
    "Codec#load of an io" => ->(bytes, as:, codec: CODEC, **o) { codec.load(StringIO.new(bytes), as: as, **o) },
    "Factory#load" => ->(bytes, as:, codec: Manypack::Codec.new, **o) { Manypack::Factory.new.load(bytes, as: as, **codec.options, **o) },
    "Factory::Pool#load" => ->(bytes, as:, codec: Manypack::Codec.new, **o) { Manypack::Factory.new.pool(1, **codec.options, **o).load(bytes, as: as) }
  }.freeze

  # What an option may change about an object, as text.
  def described(object)
    object = object.value if object.is_a?(Manypack::View)
    inner = object.is_a?(Hash) ? object.values.first : object
    "#{object.inspect} #{object.frozen?} #{Ractor.shareable?(object)} #{inner.frozen?}"
  end

  # A stream adds where the message begins, and finds some faults before it loads the message.
  def without_place(outcome)
    outcome.sub(/,? in the message at byte 0/, "").sub(/,? at \$[^,]*(?=,|\z)/, "").sub(/, at byte \d+.*/m, "").sub(/\(.*/m, "").sub(/at least \d+ bytes/, "more")
  end

  def outcome(front, argument, **options)
    described(front.call(argument, **options))
  rescue StandardError => e
    "#{e.class} #{e.message.sub(%r{(?<=\A|\s)/\S*/manypack\d\S*: }, "")}" # without the name of a file
  end
end
