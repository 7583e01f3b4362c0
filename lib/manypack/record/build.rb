# frozen_string_literal: true

#--
# How objects of the classes of Records are made.
#++
module Manypack
  class Record < Type
    # How objects of a class are made: by filling the members of a Struct or Data, or by the class's own new.
    module Build # :nodoc:
      class << self
        # Returns how objects of the class are made: :struct, :data, :new or :keywords.
        def of(klass)
          unless klass.is_a?(Class) && (klass < Struct || data?(klass))
            raise ArgumentError, "#{klass.inspect} is neither a Struct nor a Data: Record.ivars sets the instance " \
                                 "variables of any class, without calling its initialize"
          end
          raise ArgumentError, "#{klass.inspect} has no members" unless klass.respond_to?(:members)

          own = constructor(klass)
          return data?(klass) ? :data : :struct unless own

          way(klass, own).tap { |build| check(klass, own, build) }
        end

        # Returns the members for which the class's own constructor has a default, for a build of :new or :keywords.
        def optional(klass, build)
          parameters = constructor(klass).parameters
          return names(parameters, :key) & klass.members if build == :keywords

          klass.members.zip(positional(parameters)).filter_map { |member, kind| member if kind == :opt }
        end

        private

        def data?(klass)
          defined?(Data) && klass < Data
        end

        # The class's own new or initialize; nil if both are Ruby's, which are written in C and so have no source
        # location.
        def constructor(klass)
          [klass.method(:new), klass.instance_method(:initialize)].find(&:source_location)
        end

        # By position or as keywords, depending on which parameters have the names of members. Parameters without such
        # names, such as *rest, get the members as Ruby's own constructor would.
        def way(klass, own)
          return :keywords if data?(klass) && own.name == :initialize
          return :new if names(own.parameters, :req, :opt).any? { |name| klass.members.include?(name) }
          return :keywords if names(own.parameters, :key, :keyreq).any? { |name| klass.members.include?(name) }
          return :keywords if own.parameters.map(&:first) - [:block] == [:keyrest]

          data?(klass) || klass.keyword_init? ? :keywords : :new
        end

        # Raises ArgumentError for a constructor that would refuse the members of every message.
        def check(klass, own, build)
          wrong = build == :new ? wrong_count(klass, own.parameters) : wrong_names(klass, own.parameters)
          return unless wrong

          name = own.name == :new ? "#{klass.inspect}.new" : "#{klass.inspect}#initialize"
          raise ArgumentError, "#{name} #{wrong}: it is called with all members, " \
                               "#{build == :new ? "by position" : "as keywords"}"
        end

        def wrong_count(klass, parameters)
          needed = names(parameters, :keyreq)
          return "needs the keyword #{needed.first}" unless needed.empty?

          kinds = positional(parameters)
          least, most = kinds.count(:req), kinds.size
          return if least <= klass.members.size && (klass.members.size <= most || kind?(parameters, :rest))

          "does not take #{klass.members.size} positional argument#{"s" unless klass.members.size == 1}"
        end

        def wrong_names(klass, parameters)
          keys = names(parameters, :key, :keyreq)
          return if keys.empty? && !data?(klass) && !kind?(parameters, :keyrest) # it gets a Hash
          return if keys.empty? && kind?(parameters, :rest) # it passes on whatever it gets

          needed = names(parameters, :keyreq) - klass.members
          return "needs the keyword #{needed.first}, which is no member" unless needed.empty?

          refused = kind?(parameters, :keyrest) ? [] : klass.members - keys
          "does not take the member #{refused.first}" unless refused.empty?
        end

        def positional(parameters)
          parameters.map(&:first).select { |kind| %i[req opt].include?(kind) }
        end

        def names(parameters, *kinds)
          parameters.filter_map { |kind, name| name if kinds.include?(kind) }
        end

        def kind?(parameters, kind)
          parameters.any? { |one, _| one == kind }
        end
      end
    end
    private_constant :Build
  end
end
