# frozen_string_literal: true

#--
# The Codec of an object that packs or unpacks for as long as a program runs, such as a middleware.
#++
module Manypack
  # Knows which Codec a front uses at a moment. A program may make the front before it registers its ext types.
  class FrontCodec # :nodoc:
    # given:: the Codec that the front got, or nil
    # codec:: what Arguments.codec made of it
    def initialize(given, codec)
      @base = given ? nil : DefaultFactory.codec
      @codec = codec
      freeze
    end

    # Returns the Codec. If the front got none, it has the types that are registered on DefaultFactory at this moment.
    def now
      base = DefaultFactory.codec
      return @codec if @base.nil? || @base.equal?(base)

      Internal.codec_overlaid(@codec, base)
    end
  end
  private_constant :FrontCodec
end
