# frozen_string_literal: true

#--
# How a Record makes the objects of its class.
#++
module Manypack
  class Record < Type
    # Chooses how to make objects of a class: by filling the members of a Struct or Data, or by the class's own
    # constructor. The extension asks anew when the methods of a class have changed (record/instance.c).
    #
    # +members+ are those of a Struct or Data, and of any other class those of the Record, in the order in which the
    # constructor takes them by position.
    module Build # :nodoc:
      POSITIONAL = %i[req opt rest].freeze
      private_constant :POSITIONAL

      class << self
        # Returns how Record.new makes objects of a class: :struct, :data, :new or :keywords, and the members by
        # position. +names+ are the members of the Record. Raises ArgumentError for an unsuitable class.
        def of(klass, names)
          raise ArgumentError, "#{klass.inspect} is no class" unless klass.is_a?(Class)
          return ordinary(klass, names) unless filled?(klass)
          unless klass.respond_to?(:members)
            raise ArgumentError, "#{klass.inspect} has no members: pass a class that #{klass.inspect} made"
          end

          constructor(klass, klass.members)
          [data?(klass) ? :data : :struct, klass.members]
        end

        # Returns true for a Struct or a Data, whose members can be filled in without a call.
        def filled?(klass) = klass < Struct || data?(klass)

        # Returns :ivars. Raises ArgumentError for a class whose objects cannot be made without its constructor.
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

        # Returns how objects are made at the moment, as +of+ does, and the members that have a default in the class's
        # constructor. Raises ArgumentError for a constructor that cannot take the members.
        def constructor(klass, members)
          own = own_constructor(klass)
          return [data?(klass) ? :data : :struct, []] unless own

          build = way(klass, own, members)
          check(klass, own, build, members)
          [build, optional(members, own.parameters, build)]
        end

        private

        def data?(klass) = defined?(Data) && klass < Data

        # Members with the names of positional parameters are in the order of these.
        def ordinary(klass, names)
          core = [String, Array, Hash].find { |one| klass <= one }
          raise ArgumentError, "#{klass.inspect} is packed as any #{core}, without members" if core

          ivars(klass) # raises for a class without objects
          members = (names(own_constructor(klass).parameters, :req, :opt) & names) | names
          [constructor(klass, members)[0], members]
        end

        # Returns the method whose parameters decide: the class's own new, or its own initialize if new is Ruby's or
        # forwards anything. If both are Ruby's, which have no source location, returns nil for a Struct or Data, and
        # raises ArgumentError for any other class.
        def own_constructor(klass)
          new = filled?(klass) ? klass.method(:new) : klass.public_method(:new)
          new = nil if filled?(klass) ? !new.source_location : new.owner == Class
          initialize = klass.instance_method(:initialize)
          initialize = nil if ruby?(initialize)
          own = (initialize if !new || kinds(new.parameters) == %i[rest keyrest]) || new
          return own if own || filled?(klass)

          raise ArgumentError, "#{klass.inspect} has no initialize that takes members: Record.ivars sets instance " \
                               "variables without calling it"
        rescue ::NameError => error
          raise ArgumentError, "#{klass.inspect} has no #{"public " unless filled?(klass)}method #{error.name}, so " \
                               "it has no objects to load: Record.ivars makes some without it", cause: nil
        end

        def ruby?(initialize)
          !initialize.source_location && [BasicObject, Struct, (Data if defined?(Data))].include?(initialize.owner)
        end

        # Chooses :new or :keywords by the names of the parameters. If none has the name of a member, a Struct or Data
        # gets them as Ruby's own constructor would, a method in Ruby gets a Hash (as ActiveModel and dry-struct
        # take it), and one in C gets them by position.
        def way(klass, own, members)
          parameters = own.parameters
          return :keywords if data?(klass) && own.name == :initialize # as Data.new calls it
          return :new if (names(parameters, :req, :opt) & members).any?
          return :keywords if (names(parameters, :key, :keyreq) & members).any?
          return :keywords if kind?(parameters, :keyrest) && (data?(klass) || (kinds(parameters) & POSITIONAL).empty?)
          return own.source_location ? :keywords : :new unless filled?(klass)

          !data?(klass) && klass.keyword_init? ? :keywords : :new
        end

        # Raises ArgumentError for a constructor that would refuse all messages, or confuse members.
        def check(klass, own, build, members)
          wrong = build == :new ? wrong_positions(klass, own, members) : wrong_names(klass, own.parameters, members)
          return unless wrong

          name = own.name == :new ? "#{klass.inspect}.new" : "#{klass.inspect}#initialize"
          raise ArgumentError, "#{name} #{wrong}: it is called with all members, " \
                               "#{build == :new ? "by position" : "as keywords"}"
        end

        def wrong_positions(klass, own, members)
          parameters = own.parameters
          needed = names(parameters, :keyreq)
          return "needs the keyword #{needed.first}" unless needed.empty?

          keyword = (names(parameters, :key) & members).first
          return "takes the member #{keyword} as a keyword, and others by position" if keyword

          named = !filled?(klass) && own.source_location
          wrong_count(members, parameters) || wrong_order(members, parameters, named)
        end

        def wrong_count(members, parameters)
          kinds = positional(parameters).map(&:first)
          least, most = kinds.count(:req), kinds.size
          return if least <= members.size && (members.size <= most || kind?(parameters, :rest))

          "does not take #{members.size} positional argument#{"s" unless members.size == 1}"
        end

        # A parameter after *rest takes a member from the end. If +named+, each parameter must have the name of its
        # member.
        def wrong_order(members, parameters, named)
          rest = parameters.index { |kind, _| kind == :rest }
          before = positional(parameters.take(rest || parameters.size))
          after = rest ? positional(parameters.drop(rest)) : []
          taken = before.zip(members) + after.zip(members.last(after.size))
          (_, name), member = taken.find do |(_, name), member|
            name != member && (members.include?(name) || (named && member))
          end
          "takes #{name} in the place of the member #{member}" if name
        end

        def wrong_names(klass, parameters, members)
          keys = names(parameters, :key, :keyreq)
          return wrong_hash(klass, parameters, members) if keys.empty? && !kind?(parameters, :keyrest)

          extra, = names(parameters, :req)
          return "needs the positional argument #{extra}" if kind?(parameters, :req)

          needed = names(parameters, :keyreq) - members
          return "needs the keyword #{needed.first}, which is no member" unless needed.empty?

          refused = kind?(parameters, :keyrest) ? [] : members - keys
          "does not take the member #{refused.first}" unless refused.empty?
        end

        # A constructor without keyword parameters gets a Hash as its only argument.
        def wrong_hash(klass, parameters, members)
          least = parameters.count { |kind, _| kind == :req }
          rest = kind?(parameters, :rest)
          return "does not take the member #{members.first}" if kind?(parameters, :nokey) || least > 1
          return other_name(parameters, members) if !filled?(klass) && least == members.size
          return if rest || (!data?(klass) && !positional(parameters).empty?)

          "does not take the member #{members.first}"
        end

        # With one member, the argument could be its value or a Hash.
        def other_name(parameters, members)
          name, = names(parameters, :req)
          "takes #{name}, which should have the name of the member #{members.first}" if name
        end

        def optional(members, parameters, build)
          return names(parameters, :key) & members if build == :keywords

          members.zip(positional(parameters)).filter_map { |member, (kind, _)| member if kind == :opt }
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

        # Returns the kinds of all parameters except a block.
        def kinds(parameters) = parameters.map(&:first).uniq - %i[block nokey]
      end
    end
    private_constant :Build
  end
end
