# frozen_string_literal: true

#--
# Codecs and loaders for objects that live as long as the program, such as a middleware.
#++
module Manypack
  # Knows the current Codec of a front, because a program may create the front before it registers its ext types.
  class FrontCodec # :nodoc:
    # given:: the Codec that the front got, or nil
    # codec:: what Arguments.codec made of it
    def initialize(given, codec)
      @base = given ? nil : DefaultFactory.codec
      @codec = codec
      freeze
    end

    # Returns the Codec. If the front got none, it has the types that are registered on DefaultFactory now.
    def now
      base = DefaultFactory.codec
      return @codec if @base.nil? || @base.equal?(base)

      Internal.codec_overlaid(@codec, base)
    end
  end
  private_constant :FrontCodec

  # Loads messages for a front by its option +as+, like Manypack.unpack.
  class FrontLoader # :nodoc:
    # own:: further options of the front, which an error may suggest
    # defaults:: options for which neither the Codec, nor a Type, nor +options+ say anything
    def initialize(as, codec, options, *own, defaults: nil)
      collect = options[:collect]
      options = options.except(:collect)
      Unpacker.new(as: as) # raises TypeError for an object without load
      made = Arguments.codec(codec, options, :as, *own, packs: false, looks: as, defaults: defaults)
      loader = Arguments.loader(as, nil, codec ? { codec: codec, **options } : options)
      @type = completed(Arguments.type_of(loader), defaults)
      @type = Arguments.collecting(@type) if collect
      @codec = FrontCodec.new(codec, made)
      @as = as
      freeze
    end

    # Returns the object of a message. Raises the errors of Manypack.unpack.
    def load(bytes)
      return @type.load(bytes) if @type

      @as.nil? ? @codec.now.unpack(bytes) : @codec.now.unpack(bytes, as: @as)
    end

    # Returns the object of a JSON text. Raises the errors of Type#load_json.
    def load_json(text)
      return @type.load_json(text) if @type

      codec = @codec.now
      bytes = codec.from_json(text)
      @as.nil? ? codec.unpack(bytes) : codec.unpack(bytes, as: @as)
    end

    # Returns a loader for messages of any shape, with the same options.
    def of_any_shape
      @as.nil? || @as == :view ? self : FrontLoader.new(nil, @type ? @type.codec : @codec.now, {})
    end

    def max_bytes = Arguments.codec_of_loader(@type, @codec.now).options[:max_bytes]

    private

    def completed(type, defaults)
      missing = defaults.to_h.except(*type&.codec&.options.to_h.keys)
      type.nil? || missing.empty? ? type : type.with(**missing)
    end
  end
  private_constant :FrontLoader
end
