# frozen_string_literal: true

# What is done with each object, in a form that every Ractor may have.
module Manypack
  module Parallel
    module Work
      # Hands the object on as it is.
      class Nothing
        def call(object) = object
      end

      # A method of an object that can be shared, by name: before Ruby 4.0 a Method itself cannot be shared.
      Named = Struct.new(:receiver, :name) do
        def call(object) = receiver.__send__(name, object)
      end

      # An isolated Proc whose self belongs to another Ractor.
      Selfless = Struct.new(:proc) do
        def call(object) = nil.instance_exec(object, &proc)
      end

      # What Ruby says that a Proc cannot be shared by.
      REFUSALS = [Ractor::IsolationError, Ractor::Error, ArgumentError, RuntimeError].freeze

      module_function

      # @param callable [Proc, Method, #call, nil]
      # @return [#call]
      # @raise [::TypeError] for what cannot be called
      def of(callable)
        return Nothing.new.freeze if callable.nil?
        return callable if callable.respond_to?(:call)

        raise ::TypeError, "Proc, Method or an object that answers call expected, not #{callable.class}"
      end

      # @param work [#call]
      # @return [#call] the same, shareable
      # @raise [Ractor::IsolationError] when it depends on what cannot be shared
      def shareable(work)
        if Ractor.shareable?(work) then work
        elsif work.is_a?(Proc) then of_proc(work)
        elsif work.is_a?(Method) && Ractor.shareable?(work.receiver)
          Ractor.make_shareable(Named.new(work.receiver, work.name))
        else
          raise Ractor::IsolationError,
                "#{work.inspect} cannot be shared between Ractors: Ractor.make_shareable can help"
        end
      end

      def of_proc(block)
        return Ractor.make_shareable(block) if symbol?(block)

        receiver = block.binding.receiver
        receiver = nil unless Ractor.shareable?(receiver)
        if Ractor.respond_to?(:shareable_proc) then Ractor.shareable_proc(self: receiver, &block)
        elsif receiver then Ractor.make_shareable(block.dup)
        else Ractor.make_shareable(Selfless.new(Isolation.isolate(block)))
        end
      rescue *REFUSALS => e
        raise Ractor::IsolationError, "the block cannot run in other Ractors: #{e.message} (ractors: 0 runs it here)"
      end

      # Made of a Symbol: such a Proc has nothing but that.
      def symbol?(block)
        block.lambda? && block.source_location.nil? && block.parameters == [[:req], [:rest]]
      end
    end
    private_constant :Work
  end
end
