# frozen_string_literal: true

# Steep finds nothing wrong here; rake rbs:steep checks that. misspelt.rb has each of these calls with a mistake.
bytes = Manypack.pack({ "id" => 1 }, timestamp: true)
Manypack.unpack(bytes, max_bytes: 100)
Manypack::Codec.new(untrusted: true).unpack(bytes, freeze: true)
Manypack::Unpacker.new(as: :view, max_bytes: 5)
Manypack::Packer.new(timestamp: true)
Manypack::View.new(bytes, check: true).value(symbolize_keys: true)
Manypack.dig(bytes, "id", untrusted: true)
Manypack.foreach("events.msgpack", untrusted: true) { |object| object }
Manypack::Type[Integer].with(untrusted: true).load(bytes, freeze: true)
Manypack::Record.define(id: Integer).load(bytes, collect: true)
Manypack::Parallel.map(bytes, processes: 2, max_bytes: 4) { |object| object }
Manypack::Path.new("$.a").first(bytes, max_bytes: 5)
Manypack::DefaultFactory.load(bytes, freeze: true)
