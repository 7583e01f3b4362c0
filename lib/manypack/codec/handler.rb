# frozen_string_literal: true

#--
# The Ruby half of types.c: handlers given as Methods.
#++
module Manypack
  # Packs or unpacks an ext type.
  module Handler # :nodoc:
    # Returns a Proc that calls a method of the receiver; it is shareable if the receiver is. Method#to_proc would
    # return a Proc that cannot be shared, and a different one each time.
    #
    #   Handler.proc_for(Kernel, :Integer).call("1") #=> 1
    def self.proc_for(receiver, name)
      call = ->(*arguments) { receiver.__send__(name, *arguments) }
      Ractor.shareable?(receiver) ? Ractor.make_shareable(call) : call
    end
  end
  private_constant :Handler
end
