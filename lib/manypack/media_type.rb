# frozen_string_literal: true

#--
# The media types of MessagePack, for the files that speak HTTP.
#++
module Manypack
  # Names MessagePack in HTTP.
  module MediaType # :nodoc:
    # The one that IANA registered, and the two that were in use before.
    ALL = %w[application/vnd.msgpack application/msgpack application/x-msgpack].freeze
    REGISTERED = ALL.first

    # True if the value of a header Content-Type, a String or nil, means MessagePack.
    def self.of?(content_type)
      ALL.include?(content_type.to_s.b[/\A[^;]*/].strip.downcase)
    end
  end
  private_constant :MediaType
end
