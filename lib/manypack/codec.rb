# frozen_string_literal: true

#--
# The Ruby half of Manypack::Codec: inspect, equality and View. The other half is codec.c.
#++
module Manypack
  class Codec
    include Value
    include Guesses

    # Shows the options that were set, and the classes of the ext types.
    #
    #   Manypack::Codec.new(symbolize_keys: true, max_bytes: 1_000).inspect
    #   #=> "#<Manypack::Codec symbolize_keys: true, max_bytes: 1000>"
    def inspect
      "#<#{self.class}#{description}>"
    end

    # Returns a View of packed bytes, with the options and ext types of the codec. Arguments and errors are those of
    # View.new; the options change those of the codec for this View.
    #
    #   codec = Manypack::Codec.new(symbolize_keys: true)
    #   codec.view(codec.pack({id: 1}))[:id] #=> 1
    def view(bytes, options = nil) # not **options, which would make a Hash for each call
      Arguments.refuse_block(self, :view) if block_given?
      options ? view_by(bytes, **options) : Internal.view_over(bytes, self, false)
    end

    # Yields each object in a file and returns nil, as Manypack.foreach with this codec does. Arguments and errors are
    # the same.
    #
    #   codec = Manypack::Codec.new(symbolize_keys: true)
    #   codec.foreach("events.msgpack") { |event| puts event[:id] }
    def foreach(path, *others, **options, &block)
      Arguments.check_options(options, [:as, :collect, *Arguments::CODEC_OPTIONS])
      Manypack.foreach(path, *others, codec: self, **options, &block)
    end

    # Returns true for a Codec in which the same options were set, and that has the same ext types, whose handlers are
    # the same objects.
    #
    #   Manypack::Codec.new(freeze: true) == Manypack::Codec.new(freeze: true) #=> true
    def ==(other)
      equal?(other) || (other.is_a?(Codec) && same_types?(other) && options == other.options)
    end
    alias eql? ==

    # Returns an Integer, the same for equal Codecs.
    #
    #   Manypack::Codec.new.hash == Manypack::Codec.new.hash #=> true
    def hash
      [Codec, options.except(:default), type_numbers].hash # on Ruby 3.1 compaction changes the hash of a Proc
    end

    private

    def view_by(bytes, check: false, **options)
      Arguments.check_flag(check)
      codec = options.empty? ? self : Arguments.codec(self, options, :check, packs: false)
      Internal.view_over(bytes, codec, check)
    end

    # Leaves out the classes: a program's own class may define a hash that does anything.
    def type_numbers
      [packer_classes, Internal.unpacker_classes(self)].map { |pairs| pairs.map(&:first).sort }
    end

    def description
      parts = options.map { |name, value| "#{name}: #{value.inspect}" }
      types = (packer_classes | Internal.unpacker_classes(self)).group_by(&:first).sort
      parts << "types: {#{types.map { |type, pairs| "#{type} => #{names(pairs)}" }.join(", ")}}" unless types.empty?
      parts.empty? ? "" : " #{parts.join(", ")}"
    end

    # Calls Module#inspect, because a program's own class may define an inspect that does anything.
    def names(pairs)
      names = pairs.map { |_, klass| klass ? Module.instance_method(:inspect).bind_call(klass) : "nil" }
      names.size == 1 ? names.first : "[#{names.join(", ")}]"
    end
  end
end
