# frozen_string_literal: true

# Manypack::Handler: the Ruby half of types.c.
module Manypack
  # What packs or unpacks an ext type.
  module Handler
    # A Proc made of a Method could not be shared, and would be another one each time.
    #
    # @param receiver [Object]
    # @param name [Symbol]
    # @return [Proc] that calls the method; shareable where the receiver is
    # @example
    #   Handler.proc_for(Kernel, :Integer).call("1") #=> 1
    def self.proc_for(receiver, name)
      call = ->(*arguments) { receiver.__send__(name, *arguments) }
      Ractor.shareable?(receiver) ? Ractor.make_shareable(call) : call
    end
  end
  private_constant :Handler
end
