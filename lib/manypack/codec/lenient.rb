# frozen_string_literal: true

#--
# Makes two of each class that the msgpack gem has, too. It comes after the files that define their methods.
#++
module Manypack
  # The drop-in gives these classes the name MessagePack: they take whatever the msgpack gem takes, and ignore what it
  # ignores. Manypack's own name means a subclass of each, which has no methods of its own, and is strict. So to a
  # program that says Manypack it does not matter whether some gem has loaded the drop-in, and each of its Packers
  # is_a?(MessagePack::Packer) all the same.
  module Lenient # :nodoc:
    NAMES = %i[Buffer Factory Packer Unpacker].freeze

    # Returns the options of a method that only Manypack has, called by the name MessagePack: its Codec hands out
    # MessagePack's classes. What +as+ loads has a Codec of its own.
    def self.options(options)
      return options unless options[:as].nil? || options[:as] == :view

      codec = options[:codec]
      { **options, codec: Internal.codec_of_gem(codec.nil? ? DefaultFactory.codec : codec) }
    end
  end
  private_constant :Lenient

  Lenient::NAMES.each do |name|
    lenient = Lenient.const_set(name, remove_const(name)).include(Unwritable)
    const_set(name, Internal.stand_in(lenient, Class.new(lenient)))
  end
  Factory.const_set(:Pool, Class.new(Lenient::Factory::Pool))

  # The Factory whose types Manypack.pack and Manypack.unpack use in every Ractor. Register types on it when the program
  # starts, in the main Ractor.
  DefaultFactory = Internal.default_factory(Factory)
end
