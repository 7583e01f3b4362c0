# frozen_string_literal: true

#--
# How a Record makes the objects of its class.
#++
module Manypack
  class Record < Type
    # Chooses how to make objects of a class: by filling the members of a Struct or Data, or by the class's own
    # constructor. The extension asks anew when the methods of a class have changed (record/instance.c).
    module Build # :nodoc:
      POSITIONAL = %i[req opt rest].freeze
      private_constant :POSITIONAL

      class << self
        # Returns :struct or :data, the way for a class without a constructor of its own. Raises ArgumentError for an
        # unsuitable class.
        def filling(klass)
          unless klass.is_a?(Class) && (klass < Struct || data?(klass))
            raise ArgumentError, "#{klass.inspect} is neither a Struct nor a Data: Record.ivars sets the instance " \
                                 "variables of any class, without calling its initialize"
          end
          raise ArgumentError, "#{klass.inspect} has no members" unless klass.respond_to?(:members)

          constructor(klass)
          data?(klass) ? :data : :struct
        end

        # Returns :ivars. Raises ArgumentError for what has no objects that could be made without its constructor.
        def ivars(klass)
          unless klass.is_a?(Class)
            raise ArgumentError, "#{klass.inspect} is no class: it has no objects whose instance variables could be set"
          end

          Class.instance_method(:allocate).bind_call(klass)
          :ivars
        rescue ::TypeError => error
          raise ArgumentError, "Ruby makes no empty object of #{klass.inspect} (#{error.message}): register an ext " \
                               "type for it", cause: nil
        end

        # Returns the way of the moment and the members that may be missing, because the class's own constructor has a
        # default for them: :struct or :data to fill the members, :new to call the constructor with the members by
        # position, or :keywords to call it with keywords. Raises ArgumentError for a constructor that cannot take the
        # members.
        def constructor(klass)
          own = own_constructor(klass)
          return [data?(klass) ? :data : :struct, []] unless own

          build = way(klass, own)
          check(klass, own, build)
          [build, optional(klass, own.parameters, build)]
        end

        private

        def data?(klass)
          defined?(Data) && klass < Data
        end

        # Returns the method whose parameters decide: the class's own new, or its own initialize if new is Ruby's or
        # takes and forwards anything. Returns nil if both are Ruby's: they are written in C, and so have no source
        # location.
        def own_constructor(klass)
          new = klass.method(:new)
          new = nil unless new.source_location
          initialize = klass.instance_method(:initialize)
          initialize = nil if ruby?(initialize)
          (initialize if !new || kinds(new.parameters) == %i[rest keyrest]) || new
        rescue ::NameError => error
          raise ArgumentError, "#{klass.inspect} has no method #{error.name}, so it has no objects to load: " \
                               "Record.ivars makes some without it", cause: nil
        end

        def ruby?(initialize)
          !initialize.source_location && [Struct, (Data if defined?(Data))].include?(initialize.owner)
        end

        # Chooses :new or :keywords, depending on which parameters have the names of members. Parameters without such
        # names, such as *rest, get the members as Ruby's own constructor would.
        def way(klass, own)
          parameters = own.parameters
          return :keywords if data?(klass) && own.name == :initialize # as Data.new calls it
          return :new if names(parameters, :req, :opt).any? { |name| klass.members.include?(name) }
          return :keywords if names(parameters, :key, :keyreq).any? { |name| klass.members.include?(name) }
          return :keywords if kind?(parameters, :keyrest) && (data?(klass) || (kinds(parameters) & POSITIONAL).empty?)

          !data?(klass) && klass.keyword_init? ? :keywords : :new
        end

        # Raises ArgumentError for a constructor that would refuse the members of every message, or take one for
        # another.
        def check(klass, own, build)
          wrong = build == :new ? wrong_positions(klass, own.parameters) : wrong_names(klass, own.parameters)
          return unless wrong

          name = own.name == :new ? "#{klass.inspect}.new" : "#{klass.inspect}#initialize"
          raise ArgumentError, "#{name} #{wrong}: it is called with all members, " \
                               "#{build == :new ? "by position" : "as keywords"}"
        end

        def wrong_positions(klass, parameters)
          needed = names(parameters, :keyreq)
          return "needs the keyword #{needed.first}" unless needed.empty?

          keyword = names(parameters, :key).find { |name| klass.members.include?(name) }
          return "takes the member #{keyword} as a keyword, and others by position" if keyword

          wrong_count(klass, parameters) || wrong_order(klass.members, parameters)
        end

        def wrong_count(klass, parameters)
          kinds = positional(parameters).map(&:first)
          least, most = kinds.count(:req), kinds.size
          return if least <= klass.members.size && (klass.members.size <= most || kind?(parameters, :rest))

          "does not take #{klass.members.size} positional argument#{"s" unless klass.members.size == 1}"
        end

        # A parameter after *rest takes a member from the end.
        def wrong_order(members, parameters)
          rest = parameters.index { |kind, _| kind == :rest }
          before = positional(parameters.take(rest || parameters.size))
          after = rest ? positional(parameters.drop(rest)) : []
          taken = before.zip(members) + after.zip(members.last(after.size))
          (_, name), member = taken.find { |(_, name), member| name != member && members.include?(name) }
          "takes #{name} in the place of the member #{member}" if name
        end

        def wrong_names(klass, parameters)
          keys = names(parameters, :key, :keyreq)
          return wrong_hash(klass, parameters) if keys.empty? && !kind?(parameters, :keyrest)

          extra, = names(parameters, :req)
          return "needs the positional argument #{extra}" if kind?(parameters, :req)

          needed = names(parameters, :keyreq) - klass.members
          return "needs the keyword #{needed.first}, which is no member" unless needed.empty?

          refused = kind?(parameters, :keyrest) ? [] : klass.members - keys
          "does not take the member #{refused.first}" unless refused.empty?
        end

        # Without keywords among its parameters it gets a Hash as its only argument.
        def wrong_hash(klass, parameters)
          least = parameters.count { |kind, _| kind == :req }
          rest = kind?(parameters, :rest)
          return "does not take the member #{klass.members.first}" if kind?(parameters, :nokey) || least > 1
          return if rest || (!data?(klass) && !positional(parameters).empty?)

          "does not take the member #{klass.members.first}"
        end

        def optional(klass, parameters, build)
          return names(parameters, :key) & klass.members if build == :keywords

          klass.members.zip(positional(parameters)).filter_map { |member, (kind, _)| member if kind == :opt }
        end

        def positional(parameters)
          parameters.select { |kind, _| %i[req opt].include?(kind) }
        end

        def names(parameters, *kinds)
          parameters.filter_map { |kind, name| name if kinds.include?(kind) }
        end

        def kind?(parameters, kind)
          parameters.any? { |one, _| one == kind }
        end

        # Returns the kinds of parameters but for a block.
        def kinds(parameters)
          parameters.map(&:first).uniq - %i[block nokey]
        end
      end
    end
    private_constant :Build
  end
end
