# frozen_string_literal: true

# Each of these lines has a misspelt option, and Steep has to find it; rake rbs:steep checks that.
bytes = Manypack.pack({ "id" => 1 }, timestamps: true)
Manypack.unpack(bytes, max_byte: 100)
Manypack::Codec.new(untrustd: true).unpack(bytes, freeze: true)
Manypack::Unpacker.new(as: :view, max_byte: 5)
Manypack::Packer.new(timestamps: true)
Manypack::View.new(bytes, check: true).value(symbolise_keys: true)
Manypack.dig(bytes, "id", untrustd: true)
Manypack.foreach("events.msgpack", untrustd: true) { |object| object }
Manypack::Type[Integer].with(untrustd: true).load(bytes, freeze: true)
Manypack::Record.define(id: Integer).load(bytes, colect: true)
Manypack::Parallel.map(bytes, processes: 2, max_byte: 4) { |object| object }
Manypack::Path.new("$.a").first(bytes, max_byte: 5)
Manypack::DefaultFactory.load(bytes, frozen: true)
