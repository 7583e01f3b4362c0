# frozen_string_literal: true

#--
# The error of CacheCoder, in a file of its own: its superclass loads the caches of ActiveSupport.
#++
module Manypack
  module ActiveSupport
    # Raised for bytes that are no entry of a cache: an ActiveSupport::Cache::DeserializationError, which caches treat
    # as a miss, and a DecodeError in one.
    #
    #   begin
    #     coder.load(bytes)
    #   rescue Manypack::DecodeError => error
    #     warn "no entry: #{error.message}"
    #   end
    class DeserializationError < ::ActiveSupport::Cache::DeserializationError
      include Carried
    end
  end
end
