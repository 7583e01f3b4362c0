# frozen_string_literal: true

# One method of the contender, called with the object or with its bytes.

require_relative "../operation"

class Call < Operation
  # @param method [String] of the contender
  def initialize(method)
    super
    # A loop of its own for every method, so that each has one call that the JIT can see through.
    instance_eval(<<~RUBY, __FILE__, __LINE__ + 1)
      def repeat(contender, argument, times)
        i = 0
        while i < times
          contender.#{method}(argument)
          i += 1
        end
      end
    RUBY
  end

  def supported?(contender)
    contender.respond_to?(name)
  end
end
