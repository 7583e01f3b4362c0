# frozen_string_literal: true

# For redefined_test.rb, with the msgpack gem or the drop-in: redefines one method in one way, each time in a process of
# its own, and prints which of the calls below reach it, and what they return.
require "json"
require "stringio"

NOTED = [] # rubocop:disable Style/MutableConstant
METHODS = {
  MessagePack::Packer => %i[write pack full_pack reset flush to_s write_nil write_true write_string write_array write_hash write_int],
  MessagePack::Unpacker => %i[full_unpack read unpack feed feed_reference reset each],
  MessagePack::Factory => %i[packer unpacker dump load pack unpack pool]
}.freeze

def noting(name) = Module.new { define_method(name) { |*arguments, &block| NOTED << name && super(*arguments, &block) } }

def redefine(klass, name)
  original = klass.instance_method(name)
  klass.define_method(name) { |*arguments, &block| NOTED << name && original.bind_call(self, *arguments, &block) }
end

def alias_and_redefine(klass, name)
  klass.alias_method(:"original_#{name}", name)
  klass.define_method(name) { |*arguments, &block| NOTED << name && __send__(:"original_#{name}", *arguments, &block) }
end

WAYS = {
  prepended: ->(klass, name) { klass.prepend(noting(name)) },
  prepended_before_its_method: ->(klass, name) { klass.prepend(made = Module.new) && MessagePack.pack(1) && redefine_in(made, name) },
  included: ->(klass, name) { klass.include(noting(name)) },
  defined: method(:redefine),
  aliased: method(:alias_and_redefine),
  undefined: ->(klass, name) { klass.undef_method(name) },
  defined_and_restored: lambda do |klass, name|
    original = klass.instance_method(name)
    redefine(klass, name)
    klass.define_method(name, original)
  end,
  of_a_subclass: ->(klass, name) { Class.new(klass).prepend(noting(name)) },
  another_method: ->(klass, _) { klass.define_method(:another) { NOTED << :another } }
}.freeze

def redefine_in(made, name) = made.define_method(name) { |*arguments, &block| NOTED << name && super(*arguments, &block) }

# Ways with one object, each given DefaultFactory or a Factory: returns the one to use.
OBJECT_WAYS = {
  extended: ->(factory, name) { factory.extend(noting(name)) },
  defined_on_it: ->(factory, name) { factory.define_singleton_method(name) { |*arguments| NOTED << name && super(*arguments) } },
  singleton_prepended: ->(factory, name) { factory.tap { factory.singleton_class.prepend(noting(name)) } },
  other: ->(_, _) { MessagePack::Factory.new.tap { |other| other.register_type(7, Range, packer: ->(_) { "other" }, unpacker: ->(_) { :other }) } },
  subclass: ->(_, name) { Class.new(MessagePack::Factory).prepend(noting(name)).new },
  stubbed_object: ->(_, name) { Class.new { define_method(name) { |*arguments| NOTED << arguments.size && MessagePack::Factory.new.public_send(name, *arguments) } }.new }
}.freeze
DEFAULT_WAYS = {
  in_place: ->(factory) { factory },
  assigned: ->(factory) { without_warnings { MessagePack.module_eval("DefaultFactory = $factory", __FILE__, __LINE__) } if $factory = factory },
  set: ->(factory) { MessagePack.__send__(:remove_const, :DefaultFactory) && MessagePack.const_set(:DefaultFactory, factory) },
  set_and_restored: lambda do |factory|
    was = MessagePack.__send__(:remove_const, :DefaultFactory)
    MessagePack.const_set(:DefaultFactory, factory)
    MessagePack.pack(1) rescue nil # rubocop:disable Style/RescueModifier
    MessagePack.__send__(:remove_const, :DefaultFactory)
    MessagePack.const_set(:DefaultFactory, was)
    NOTED.clear
  end,
  removed: ->(_) { MessagePack.__send__(:remove_const, :DefaultFactory) }
}.freeze

def without_warnings
  verbose, $VERBOSE = $VERBOSE, nil
  yield
ensure
  $VERBOSE = verbose
end

class Custom
  def to_msgpack(packer = nil) = packer.class == MessagePack::Packer ? packer.write_array_header(2).write(1).write("x") : MessagePack.pack(self, packer)
end

def written
  io = StringIO.new
  [yield(io), io.string]
end

# What a program calls, with a Factory and Pools of its own.
def calls(factory, pools = pools_of(factory))
  nested = { "a" => [nil, true, Custom.new] }
  values = [nil, true, false, 1, 1.5, "text", :name, [1, "a"], nested, MessagePack::ExtensionValue.new(5, "body"), Custom.new]
  {
    pack: -> { MessagePack.pack(nested) }, dump: -> { MessagePack.dump(1) }, pack_options: -> { MessagePack.pack("a" * 40, compatibility_mode: true) },
    pack_io: -> { written { |io| MessagePack.pack(nested, io) } }, pack_both: -> { written { |io| MessagePack.pack(1, io, { compatibility_mode: true }) } },
    pack_range: -> { MessagePack.pack(1..2) }, load: -> { MessagePack.load("\x92\x01\x02") }, unpack: -> { MessagePack.unpack("\x81\xA1a\x01", symbolize_keys: true) },
    load_ext: -> { MessagePack.load("\xC7\x01\x07x".b, allow_unknown_ext: true).type },
    load_io: -> { MessagePack.load(StringIO.new("\x01")) }, load_io_options: -> { MessagePack.load(StringIO.new("\x81\xA1a\x01"), symbolize_keys: true) },
    load_cut: -> { MessagePack.load("\x92\x01") }, load_more: -> { MessagePack.load("\x01\x02") }, load_nil: -> { MessagePack.load(nil) },
    default_dump: -> { MessagePack::DefaultFactory.dump(nested) }, default_load: -> { MessagePack::DefaultFactory.load("\x01") },
    dump_of_factory: -> { factory.dump(nested) }, pack_of_factory: -> { factory.pack(1, nil, { compatibility_mode: true }) },
    io_of_factory: -> { written { |io| factory.dump(1, io) } }, load_of_factory: -> { factory.load("\x81\xA1a\x01", { symbolize_keys: true }) },
    unpack_of_factory: -> { factory.unpack("\x01") }, load_io_of_factory: -> { factory.load(StringIO.new("\x01")) },
    packer_of_factory: -> { factory.packer.write(nested).to_s }, unpacker_of_factory: -> { factory.unpacker.feed("\x01").read },
    new_packer: -> { MessagePack::Packer.new.pack(nested).full_pack }, new_unpacker: -> { MessagePack::Unpacker.new.feed_each("\x01") { |one| NOTED << one } },
    pool_of_default: -> { MessagePack::DefaultFactory.pool.dump(1) }, pool_of_factory: -> { factory.pool(1, symbolize_keys: true).load("\x81\xA1a\x01") },
    **CALLS_OF_POOLS.to_h { |name, call| [name, -> { call.call(pools.shift) }] },
    **values.flat_map { |value| calls_of_value(value) }.to_h
  }
end

# For one Pool each: those of the msgpack gem keep what they have made.
CALLS_OF_POOLS = {
  pool_dump: ->(pool) { pool.dump({ "a" => 1 }) }, pool_load: ->(pool) { pool.load("\x81\xA1a\x01") },
  pool_packer: ->(pool) { pool.packer { |packer| packer.write(1).full_pack } },
  pool_unpacker: ->(pool) { pool.unpacker { |unpacker| unpacker.feed("\x01").full_unpack } }
}.freeze

def calls_of_value(value)
  name = value.class.name.split("::").last
  [["#{name}_alone", -> { value.to_msgpack }], ["#{name}_io", -> { written { |io| value.to_msgpack(io) } }],
   ["#{name}_packer", -> { value.to_msgpack(MessagePack::Packer.new).to_s }]]
end

def outcomes(calls)
  calls.transform_values do |call|
    NOTED.clear
    result = begin
      call.call
    rescue StandardError => e
      e.class.name.delete_prefix("Manypack::").delete_prefix("MessagePack::")
    end
    [result.inspect, NOTED.dup]
  end
end

def pools_of(factory) = Array.new(CALLS_OF_POOLS.size) { factory.pool(2) }

def in_a_process
  IO.popen("-") do |pipe|
    return JSON.parse(pipe.read) if pipe

    puts JSON.generate(yield)
  end
end

results = METHODS.flat_map do |klass, names|
  names.product(WAYS.to_a).map do |name, (way, redefine)|
    done = in_a_process do
      factory = MessagePack::Factory.new
      pools = pools_of(factory)
      redefine.call(klass, name)
      outcomes(calls(factory, pools))
    end
    ["#{klass}##{name} #{way}", done]
  end
end

results += %i[packer unpacker dump load].product(OBJECT_WAYS.to_a, DEFAULT_WAYS.to_a).map do |name, (way, redefine), (place, put)|
  done = in_a_process do
    default = MessagePack::DefaultFactory
    put.call(redefine.call(default, name))
    factory = redefine.call(MessagePack::Factory.new, name)
    outcomes(calls(factory, factory.is_a?(MessagePack::Factory) ? pools_of(factory) : []))
  end
  ["#{name} #{way} #{place}", done]
end

puts JSON.generate(results.to_h)
