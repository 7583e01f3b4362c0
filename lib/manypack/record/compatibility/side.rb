# frozen_string_literal: true

#--
# One of two versions of a type, as its description says: the kinds of values at each place, and samples of them.
#++
module Manypack
  class Compatibility
    # What is written as a map by an atom: the keys that are known with their nodes, and whether they are always there;
    # the nodes of all other keys and values, or nil; the keys that these others never have; and values that a key never
    # has.
    Pairs = Struct.new(:atom, :known, :rest, :never, :excluded) do
      def with(key, node, always) = dup.tap { |copy| copy.known = { **known, key => [node, always] } }

      # Returns the same pairs in which a key has one value only.
      def narrowed(key, value) = with(key, Side.literal(value), true)

      # Returns the same pairs without keys.
      def without(keys)
        dup.tap do |copy|
          copy.known = known.except(*keys)
          copy.never = never | keys
        end
      end

      def excluding(key, values) = dup.tap { |copy| copy.excluded = { **excluded, key => values } }
    end

    # What is written as an array: the nodes of the first elements, that of all further ones, or nil, and how many there
    # are at least; how many a reader needs, and whether it passes over further ones; and what the first one never is.
    Elements = Struct.new(:first, :rest, :least, :needed, :open, :excluded) do
      # Returns the same elements after a tag.
      def tagged(value)
        Elements.new([Side.literal(value), *first], rest, least + 1, needed + 1, open, [])
      end

      # Returns the same elements of which the first has one value only.
      def narrowed(value)
        Elements.new([Side.literal(value), *first.drop(1)], rest, [least, 1].max, needed, open, [])
      end
    end

    # What the rules of a node say of lengths and multiples.
    module Lengths # :nodoc:
      module_function

      # Returns the least and the most.
      def of(atom)
        found = atom["rules"].to_a.select { |kind, *| kind == "length" }
        [found.map { |_, least, _| least }.max || 0, found.filter_map { |_, _, most| most }.min || Float::INFINITY]
      end

      def some(atom) = 1.clamp(*of(atom))

      def multiple(atom, number)
        _, step = atom["rules"].to_a.find { |kind, *| kind == "multiple_of" }
        step ? (number / step.to_f).ceil * step : number
      end
    end

    class Side # :nodoc:
      NONE = :none
      ARRAYS = Ractor.make_shareable(%w[list tuple])
      TEXTS = Ractor.make_shareable(%w[string symbol text bytes])
      ALL = Ractor.make_shareable(%w[nil true false integer float string list map])
      INTEGERS = { "kind" => "integer", "words" => "Integer", "min" => -2**63, "max" => 2**64 - 1 }.freeze
      FLOATS = { "kind" => "float", "words" => "Float", "min" => -Float::INFINITY, "max" => Float::INFINITY,
                 "nan" => true }.freeze
      private_constant :ARRAYS, :TEXTS, :ALL, :INTEGERS, :FLOATS

      attr_reader :options

      # writes:: whether this is the side that writes
      def initialize(description, writes:)
        @writes = writes
        unless description["format"] == Type.const_get(:Description)::FORMAT
          raise ArgumentError, "a description of another version of Manypack: describe the types again"
        end

        @nodes = description["nodes"]
        @options = description["options"]
        @any = { "kind" => "class", "words" => "an object", "takes" => ALL, "exts" => description["exts"] }
        @skipped = { **@any, "exts" => description["skipped"] } if description["skipped"]
        @views = Hash.new { |views, exts| views[exts] = { **@any, "exts" => exts } }
        @full = {}.compare_by_identity
        @atoms = {}.compare_by_identity
        @pairs = {}.compare_by_identity
        @arrays = {}.compare_by_identity
        @samples = {}.compare_by_identity
        @most = {}
      end

      # Returns the node that another one refers to, by its index or itself.
      def node(part) = part.is_a?(Integer) ? @nodes[part] : part
      def root = @nodes[0]
      def any = @any

      # Returns the node of what a Record skips, or nil if it does not look at that.
      def skipped = @skipped

      def array?(atom) = ARRAYS.include?(atom["kind"]) || atom["form"] == "array"
      def map?(atom) = atom["kind"] == "map" || atom["form"] == "map"

      def self.literal(value) = { "kind" => "enum", "words" => value.inspect, "values" => [value] }

      # Returns the kinds of values that a node has, in its order: nodes that are no union and no class.
      def atoms(node)
        @atoms[node] ||= case node["kind"]
                         when "union" then told_apart(node["parts"].flat_map { |part| atoms(node(part)) })
                         when "view" then taken(node, @views[node["exts"]])
                         when "ruled" then ruled(node)
                         when "class" then taken(node, @views.each_value.any? { |one| one.equal?(node) } ? node : @any)
                         else [node, *exts(node)]
                         end
      end

      # Returns the ways in which maps of an atom are written.
      def pairs(atom)
        @pairs[atom] ||= case atom["kind"]
                         when "tagged" then tagged(atom)
                         when "record" then [record(atom)]
                         else [map(atom, *atom["parts"].map { |part| node(part) })]
                         end
      end

      # Returns the ways in which arrays of an atom are written.
      def arrays(atom)
        @arrays[atom] ||= case atom["kind"]
                          when "tagged" then tagged_arrays(atom)
                          when "record" then [positional(atom)]
                          when "tuple" then [tuple(atom["parts"])]
                          else [Elements.new([], node(atom["parts"][0]), Lengths.of(atom)[0], 0, false, [])]
                          end
      end

      # Returns the nodes of the keys and values that a Record collects.
      def rest(record)
        collecting(record)&.fetch("parts")&.map { |part| node(part) }
      end

      # Returns the map in which a Record collects them, or nil.
      def collecting(record)
        field = record["fields"].find { |one| one["into"] }
        atoms(node(field["part"])).find { |atom| atom["kind"] == "map" } if field
      end

      # Returns how many bytes a text or an ext may have, how many elements an array, and how many pairs a map; 0 for
      # all others.
      def size(atom)
        return pairs(atom).map { |pairs| pairs_of(pairs) }.max || 0 if map?(atom)
        return arrays(atom).map { |all| all.rest ? Lengths.of(atom)[1] : all.first.size }.max || 0 if array?(atom)

        case atom["kind"]
        when *TEXTS then Lengths.of(atom)[1] * 4
        when "enum" then longest(atom).bytesize
        when "ext" then [*atom["types"]].all? { |type, _| type == -1 } ? 12 : Float::INFINITY
        else 0
        end
      end

      # Returns the longest text of an enum.
      def longest(enum)
        enum["values"].grep(String).max_by(&:bytesize) || ""
      end

      def bytes_of_element(array)
        rest = arrays(array).filter_map(&:rest).first
        (rest && catch(:none) { Manypack.pack(sample(rest)).bytesize }) || 1
      end

      def pairs_of(pairs) = pairs.known.size + (pairs.rest ? keys(pairs.rest[0]) : 0)

      def sample_of_size(atom, size)
        return sample_elements(arrays(atom).max_by { |one| one.rest ? size : one.first.size }, {}, size) if array?(atom)
        return longest(atom) if atom["kind"] == "enum"
        return sample_ext(atom["types"], size) if atom["kind"] == "ext"
        return "a" * size unless map?(atom)

        sample_map(pairs(atom).max_by { |pairs| pairs_of(pairs) }, size)
      end

      # Returns how many "containers" may be open in a value of a node, how many "objects" it has, or how many "bytes".
      def most(node, unit)
        known = (@most[unit] ||= {}.compare_by_identity)
        known.fetch(node) do
          known[node] = Float::INFINITY # if it contains itself
          known[node] = atoms(node).map { |atom| most_of(atom, unit) }.max || 0
        end
      end

      # --- samples ------------------------------------------------------------------------------------------

      # Returns a value of a node. Throws :none if there is no finite one.
      def sample(node)
        value = sample_of(node)
        value == NONE ? throw(:none) : value
      end

      # Returns a value of an atom. Throws :none if there is no finite one.
      def sample_atom(atom)
        return sample_of_array(atom) if array?(atom)
        return sample_of_map(atom) if map?(atom)

        case atom["kind"]
        when "enum" then atom["values"][0]
        when "integer" then Lengths.multiple(atom, 1.clamp(atom["min"], atom["max"]))
        when "float" then Lengths.multiple(atom, 0.5.clamp(atom["min"], atom["max"]))
        when "string", "symbol", "text" then "a" * Lengths.some(atom)
        when "bytes" then "a".b * Lengths.some(atom)
        when "ext" then sample_ext(atom["types"])
        else throw(:none)
        end
      end

      def sample_pairs(pairs, given = {})
        known = pairs.known.select { |key, (_, always)| always && !given.key?(key) }
        { **known.transform_values { |node, _| sample(node) }, **given }
      end

      # Returns an Array with a value at an index, and at least so many elements.
      def sample_elements(elements, given = {}, least = 0)
        size = [elements.first.size, elements.least, least, *given.keys.map(&:succ)].max
        Array.new(size) { |i| given.fetch(i) { sample(elements.first[i] || elements.rest || throw(:none)) } }
      end

      # Returns true if there is a map of those pairs, or an array of those elements.
      def written?(part)
        catch(:none) { part.is_a?(Pairs) ? least_map(part) : least_array(part) } ? true : false
      end

      def least_map(pairs) = within("max_map_size", sample_pairs(pairs))
      def least_array(elements) = within("max_array_size", sample_elements(elements))

      # Returns a value of a node in which so many containers are open. Throws :none if there is none.
      def deep(node, levels)
        return sample(node) if levels.zero?

        atoms(node).each do |atom|
          places(atom).each { |part, inside| return inside.call(deep(part, levels - 1)) if deep?(part, levels - 1) }
        end
        throw(:none)
      end

      private

      def deep?(node, levels) = most(node, "containers") >= levels

      # Returns the parts of a container, each with a function that makes one with a value there.
      def places(atom)
        if array?(atom)
          return arrays(atom).flat_map do |elements|
            [*elements.first, elements.rest].compact.map.with_index do |part, i|
              [part, ->(value) { sample_elements(elements, { i => value }) }]
            end
          end
        end
        map?(atom) ? pairs(atom).flat_map { |pairs| places_of_pairs(pairs) } : []
      end

      def places_of_pairs(pairs)
        known = pairs.known.map { |key, (node, _)| [node, ->(value) { sample_pairs(pairs, { key => value }) }] }
        return known unless pairs.rest

        [*known, [pairs.rest[1], ->(value) { sample_pairs(pairs, { sample(pairs.rest[0]) => value }) }]]
      end

      # Returns the kinds of a node whose lists and maps have anything of another one.
      def taken(node, any)
        @full[any] ||= full(any)
        [*node.fetch("takes", ALL).map { |kind| @full[any].fetch(kind) }, *exts(node)]
      end

      def full(any)
        enums = { "nil" => nil, "true" => true, "false" => false }
        { **enums.to_h { |kind, value| [kind, { "kind" => "enum", "words" => kind, "values" => [value] }] },
          "integer" => INTEGERS, "float" => FLOATS, "string" => { "kind" => "string", "words" => "String" },
          "list" => { "kind" => "list", "words" => "Array", "parts" => [any] },
          "map" => { "kind" => "map", "words" => "Hash", "parts" => [any, any] } }
      end

      # The rules of a node are those of each of its kinds.
      def ruled(node)
        atoms(node(node["parts"][0])).map do |atom|
          { **atom, "words" => node["words"], "rules" => [*atom["rules"], *node["rules"]] }
        end
      end

      def exts(node)
        exts = node["exts"]
        return [] if exts.nil? || exts.empty?

        [{ "kind" => "ext", "words" => exts == "all" ? "any ext" : exts.map(&:last).join(" or "), "types" => exts }]
      end

      def record(atom)
        own = atom["fields"].reject { |field| field["into"] }
        written = own.select { |field| field["written"] }
        known = written.to_h { |field| [field["keys"][0], [node(field["part"]), !field["omitted"]]] }
        Pairs.new(atom, known, rest(atom), own.flat_map { |field| field["keys"] }, {})
      end

      def map(atom, key, value)
        literals = atoms(key).flat_map { |one| one["values"] || [nil] }
        return Pairs.new(atom, {}, [key, value], [], {}) if literals.include?(nil)

        Pairs.new(atom, literals.to_h { |one| [one, [value, false]] }, nil, [], {})
      end

      # Records with all required members of one that is tried before are not written.
      def told_apart(atoms)
        records = atoms.select { |atom| atom["kind"] == "record" && map?(atom) }
        return atoms if records.size < 2 || !@writes

        atoms - records.select do |atom|
          keys = atom["fields"].filter_map { |field| field["keys"][0] }
          before = records.select { |one| needed(one).size > needed(atom).size }
          before.any? { |one| needed(one).all? { |names| (names & keys).any? } }
        end
      end

      public

      # Returns the keys of each member that a Record requires.
      def needed(record)
        record["fields"].select { |field| field["required"] && !field["into"] }.map { |field| field["keys"] }
      end

      private

      def positional(atom)
        fields = atom["fields"]
        least, needed = [fields.rindex { |field| !field["omitted"] }, fields.rindex { |field| field["required"] }]
        Elements.new(fields.map { |field| node(field["part"]) }, nil, least.to_i + (least ? 1 : 0),
                     needed.to_i + (needed ? 1 : 0), atom["unknown"] != "raise", [])
      end

      def tuple(parts) = Elements.new(parts.map { |part| node(part) }, nil, parts.size, parts.size, false, [])

      def tagged_arrays(atom)
        tags = atom["tags"]
        chosen = tags.zip(atom["parts"]).flat_map { |value, part| arrays_of(part).map { |one| one.tagged(value) } }
        others = atom.values_at("else", "untagged").compact.uniq.flat_map { |part| arrays_of(part) }
        chosen + others.map { |one| one.dup.tap { |copy| copy.excluded = tags } }
      end

      def arrays_of(part)
        atoms(node(part)).select { |one| array?(one) }.flat_map { |one| arrays(one) }
      end

      def tagged(atom)
        tag, tags = atom.values_at("tag", "tags")
        chosen = tags.zip(atom["parts"]).flat_map { |value, part| maps(part).map { |one| one.narrowed(tag, value) } }
        unknown, missing = atom.values_at("else", "untagged").map { |part| part ? maps(part) : [] }
        return chosen + unknown.map { |one| without_tags(one, tag, tags) } if atom["else"] == atom["untagged"]

        chosen + unknown.map { |one| tag_beside(without_tags(one, tag, tags), tag) } +
          missing.map { |one| one.known.key?(tag) ? without_tags(one, tag, tags) : one.without([tag]) }
      end

      def without_tags(pairs, tag, tags) = pairs.excluding(tag, tags | pairs.excluded.fetch(tag, []))

      # What keeps all keys has a tag, which is none of those that are known.
      def tag_beside(pairs, tag)
        return pairs unless pairs.rest && !pairs.known.key?(tag) && !pairs.never.include?(tag)

        pairs.with(tag, pairs.rest[1], true)
      end

      def maps(part)
        atoms(node(part)).select { |one| map?(one) }.flat_map { |one| pairs(one) }
      end

      # Returns how many different keys a node has.
      def keys(node)
        atoms(node).sum do |atom|
          case atom["kind"]
          when "enum" then atom["values"].size
          when "integer" then atom["max"] - atom["min"] + 1
          else Float::INFINITY
          end
        end
      end

      def sample_map(pairs, size)
        always, others = pairs.known.partition { |_, (_, always)| always }
        known = [*always, *others.first([size - always.size, 0].max)].to_h { |key, (node, _)| [key, sample(node)] }
        return known unless pairs.rest

        value = sample(pairs.rest[1])
        sample_keys(pairs.rest[0], [size - known.size, 0].max).each_with_object(known) { |key, hash| hash[key] = value }
      end

      def sample_keys(node, count)
        atoms(node).flat_map do |atom|
          case atom["kind"]
          when "enum" then atom["values"]
          when "integer" then (atom["min"]..atom["max"]).first(count)
          when *TEXTS then Array.new(count) { |i| "a#{i}" }
          else []
          end
        end.first(count)
      end

      def most_of(atom, unit)
        return arrays(atom).map { |one| most_of_array(one, unit) }.max || 0 if array?(atom)
        return pairs(atom).map { |pairs| most_of_map(pairs, unit) }.max || 0 if map?(atom)
        return unit == "objects" ? 1 : 0 unless unit == "bytes"

        case atom["kind"]
        when "integer", "float" then 9
        when "enum" then atom["values"].map { |value| Manypack.pack(value).bytesize }.max
        else Float::INFINITY
        end
      end

      def most_of_array(elements, unit)
        parts = [*elements.first, elements.rest].compact.map { |part| most(part, unit) }
        return 1 + (parts.max || 0) if unit == "containers"

        elements.rest ? Float::INFINITY : parts.sum + (unit == "bytes" ? 5 : 1)
      end

      def most_of_map(pairs, unit)
        known = pairs.known.each_value.map { |node, _| most(node, unit) }
        rest = pairs.rest.to_a.map { |node| most(node, unit) }
        return 1 + ([*known, *rest].max || 0) if unit == "containers"

        known.sum + (pairs.rest ? keys(pairs.rest[0]) * rest.sum : 0) +
          (unit == "bytes" ? 5 + Manypack.pack(pairs.known.keys).bytesize : 1 + pairs.known.size)
      end

      # A node that is being sampled has no value yet. That it has none is no more true when it is done.
      def sample_of(node)
        return @samples[node] if @samples.key?(node)

        @samples[node] = NONE
        ordered = atoms(node).sort_by.with_index { |atom, i| [array?(atom) || map?(atom) ? 1 : 0, i] }
        ordered.each do |atom| # not lazily, which takes more of Ruby's stack for each level of a type
          value = catch(:none) { [sample_atom(atom)] }
          return @samples[node] = value[0] if value
        end
        @samples.delete(node)
      end

      def sample_of_array(atom)
        arrays(atom).each do |elements|
          array = catch(:none) { least_array(elements) }
          return array if array
        end
        throw(:none)
      end

      def sample_of_map(atom)
        least = Lengths.of(atom)[0]
        pairs(atom).each do |pairs|
          map = catch(:none) { least.zero? ? least_map(pairs) : within("max_map_size", sample_map(pairs, least)) }
          return map if map
        end
        throw(:none)
      end

      def within(limit, container)
        container.size > @options.fetch(limit, Float::INFINITY) ? throw(:none) : container
      end

      def sample_ext(types, size = 0)
        type = types == "all" ? 99 : types[0][0]
        ExtensionValue.new(type, type == -1 ? "\0\0\0\0".b : "\0".b * size)
      end
    end
    private_constant :Side, :Lengths
  end
end
