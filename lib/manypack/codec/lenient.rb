# frozen_string_literal: true

#--
# Splits each class that the msgpack gem has, too, into a lenient and a strict one. Loaded after the files that define
# their methods.
#++
module Manypack
  # The drop-in names these classes MessagePack: they accept whatever the msgpack gem accepts, and ignore what it
  # ignores. Manypack::Packer and its like are their subclasses, which are strict and have no methods of their own. So
  # it makes no difference to a program that uses Manypack whether some gem has loaded the drop-in, and its Packers are
  # MessagePack::Packers all the same.
  module Lenient # :nodoc:
    NAMES = %i[Buffer Factory Packer Unpacker].freeze

    # Returns the options for a method that only Manypack has, when it is called on MessagePack: adds a Codec that
    # creates objects of MessagePack's classes, unless +as+ names a loader, which has its own Codec.
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
