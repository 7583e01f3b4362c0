# frozen_string_literal: true

#--
# The ext type of CacheCoder for objects without another type.
#++
module Manypack
  module ActiveSupport
    # An object whose class has a Record is written as the name of the class and the bytes of the Record, unless the
    # Record would not load it. Any other object without a type of its own is refused, because it would come back as
    # something else: an object with to_msgpack, a View, an object of a subclass of String. Handlers are methods of this
    # module, so that they can be called in every Ractor.
    module Objects # :nodoc:
      extend self

      ATTACHED = Record.const_get(:Attached)
      private_constant :ATTACHED

      # Returns a Codec that also has this type, under the last free number, normally 127, as in
      # ActiveSupport::MessagePack; and, unless the codec has one, a type for Symbols, which would otherwise become
      # Strings.
      def added_to(codec)
        types = [*codec.with(canonical: false).packer.registered_types, *codec.unpacker.registered_types]
        classes = types.map { |type| type[:class] }
        numbers = 127.downto(0).to_a - types.map { |type| type[:type] }
        unless classes.include?(Object) || classes.include?(BasicObject)
          codec = with_time(codec, types)
          codec = add(codec, numbers.shift, BasicObject, method(:write), method(:read), recursive: true)
        end
        return codec if classes.include?(Symbol)

        add(codec, numbers.shift, Symbol, :to_msgpack_ext, :from_msgpack_ext, optimized_symbols_parsing: true)
      end

      def write(object, packer)
        refuse(object) unless ATTACHED::Dumping === object

        packer.write(name_of(object))
        Internal.dump_within(class_of(object).record, object, packer, true, true)
      end

      def read(unpacker)
        record = class_named(unpacker.read).record
        Internal.load_body(record, unpacker)
      end

      private

      # Returns the Codec as it is if all numbers are taken.
      def add(codec, number, klass, packer, unpacker, **options)
        number ? Internal.codec_with_type(codec, number, klass, packer, unpacker, options) : codec
      end

      # The option +timestamp+ is for Times without an ext type, but now every object has one: adds a type for Time.
      def with_time(codec, types)
        return codec unless codec.options[:timestamp]
        return codec if types.any? { |type| type[:type] == Timestamp::TYPE || type[:class] == ::Time }

        add(codec, Timestamp::TYPE, ::Time, Time::Packer, Time::Unpacker)
      end

      # Raises NoMethodError for an object that nothing can pack, as Manypack.pack does, and TypeError for others.
      def refuse(object)
        Manypack.pack(object, timestamp: true)
        Internal.raise_type_error("#{class_of(object).inspect} cannot be cached, at $; something else would be " \
                                  "read: attach a Manypack::Record to the class, register an ext type for it, or " \
                                  "cache what the object holds")
      end

      def name_of(object)
        name = own_name(class_of(object))
        return name if name && named(name).equal?(class_of(object))

        Internal.raise_type_error("#{class_of(object).inspect} cannot be cached, at $; no constant is that class")
      end

      # An object of BasicObject has no such method.
      def class_of(object) = Kernel.instance_method(:class).bind_call(object)

      # Returns a class that has a Record, and no other: reading creates no objects of arbitrary classes.
      def class_named(name)
        found = named(name) if name.is_a?(String)
        return found if found.is_a?(Class) && found.singleton_class <= ATTACHED::Loading && own_name(found) == name

        raise MalformedFormatError, "#{Excerpt.of(name.inspect)} is no class with a Record"
      end

      # Returns what the constant of that name is, or nil. Raises the errors of a file that is loaded for it.
      def named(name)
        Object.const_get(name)
      rescue EncodingError
        nil
      rescue NameError => error
        raise unless [name, *name.split("::")].include?(error.name.to_s)
      rescue ::TypeError => error
        raise unless error.message.include?("does not refer to class/module")
      end

      # Returns the name that Ruby gave a class, which may have a method +name+ of its own.
      def own_name(klass) = Module.instance_method(:name).bind_call(klass)
    end
    private_constant :Objects
  end
end
