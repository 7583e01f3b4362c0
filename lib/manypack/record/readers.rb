# frozen_string_literal: true

#--
# How dump reads the members of an object that is neither a Struct nor a Data: by its public methods.
#++
module Manypack
  class Record < Type
    # Checks them when a Record is made. A method may be missing: a class may define it later, as ActiveRecord does.
    module Readers # :nodoc:
      # A value of each kind that loading could set.
      SAMPLES = Ractor.make_shareable({ string: "", symbol: :sample, integer: 0, float: 0.0, true: true, false: false,
                                        list: [], map: {} })
      private_constant :SAMPLES

      class << self
        def check(klass, types, build)
          return check_ivars(klass, types) if build == :ivars
          return if Build.filled?(klass)

          types.each_key { |name| check_reader(klass, name) }
        end

        private

        # Raises ArgumentError for a method that means something else, such as Object#hash.
        def check_reader(klass, name)
          reader = reader(klass, name) or return
          if Object.ancestors.include?(reader.owner)
            raise ArgumentError, "#{klass.inspect} has no method #{name} of its own, by which dump could read the " \
                                 "member: #{reader.owner}##{name} is another"
          end
          return if [0, -1].include?(reader.arity)

          raise ArgumentError, "#{klass.inspect}##{name} needs an argument: dump reads the member by calling it " \
                               "without any"
        end

        def reader(klass, name)
          klass.public_instance_method(name) if klass.public_method_defined?(name)
        end

        # Raises ArgumentError if a reader misses what initialize would have set.
        def check_ivars(klass, types)
          object = Class.instance_method(:allocate).bind_call(klass)
          samples = types.transform_values { |type| sample(type.spec) }
          samples.each { |name, value| set(object, name, value) unless value.nil? }
          samples.each do |name, value|
            reader = reader(klass, name) unless value.nil?
            call(klass, object, reader) if reader && [0, -1].include?(reader.arity)
          end
        end

        def set(object, name, value)
          ::Kernel.instance_method(:instance_variable_set).bind_call(object, :"@#{name}", value)
        end

        def call(klass, object, reader)
          reader.bind_call(object)
        rescue NoMethodError => error
          return unless error.receiver.nil?

          raise ArgumentError, "Record.ivars does not call the initialize of #{klass.inspect}, without which " \
                               "#{reader.name} raises #{error.message.lines[0].chomp}: Record.new calls it", cause: nil
        rescue ::StandardError
          nil # the reader may be right: the value is only a sample
        end

        # Returns a value that a message could have; nil if this method makes none.
        def sample(spec)
          kind, detail, = spec
          case kind
          when :enum then detail.compact.first
          when :union then detail.lazy.filter_map { |one| sample(one) }.first
          when :integer, :float then detail&.begin || detail&.end || SAMPLES[kind]
          else SAMPLES[kind].dup
          end
        end
      end
    end
    private_constant :Readers
  end
end
