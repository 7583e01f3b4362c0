# frozen_string_literal: true

#--
# The methods that Record#attach gives a class.
#++
module Manypack
  class Record < Type
    # Names a class of Record.define in errors until it has a name of its own.
    module Nameless # :nodoc:
      def to_s = name ? super : "Manypack::Record.define(#{members.join(", ")})"
      def inspect = name ? super : to_s
    end
    private_constant :Nameless

    # The methods that a class gets from Record#attach.
    module Attached # :nodoc:
      # How many Records a Ractor keeps for classes that cannot keep them.
      MOST_KEPT = 1_000

      # The methods of the class.
      module Loading # :nodoc:
        # Returns the Record of the class. A subclass gets its own on first use, when its initialize is known.
        def record
          return self::MANYPACK_RECORD if const_defined?(:MANYPACK_RECORD, false)
          return self::MANYPACK_INHERITED if const_defined?(:MANYPACK_INHERITED, false)

          Attached.kept[self] || Attached.inherit(self, superclass.record)
        end

        def load(bytes, options = nil) # to pass on a block would take 4 % longer
          Arguments.refuse_block(record, :load) if defined?(yield)
          record.load(bytes, options)
        end

        # Methods of the Record, which refuse blocks in its name.
        def load_json(text, options = nil, &block) = record.load_json(text, options, &block)
        def load_json_file(path, options = nil, &block) = record.load_json_file(path, options, &block)
        def foreach_json(source, **options, &block) = record.foreach_json(source, **options, &block)
        def from(object, **options, &block) = record.from(object, **options, &block)

        private

        # Makes a subclass dump by the union of its superclass, or else by its own Record.
        def inherited(klass)
          super
          Attached.define_record(klass) do
            klass.const_defined?(:MANYPACK_UNION) ? klass::MANYPACK_UNION : klass.record
          end
        end

        # Names in the error the method of the Record that has this name, or one that does the same.
        def method_missing(name, *, **)
          its = "it is a method of its Record: #{self}.record.#{name}" if Record.public_method_defined?(name)
          hint = its || Hints.of(Record, name)
          return super unless hint

          error = NoMethodError.new("undefined method '#{name}' for #{self}; #{hint}", name, receiver: self)
          Arguments.refuse(error.extend(Guesses::Certain))
        end

        def respond_to_missing?(...) = super
      end

      # Methods that the class gets unless it has one of that name: each is a module of its own.
      FURTHER = %i[foreach valid? lazy array json_schema].to_h do |name|
        [name, Module.new { module_eval("def #{name}(...) = record.#{name}(...)", __FILE__, __LINE__) }]
      end.freeze

      # The methods of the objects. A member may have the name dump or class, so these methods call neither.
      module Dumping # :nodoc:
        # Packs the object, as Record#dump does.
        def dump(**options) = __manypack_record__.dump(self, **options)

        # Returns the object as JSON, as Type#dump_json does.
        def dump_json(**options) = __manypack_record__.dump_json(self, **options)

        # Writes the object to a Packer, for Manypack.pack, with the options and the ext types of the Packer laid over
        # those of the Record. Without a Packer it returns the bytes. With an io or options, it works as Manypack.pack
        # does.
        def to_msgpack(packer = nil)
          record = __manypack_record__
          return record.dump(self) unless packer
          return Manypack.pack(self, packer) unless packer.respond_to?(:buffer)

          Internal.dump_within(record, self, packer, false, false) || packer.buffer.write(record.dump(self))
          packer
        end
      end

      # The JSON form of the objects: the text of Type#dump_json.
      module Json # :nodoc:
        LAYOUT = %i[indent space space_before object_nl array_nl].freeze
        private_constant :LAYOUT

        class << self
          # Returns the text, in the layout of the JSON around it.
          def formed(text, state) = plain?(state) ? text : value_of(text).to_json(state)

          # Returns the value of the text for ActiveSupport, whose +only+ and +except+ may be Symbols, as for a model.
          def value(text, subset)
            names = subset.is_a?(Hash) ? subset.slice(:only, :except).transform_values { |one| [*one].map(&:to_s) } : {}
            value_of(text).as_json(names.empty? ? subset : subset.merge(names))
          end

          private

          def value_of(text) = ::JSON.parse(text, max_nesting: false, allow_nan: true)

          def plain?(state)
            return true if state.nil?

            form = state.respond_to?(:object_nl) ? state.to_h : {}
            form.values_at(*LAYOUT).all?("") && form.values_at(:ascii_only, :script_safe, :escape_slash).none?
          end
        end

        # Returns the object as JSON, for JSON.generate.
        def to_json(state = nil, *) = Json.formed(__manypack_record__.dump_json(self), state)

        # Returns the value that ActiveSupport turns into JSON, as in <code>render json: object</code>.
        def as_json(subset = nil) = Json.value(__manypack_record__.dump_json(self), subset)
      end

      class << self
        def install(klass, record)
          give(klass, record)
          klass.remove_method(:__manypack_record__) if klass.private_method_defined?(:__manypack_record__, false)
          define_record(klass) { klass::MANYPACK_RECORD }
          klass.extend(Loading, *FURTHER.reject { |name, _| klass.respond_to?(name, true) }.values)
          klass.include(Dumping)
          klass.include(Json) unless own_json?(klass)
        end

        # Makes the union dump the objects of its classes.
        def install_union(union)
          spec = Type.const_get(:Spec).inner(union.spec)
          raise ArgumentError, "dump Records as arrays by the union: only there have they tags" if spec[1] == :first

          records = records_of(spec)
          raise ArgumentError, "the union has no tag for a class, so there is nothing to attach" if records.empty?

          records.each { |record| check_union(record.klass) }
          records.each do |record|
            klass = record.klass
            remove(klass, :MANYPACK_RECORD)
            forget_inherited(klass)
            install(klass, record.instance_exec { copy(tag_key: spec[1], form: :map, types: types_within(union)) })
            klass.const_set(:MANYPACK_UNION, union)
            klass.remove_method(:__manypack_record__)
            define_record(klass) { klass::MANYPACK_UNION }
          end
        end

        # Defines the method that returns the Record of an object. The block is shareable: it refers only to classes.
        def define_record(klass, &record)
          klass.define_method(:__manypack_record__, &Ractor.make_shareable(record))
          klass.class_eval { private :__manypack_record__ }
        end

        # Makes the Record of a subclass, which keeps it. For frozen classes and those of other Ractors, which this one
        # cannot change (Ruby 4.1), the Ractor keeps it.
        def inherit(klass, record)
          own = record.inherited_by(klass)
          return keep(klass, own) if klass.frozen?

          klass.const_set(:MANYPACK_INHERITED, own) unless klass.const_defined?(:MANYPACK_INHERITED, false)
          own
        rescue Ractor::IsolationError
          keep(klass, own)
        end

        # The Records that the current Ractor keeps, by their classes.
        def kept
          Ractor.current[:__manypack_records__] ||= {}.compare_by_identity
        end

        # Raises ArgumentError for a class with methods that attaching would replace.
        def check_methods(klass)
          taken = own(klass.singleton_class, Object.singleton_class, Loading) + own(klass, Object, Dumping)
          raise ArgumentError, "#{klass} has #{taken.join(" and ")} already" unless taken.empty?
        end

        private

        # Returns a Record for each class that has a tag.
        def records_of(spec)
          specs = spec[2].values.flat_map { |spec| spec[0] == :union ? spec[1] : [spec] }
          name = specs.find { |kind, _| kind == :name }
          raise ArgumentError, "#{name[1].inspect} in a union is the name of a Record: write the Record" if name

          specs.filter_map { |kind, record| record if kind == :record }.uniq(&:klass)
        end

        def remove(klass, constant)
          klass.class_eval { remove_const(constant) if const_defined?(constant, false) }
        end

        # Drops the Records of subclasses. On next use they get new ones, from the Record that the class then has.
        def forget_inherited(klass)
          kept.clear
          klass.subclasses.each do |one|
            remove(one, :MANYPACK_INHERITED)
            forget_inherited(one)
          end
        end

        # Raises an error for a class that cannot be attached, before any class of the union is changed.
        def check_union(klass)
          raise FrozenError.new("can't modify frozen class: #{klass}", receiver: klass) if klass.frozen?

          check_methods(klass)
          return unless klass.const_defined?(:MANYPACK_UNION, false)

          raise ArgumentError, "#{klass} is in an attached union already: an object has one tag"
        end

        def keep(klass, record)
          kept.clear if kept.size >= MOST_KEPT
          kept[klass] = record
        end

        def give(klass, record)
          klass.const_set(:MANYPACK_RECORD, record)
        rescue Ractor::IsolationError
          raise Ractor::IsolationError,
                "#{klass} belongs to another Ractor, and only that one can attach a Record to it: attach it there, " \
                "or call load and dump of the Record itself"
        end

        # Returns true if the program defined methods for JSON. ActiveSupport defines some for Struct and Data.
        def own_json?(klass)
          general = [Struct, *(Data if defined?(Data)), Object].flat_map(&:ancestors)
          Json.instance_methods.any? do |name|
            klass.method_defined?(name) && ![*general, Json].include?(klass.instance_method(name).owner)
          end
        end

        def own(klass, base, methods)
          methods.instance_methods.select do |name|
            next unless klass.method_defined?(name) || klass.private_method_defined?(name)

            ![*base.ancestors, methods].include?(klass.instance_method(name).owner)
          end
        end
      end
    end
    private_constant :Attached
    Internal.attach_by(Attached::Dumping)
  end
end
