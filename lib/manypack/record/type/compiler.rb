# frozen_string_literal: true

#--
# Turns the spec of a type into the nodes that type.c compiles.
#++
module Manypack
  class Type
    # Makes one node, a Hash, for each type in a spec. A node refers to others by their index. The types of a Record's
    # members become nodes, too, so that a name among them finds the Records around it.
    class Compiler # :nodoc:
      def initialize(codec)
        @codec = codec
        @nodes = []
        @around = [] # the Records around a type: each with the index of its node, and the meaning of names from outside
        @known = {}.compare_by_identity # for each Record its nodes: their indices, and the meaning of the names in them
        @strangers = []
      end

      # The names in members that no Record around them has: Arrays of the name, the Record and its member.
      attr_reader :strangers

      # Returns an Array of Hashes. The first is the node of the spec itself.
      def nodes(spec)
        add(spec)
        @nodes.each { |node| complete(node) if node[:kind] == :any_of }
      end

      private

      def add(spec)
        return named(spec[1]) if spec[0] == :name
        return record(spec[1]) if spec[0] == :record
        return recursive(*spec.drop(1)) if spec[0] == :recursive

        place { node(spec) }
      end

      def recursive(level, spec)
        @around << [Recursion.new(level, spec), @nodes.size, {}]
        add(spec).tap { @around.pop }
      end

      # Reserves the next index for the node that the block makes, and returns it.
      def place
        index = @nodes.size
        @nodes << nil
        @nodes[index] = yield
        index
      end

      def node(spec)
        { kind: spec[0], words: Spec.words(spec), expected: Expected.of(resolved(spec)), parts: [], **details(spec) }
      end

      # Returns a union with its names replaced by their meaning.
      def resolved(spec)
        return spec if spec[0] != :union

        Spec.any(spec[1].map do |one|
          place = place_of(one[1]) if one[0] == :name
          around, = @around[place] if place
          next around.is_a?(Recursion) ? around.definition : around.spec if around

          Spec.inner(one)
        end)
      end

      def details(spec)
        kind, one, two = spec
        case kind
        when :nil, :true, :false then { kind: :special, objects: [{ nil: nil, true: true, false: false }[kind]] }
        when :integer then integer(one)
        when :float then float(one)
        when :class then of_class(one)
        when :enum then literals(one)
        when :list then { parts: [add(one)] }
        when :tuple then { parts: one.map { |part| add(part) } }
        when :ruled then { parts: [add(one)], rules: Rules.nodes(one, two, around, @member) }
        when :map then { parts: [add(one), add(two)] }
        when :union then { kind: :any_of, parts: one.map { |part| add(part) } }
        when :tagged then tagged(one, two, *spec.drop(3))
        else {}
        end
      end

      # The Hash finds a literal by itself, and a Symbol by its text, too. The first of equal texts counts.
      def literals(all)
        pairs = all.reverse.flat_map { |one| one.is_a?(::Symbol) ? [[one, one], [one.name, one]] : [[one, one]] }
        { objects: all, table: pairs.to_h.freeze }
      end

      # Completes the node of a union when all nodes are made.
      def complete(node)
        node[:parts] = alternatives(node)
        records = node[:parts].each_with_index.to_h { |index, position| [position, record_of(@nodes[index])] }
        choices = Choices.of(records.select { |_, record| record && record.form != :array })
        node[:choices] = choices.map { |one| [one.position, one.members, one.misread] }
      end

      # A union in a union, as a recursive type may be, is its alternatives.
      def alternatives(node)
        node[:parts].flat_map { |i| @nodes[i][:kind] == :any_of ? alternatives(@nodes[i]) : [i] }.uniq
      end

      def record_of(node)
        found = node[:record] || node[:objects]
        found if found.is_a?(Record)
      end

      def tagged(tag, types, otherwise, untagged = nil)
        parts = [*types.values, otherwise, untagged].map { |spec| spec && add(spec) }
        tags = types.keys
        { tag: tag, bounds: Expected.list(tags), objects: tags, table: tags.each_with_index.to_h.freeze,
          parts: parts.compact, otherwise: parts[-2], untagged: parts[-1] }
      end

      # Splits a range into the part that fits int64_t and the part above it. The max of an empty part is below its min.
      def integer(range)
        least = range&.begin || Spec::INTEGERS.begin
        most = range&.end ? (range.exclude_end? ? range.end - 1 : range.end) : Spec::INTEGERS.end
        check_bounds(range, [least, most]) if range
        top = 2**63 - 1
        { bounds: Expected.bounds(range), min: [least, top].min, max: least > top ? -2**63 : [most, top].min,
          above_min: [least, top + 1].max, above_max: [most, 0].max }
      end

      def check_bounds(range, bounds)
        beyond = bounds.find { |bound| !Spec::INTEGERS.cover?(bound) }
        raise ArgumentError, "#{range.inspect} is no type: no message has the Integer #{beyond}" if beyond
        raise ArgumentError, "#{range.inspect} is no type: no Integer is in it" if bounds[0] > bounds[1]
      end

      def float(range)
        return {} unless range

        least = range.begin && float_bound(range, range.begin)
        most = range.end && float_bound(range, range.end)
        least = least.next_float if least && least < range.begin
        most = most.prev_float if most && most > range.end
        below_max = range.exclude_end? && most == range.end
        if least && most && (below_max ? least >= most : least > most)
          raise ArgumentError, "#{range.inspect} is no type: no Float is in it"
        end

        { bounds: Expected.bounds(range), min: least, max: most, below_max: below_max }
      end

      # Returns the Float nearest to a bound, which may be an Integer that no Float equals.
      def float_bound(range, bound)
        return bound.to_f if bound.is_a?(Float) || bound.abs <= Float::MAX

        raise ArgumentError, "#{range.inspect} is no type: no message has a Float that large"
      end

      def of_class(klass)
        return { class: klass } if Spec.core?(klass) || ext?(klass)

        { kind: :unnamed, class: klass, words: "#{klass.inspect} is no type here: #{advice(klass)}" }
      end

      # Returns true if an ext may become an object of the class or module. Subclasses may include any module.
      def ext?(klass)
        return true if ExtensionValue <= klass || Timestamp <= klass
        return true if ::Time <= klass && @codec.options[:timestamp]

        classes = Internal.unpacker_classes(@codec)
        return !classes.empty? unless klass.is_a?(Class)

        classes.any? { |_, known| known && (known <= klass || klass <= known) }
      end

      def advice(klass)
        return "with(timestamp: true) makes it one, and Type.text(Time) takes text" if klass == ::Time
        return "use a Record of it, as Record.new returns one" if klass < Struct || (defined?(Data) && klass < Data)
        return "no object that the codec unpacks has this module" unless klass.is_a?(Class)

        common = Arguments.common_type(klass) or
          return "it has no ext type in the codec: use a Record of it, or register an ext type"

        text = "Type.text(#{klass.name}) takes text, and " if Texts.known?(klass)
        text = "Type.set(T) takes an array, and " if klass.name == "Set"
        "#{text}#{common}; with(codec: factory.codec) gives a Record the types of a Factory"
      end

      # --- Records ---

      def named(name)
        meant(name) || place do
          @strangers << [name, around, @member].freeze if around && name.is_a?(::Symbol)
          { kind: :unnamed, words: unnamed(name), parts: [] }
        end
      end

      def around = @around.reverse_each.map(&:first).find { |one| one.is_a?(Record) }

      def unnamed(name)
        return "the type of Type.recursive is known only inside of it" unless name.is_a?(::Symbol)

        "no Record that encloses it has the name #{name.inspect} (the literal alone is the type " \
          "[#{name.inspect}, #{name.inspect}])"
      end

      # Returns the index of the Record that a name means, or nil, and notes that for all Records between the two.
      def meant(name)
        place = place_of(name)
        index = place && @around[place][1]
        @around.drop(place ? place + 1 : 0).each { |_, _, names| names[name] = index }
        index
      end

      # Returns the position in @around of the innermost Record or recursive type with the name; nil for none.
      def place_of(name)
        @around.rindex { |one, _| Spec.named?(one, name) }
      end

      # Returns the index of the node of a Record: one for all places where the names in it mean the same Records.
      def record(record)
        record = Internal.current_type(record) unless @nodes.empty?
        known = @known[record] ||= []
        index, names = known.find { |_, names| same_there?(names) }
        if index
          names.each_key { |name| meant(name) }
          return index
        end

        @around << [record, @nodes.size, {}]
        index = place { shared?(record) ? { kind: :shared, objects: record } : record_node(record) }
        known << [index, @around.pop[2]]
        index
      end

      # Returns true if the Record's own shapes are used, so that a chain of Records is compiled in linear time.
      def shared?(record) = @nodes.size > 1 && Internal.shared_shapes?(record, @codec)

      def same_there?(names)
        names.all? do |name, index|
          place = place_of(name)
          index == (place && @around[place][1])
        end
      end

      def record_node(record)
        build, slots = %i[@build @arguments].map { |name| record.instance_variable_get(name) }
        fields = record.keys.map { |member, keys| field(record, member, keys, slots.index(member)) }
        words = record.klass.name || record.klass.inspect
        { kind: :record, words: words, expected: Expected.of([:record, record]), parts: [], fields: fields,
          key_count: fields.sum { |field| field[:dump_only] ? 0 : field[:keys].size },
          dump_only_count: fields.sum { |field| field[:dump_only] ? field[:keys].size : 0 },
          record: record, class: record.klass,
          reader: record.lazy_class, own_tag: record.instance_variable_get(:@tag_key),
          build: build, maker: (Record.const_get(:Maker).of(record.klass, record.keys.keys) if build == :keywords),
          form: record.form, rules: Rules.nodes(record.spec, record.instance_variable_get(:@rules)),
          unknown: record.unknown.is_a?(Hash) ? :into : record.unknown }
      end

      def field(record, member, keys, slot)
        into = record.unknown.is_a?(Hash) && record.unknown[:into] == member
        options, default = record.instance_exec { [@options, default(member)] }
        { name: member, slot: slot, ivar: :"@#{member}", into: into, keys: into ? [] : keys,
          load_only: options.load_only.include?(member), dump_only: options.dump_only.include?(member),
          **(default ? default(member, options, *default) : {}), part: part(member, record.types[member].spec) }
      end

      def part(member, spec)
        outer, @member = @member, member
        add(spec).tap { @member = outer }
      end

      # Dump leaves out a member with the value +omitted+.
      def default(member, options, value)
        copied = options.copied.include?(member) && @codec.options.values_at(:freeze, :shareable).none?
        default = copied ? options.class::Copies.new(value) : value
        { default: default, called: options.class.called?(default),
          **(options.omits?(value) ? { omitted: value } : {}) }
      end
    end
    private_constant :Compiler
  end
end
