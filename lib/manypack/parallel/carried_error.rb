# frozen_string_literal: true

# An exception on its way from a worker process to its parent.
module Manypack
  module Parallel
    # By Marshal, with all that the exception has, if Marshal can. Otherwise it is rebuilt by its class, or by the first
    # superclass that has a name, without the instance variables.
    module CarriedError
      # The cause of a cause, and so on: who retries for ever, and wraps each error in the next one, has thousands.
      MOST_CAUSES = 32

      module_function

      # @param error [Exception]
      # @param causes [Integer] how many of them are taken along
      # @return [Array] that can be packed
      def dump(error, causes = MOST_CAUSES)
        names = error.class.ancestors.grep(Class).map { |one| Module.instance_method(:name).bind_call(one) }
        cause = error.cause if causes.positive?
        [marshalled(error), names, message_of(error), error.backtrace, cause && dump(cause, causes - 1)]
      end

      # @param carried [Array] what dump returned
      # @return [Exception]
      def load(carried)
        bytes, names, message, backtrace, cause = carried
        error = restored(bytes) || rebuilt(names, message)
        error.set_backtrace(backtrace) if backtrace
        raise error, cause: cause && load(cause)
      rescue Exception => e # rubocop:disable Lint/RescueException -- raised to have a cause
        e
      end

      def marshalled(error)
        Marshal.dump(error)
      rescue StandardError, SystemStackError
        nil
      end

      def message_of(error)
        error.message.to_s
      rescue StandardError, SystemStackError => e
        "#{error.class}, whose message raises #{e.class}"
      end

      def restored(bytes)
        error = bytes && Marshal.load(bytes) # rubocop:disable Security/MarshalLoad -- from a process of our own
        error if error.is_a?(Exception)
      rescue StandardError, SystemStackError
        nil
      end

      # Past a message of its own, which may need what is not there.
      def rebuilt(names, message)
        known = names.find { |name| exception_class(name) }
        message = "#{names.first || "an error of an anonymous class"}: #{message}" unless known == names.first
        error = exception_class(known).allocate
        Exception.instance_method(:initialize).bind_call(error, message)
        error.define_singleton_method(:message) { message } unless says?(error, message)
        error
      end

      def says?(error, message)
        error.message == message
      rescue StandardError
        false
      end

      def exception_class(name)
        found = name && Object.const_get(name)
        found if found.is_a?(Class) && found <= Exception
      rescue NameError
        nil
      end
    end
    private_constant :CarriedError
  end
end
