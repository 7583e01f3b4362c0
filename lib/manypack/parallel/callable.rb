# frozen_string_literal: true

# Makes the user's block, or the object with call in its place, shareable, so that every Ractor can call it.
module Manypack
  module Parallel
    module Callable
      # Returns the object itself.
      class Identity
        def call(object) = object
      end

      # A method of a shareable object, by name: before Ruby 4.0 a Method itself cannot be shared. It may be private.
      MethodCall = Struct.new(:receiver, :name) do
        def call(object) = receiver.__send__(name, object)
      end

      # An isolated Proc, called with nil as its self because its own one belongs to another Ractor.
      WithoutSelf = Struct.new(:proc) do
        def call(object) = nil.instance_exec(object, &proc)
      end

      # For a Proc made of a Method: Ruby 4.0 only says "not supported yet", and the Proc does not tell its Method.
      MADE_IN_C = "Ruby cannot share a Proc made of a Method, as in &Prices.method(:of): write the block, " \
                  "{ |object| Prices.of(object) }, or each(source, map: Prices.method(:of)).to_a"

      # The errors that Ruby raises for a Proc that cannot be shared.
      REFUSALS = [Ractor::IsolationError, Ractor::Error, ArgumentError, RuntimeError].freeze

      module_function

      # The folder of the methods that call the block. A +break+ in the block raises LocalJumpError in one of them.
      CALLERS = "#{__dir__}/".freeze
      private_constant :CALLERS

      # Returns the Proc, Method or object with call, or Identity for nil. Raises TypeError for anything else.
      def of(callable)
        return Identity.new.freeze if callable.nil?
        return callable if callable.respond_to?(:call)

        raise ::TypeError, "expected a Proc, a Method or an object that responds to call, got #{callable.class}"
      end

      # In a worker, +break+ raises LocalJumpError, because the method that it leaves runs elsewhere. The call still
      # ends with the value of +break+, as it does without workers. Raises any other LocalJumpError again.
      def value_of_break(error)
        own = error.is_a?(Error) && error.reason == :break && error.backtrace[1].to_s.start_with?(CALLERS)
        own ? error.exit_value : raise(error)
      end

      # Returns a shareable object whose call does the same. Raises Ractor::IsolationError if it depends on an object
      # that cannot be shared.
      def shareable(callable)
        if Ractor.shareable?(callable) then callable
        elsif callable.is_a?(Proc) then shareable_proc(callable)
        elsif callable.is_a?(Method) && Ractor.shareable?(callable.receiver)
          Ractor.make_shareable(MethodCall.new(callable.receiver, callable.name))
        else check_shareable(callable)
        end
      end

      # Raises Ractor::IsolationError for an object that Ractors cannot share.
      def check_shareable(object)
        return if Ractor.shareable?(object)

        raise Ractor::IsolationError,
              "#{object.inspect} cannot be shared between Ractors: Ractor.make_shareable can help"
      end

      def shareable_proc(block)
        return Ractor.make_shareable(block) if symbol?(block)

        receiver = block.binding.receiver
        receiver = nil unless Ractor.shareable?(receiver)
        if Ractor.respond_to?(:shareable_proc) then Ractor.shareable_proc(self: receiver, &block)
        elsif receiver then Ractor.make_shareable(block.dup)
        else Ractor.make_shareable(WithoutSelf.new(Isolation.isolate(block)))
        end
      rescue *REFUSALS => e
        reason = e.instance_of?(RuntimeError) ? MADE_IN_C : e.message
        raise Ractor::IsolationError, "the block cannot run in other Ractors: #{reason} (ractors: 0 runs it here)"
      end

      # Returns true for a Proc made by Symbol#to_proc, which refers to nothing but the Symbol.
      def symbol?(block)
        block.lambda? && block.source_location.nil? && block.parameters == [[:req], [:rest]]
      end
    end
    private_constant :Callable
  end
end
