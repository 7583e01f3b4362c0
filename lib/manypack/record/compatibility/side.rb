# frozen_string_literal: true

#--
# One of two versions of a type, as its description says: the kinds of values at each place, and samples of them.
#++
require_relative "shapes"

module Manypack
  class Compatibility
    class Side # :nodoc:
      TEXTS = Ractor.make_shareable(%w[string symbol text bytes])
      ALL = Ractor.make_shareable(%w[nil true false integer float string list map])
      SCALARS = Ractor.make_shareable({
        "nil" => { "kind" => "enum", "words" => "nil", "values" => [nil] },
        "true" => { "kind" => "enum", "words" => "true", "values" => [true] },
        "false" => { "kind" => "enum", "words" => "false", "values" => [false] },
        "integer" => { "kind" => "integer", "words" => "Integer", "min" => -2**63, "max" => 2**64 - 1 },
        "float" => { "kind" => "float", "words" => "Float", "min" => -Float::INFINITY, "max" => Float::INFINITY,
                     "nan" => true },
        "string" => { "kind" => "string", "words" => "String" }
      })
      private_constant :TEXTS, :ALL, :SCALARS

      # Any object, and what a Record skips (nil if it does not look at that): nodes.
      attr_reader :options, :any, :skipped

      def initialize(description, writes:)
        @writes = writes
        unless description["format"] == Type.const_get(:Description)::FORMAT
          raise ArgumentError, "a description of another version of Manypack: describe the types again"
        end

        @nodes = description["nodes"]
        @options = description["options"]
        @any = any_with(description["exts"])
        @skipped = { **@any, "exts" => description["skipped"] } if description["skipped"]
        @views = Hash.new { |views, exts| views[exts] = any_with(exts) }
        @found = Hash.new { |found, name| found[name] = {}.compare_by_identity }
      end

      # Returns the node for a part, which is its index or the node itself.
      def node(part) = part.is_a?(Integer) ? @nodes[part] : part
      def root = @nodes[0]

      # Returns :array or :map for an atom that is written as one, otherwise nil.
      def form(atom)
        case atom["kind"]
        when "list", "tuple" then :array
        when "map" then :map
        else atom["form"]&.to_sym
        end
      end

      def self.literal(value) = { "kind" => "enum", "words" => value.inspect, "values" => [value] }

      # Returns the atoms of a node in its order: the nodes, other than unions and classes, that it consists of.
      def atoms(node)
        once(:atoms, node) do
          case node["kind"]
          when "union" then told_apart(node["parts"].flat_map { |part| atoms(node(part)) })
          when "view" then atoms(@views[node["exts"]])
          when "ruled" then ruled(node)
          when "class" then [*node.fetch("takes", ALL).map { |kind| taken(kind, node[:any] || @any) }, *exts(node)]
          else [node, *exts(node)]
          end
        end
      end

      def atoms_of(part, form) = atoms(node(part)).select { |one| form(one) == form }

      # Returns the ways in which an atom is written, if it is an array or a map.
      def shapes(atom)
        once(:shapes, atom) do
          case atom["kind"]
          when "tagged" then tagged(atom)
          when "record" then [atom["form"] == "array" ? positional(atom) : record(atom)]
          when "map" then [map(atom, *atom["parts"].map { |part| node(part) })]
          when "tuple" then [elements(atom, atom["parts"], least: atom["parts"].size)]
          when "list" then [elements(atom, [], rest: node(atom["parts"][0]), least: Rules.lengths(atom)[0])]
          else []
          end
        end
      end

      # Returns the shape of arrays of these parts. They are needed if they are always there.
      def elements(atom, parts, rest: nil, least: 0, needed: rest ? 0 : least, open: false)
        Elements.new(self, atom, parts.map { |part| node(part) }, rest, least, needed, open, [])
      end

      # Returns the nodes of the keys and values of unknown pairs that a Record collects.
      def rest(record) = collecting(record)&.fetch("parts")&.map { |part| node(part) }

      # Returns the map in which a Record collects unknown pairs, or nil.
      def collecting(record)
        field = record["fields"].find { |one| one["into"] }
        atoms(node(field["part"])).find { |atom| atom["kind"] == "map" } if field
      end

      def needed(record)
        record["fields"].select { |field| field["required"] && !field["into"] }.map { |field| field["keys"] }
      end

      # --- sizes --------------------------------------------------------------------------------------------

      # Returns how many bytes, elements or pairs an atom may have; 0 for one without a limit of its own.
      def size(atom)
        case atom["kind"]
        when *TEXTS then Rules.lengths(atom)[1] * 4
        when "enum" then longest(atom).bytesize
        when "ext" then [*atom["types"]].all? { |type, _| type == -1 } ? 12 : Float::INFINITY
        else shapes(atom).map(&:capacity).max || 0
        end
      end

      # Returns how many bytes each further part of an array has.
      def bytes_of_element(array)
        rest = shapes(array).filter_map(&:rest).first
        (rest && catch(:none) { Manypack.pack(sample(rest)).bytesize }) || 1
      end

      # Returns how many "containers" may be open in a value of a node, how many "objects" it has, or how many "bytes".
      def most(node, unit)
        once(unit, node, Float::INFINITY) { atoms(node).map { |atom| most_of(atom, unit) }.max || 0 } # if in itself
      end

      def keys(node)
        atoms(node).sum do |atom|
          case atom["kind"]
          when "enum" then atom["values"].size
          when "integer" then atom["max"] - atom["min"] + 1
          else Float::INFINITY
          end
        end
      end

      # --- samples ------------------------------------------------------------------------------------------

      # Returns a value of a node. Throws :none if there is no finite one.
      def sample(node)
        value = sample_of(node)
        value == :none ? throw(:none) : value
      end

      def sample_of_size(atom, size)
        case atom["kind"]
        when *TEXTS then "a" * size
        when "enum" then longest(atom)
        when "ext" then sample_ext(atom["types"], size)
        else shapes(atom).max_by(&:capacity).sample({}, size)
        end
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

      # Returns a value of a node with so many containers inside each other. Throws :none if there is none.
      def deep(node, levels)
        return sample(node) if levels.zero?

        atoms(node).flat_map { |atom| shapes(atom) }.flat_map(&:parts).each do |part, inside|
          return inside.call(deep(part, levels - 1)) if most(part, "containers") >= levels - 1
        end
        throw(:none)
      end

      private

      # Calls the block once for each node. While it runs, the answer is +meanwhile+.
      def once(name, node, meanwhile = nil)
        found = @found[name]
        return found[node] if found.key?(node)

        found[node] = meanwhile
        found[node] = yield
      end

      # --- atoms --------------------------------------------------------------------------------------------

      # Returns the node of any object with these ext types. Those of a View are in it at any depth.
      def any_with(exts)
        { "kind" => "class", "words" => "an object", "takes" => ALL, "exts" => exts }.tap { |any| any[:any] = any }
      end

      # Returns the atom of a kind whose parts are any object.
      def taken(kind, any)
        once(kind, any) do
          case kind
          when "list" then { "kind" => "list", "words" => "Array", "parts" => [any] }
          when "map" then { "kind" => "map", "words" => "Hash", "parts" => [any, any] }
          else SCALARS.fetch(kind)
          end
        end
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

      # Leaves out Records that have all required members of another one that is tried before: dump refuses their
      # objects.
      def told_apart(atoms)
        records = atoms.select { |atom| atom["kind"] == "record" && form(atom) == :map }
        return atoms if records.size < 2 || !@writes

        atoms - records.select do |atom|
          keys = atom["fields"].filter_map { |field| field["keys"][0] }
          before = records.select { |one| needed(one).size > needed(atom).size }
          before.any? { |one| needed(one).all? { |names| (names & keys).any? } }
        end
      end

      # --- shapes -------------------------------------------------------------------------------------------

      def record(atom)
        own = atom["fields"].reject { |field| field["into"] }
        written = own.select { |field| field["written"] }
        known = written.to_h { |field| [field["keys"][0], [node(field["part"]), !field["omitted"]]] }
        Pairs.new(self, atom, known, rest(atom), own.flat_map { |field| field["keys"] }, {})
      end

      def map(atom, key, value)
        literals = atoms(key).flat_map { |one| one["values"] || [nil] }
        return Pairs.new(self, atom, {}, [key, value], [], {}) if literals.include?(nil)

        Pairs.new(self, atom, literals.to_h { |one| [one, [value, false]] }, nil, [], {})
      end

      def positional(atom)
        fields = atom["fields"]
        least, needed = [fields.rindex { |field| !field["omitted"] }, fields.rindex { |field| field["required"] }]
        elements(atom, fields.map { |field| field["part"] }, least: least ? least + 1 : 0,
                 needed: needed ? needed + 1 : 0, open: atom["unknown"] != "raise")
      end

      def tagged(atom)
        tag, tags = atom.values_at("tag", "tags")
        chosen = tags.zip(atom["parts"]).flat_map do |value, part|
          shapes_of(part, atom) { |one| one.tagged(tag, value) }
        end
        others = atom.values_at("else", "untagged").uniq
        if others.size == 1 || form(atom) == :array
          return chosen + others.flat_map { |part| shapes_of(part, atom) { |one| one.excluding(tag, tags) } }
        end

        unknown, missing = others
        chosen + shapes_of(unknown, atom) { |one| tag_beside(one.excluding(tag, tags), tag) } +
          shapes_of(missing, atom) { |one| one.known.key?(tag) ? one.excluding(tag, tags) : one.without([tag]) }
      end

      # Returns what the block makes of the shapes of a part, or none for nil, that have the form of the atom.
      def shapes_of(part, atom, &block)
        part ? atoms_of(part, form(atom)).flat_map { |one| shapes(one) }.map(&block) : []
      end

      # Pairs that may have any key have a tag here, which is none of the known ones.
      def tag_beside(pairs, tag)
        return pairs unless pairs.rest && !pairs.known.key?(tag) && !pairs.never.include?(tag)

        pairs.with(tag, pairs.rest[1], true)
      end

      # --- scalars ------------------------------------------------------------------------------------------

      def most_of(atom, unit)
        return shapes(atom).map { |shape| shape.most(unit) }.max || 0 if form(atom)
        return unit == "objects" ? 1 : 0 unless unit == "bytes"

        case atom["kind"]
        when "integer", "float" then 9
        when "enum" then atom["values"].map { |value| Manypack.pack(value).bytesize }.max
        else Float::INFINITY
        end
      end

      # A node that is being sampled counts as having no value. If none is found, that is forgotten, because it may have
      # one elsewhere.
      def sample_of(node)
        samples = @found[:samples]
        return samples[node] if samples.key?(node)

        samples[node] = :none
        ordered = atoms(node).sort_by.with_index { |atom, i| [form(atom) ? 1 : 0, i] }
        ordered.each do |atom| # not lazily, which takes more of Ruby's stack for each level of a type
          value = catch(:none) { [sample_atom(atom)] }
          return samples[node] = value[0] if value
        end
        samples.delete(node)
      end

      # Returns a value of an atom. Throws :none if there is no finite one.
      def sample_atom(atom)
        case atom["kind"]
        when "enum" then atom["values"][0]
        when "integer" then Rules.multiple_near(atom, 1.clamp(atom["min"], atom["max"]))
        when "float" then Rules.multiple_near(atom, 0.5.clamp(atom["min"], atom["max"]))
        when *TEXTS then (atom["kind"] == "bytes" ? "a".b : "a") * 1.clamp(*Rules.lengths(atom))
        when "ext" then sample_ext(atom["types"])
        else sample_container(atom)
        end
      end

      def sample_container(atom)
        shapes(atom).each do |shape|
          value = catch(:none) { shape.smallest }
          return value if value
        end
        throw(:none)
      end

      def longest(enum) = enum["values"].grep(String).max_by(&:bytesize) || ""
      def sample_ext(types, size = 0)
        type = types == "all" ? 99 : types[0][0]
        ExtensionValue.new(type, type == -1 ? "\0\0\0\0".b : "\0".b * size)
      end
    end
    private_constant :Side
  end
end
