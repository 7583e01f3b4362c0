# frozen_string_literal: true

#--
# The ways in which a container is written: its possible sizes, its contents, and samples of it.
#
#   pairs = side.shapes(atom)[0]
#   pairs.parts                        # its nodes, each with a function that makes a map with a value there
#   pairs.sample({ "id" => 1 })        # the smallest map with this value
#   pairs.with("id", node, true)       # the same pairs, of which one is always there
#++
module Manypack
  class Compatibility
    # What Elements and Pairs have in common. Samples throw :none if a part has no finite value.
    module Shape # :nodoc:
      # Returns the smallest sample. Throws :none if the limit forbids it.
      def smallest
        container = sample
        container.size > side.options.fetch(self.class::LIMIT, Float::INFINITY) ? throw(:none) : container
      end

      def written? = catch(:none) { smallest } ? true : false

      # Returns how many "containers" may be open in it, how many "objects" it has, or how many "bytes".
      def most(unit)
        counted = counts.map { |node, count| [side.most(node, unit), count] }
        return 1 + (counted.map(&:first).max || 0) if unit == "containers"

        counted.sum { |most, count| most.zero? ? 0 : most * count } + (unit == "bytes" ? own_bytes : own_objects)
      end

      private

      def changed(**changes) = dup.tap { |copy| changes.each { |name, value| copy[name] = value } }
    end

    # An array.
    #
    # first, rest:: the nodes of its first elements, and that of all further ones, or nil
    # least, needed:: how many are written at least, and how many a reader needs
    # open:: true if a reader skips further elements
    # excluded:: values that the first element never has
    Elements = Struct.new(:side, :atom, :first, :rest, :least, :needed, :open, :excluded) do
      include Shape

      def tagged(_tag, value)
        changed(first: [Side.literal(value), *first], least: least + 1, needed: needed + 1, excluded: [])
      end

      # Returns the same elements of which the first has one value only.
      def narrowed(value)
        changed(first: [Side.literal(value), *first.drop(1)], least: [least, 1].max, excluded: [])
      end

      def excluding(_tag, values) = changed(excluded: values)

      # Returns an Array with values at indices, and at least so many elements.
      def sample(given = {}, size = 0)
        size = [first.size, least, size, *given.keys.map(&:succ)].max
        Array.new(size) { |i| given.fetch(i) { side.sample(first[i] || rest || throw(:none)) } }
      end

      def parts = [*first, rest].compact.each_with_index.map { |node, i| [node, ->(value) { sample({ i => value }) }] }
      def step(index) = "[#{index}]"
      def capacity = rest ? Rules.lengths(atom)[1] : first.size

      private

      def counts = [*first.map { |node| [node, 1] }, ([rest, Float::INFINITY] if rest)].compact
      def own_bytes = 5
      def own_objects = 1
    end
    Elements::LIMIT = "max_array_size"

    # A map.
    #
    # known:: a Hash of keys, each with the node of its value, and whether it is always there
    # rest, never:: the nodes of all other keys and values, or nil, and keys that are not among them
    # excluded:: a Hash of keys and values that they never have
    Pairs = Struct.new(:side, :atom, :known, :rest, :never, :excluded) do
      include Shape

      def with(key, node, always) = changed(known: { **known, key => [node, always] })

      # Returns the same pairs in which a key has one value only.
      def narrowed(key, value) = with(key, Side.literal(value), true)
      alias_method :tagged, :narrowed

      def without(keys) = changed(known: known.except(*keys), never: never | keys)
      def excluding(key, values) = changed(excluded: { **excluded, key => values | excluded.fetch(key, []) })

      # Returns a Hash with values at keys, and at least so many pairs if that many are possible.
      def sample(given = {}, size = Rules.lengths(atom)[0])
        always, others = known.partition { |_, (_, always)| always }
        chosen = [*always, *others.first([size - always.size, 0].max)].to_h.except(*given.keys)
        map = { **chosen.transform_values { |node, _| side.sample(node) }, **given }
        return map unless rest && map.size < size

        value = side.sample(rest[1])
        side.sample_keys(rest[0], size - map.size).each_with_object(map) { |key, hash| hash[key] = value }
      end

      def parts
        known = self.known.map { |key, (node, _)| [node, ->(value) { sample({ key => value }) }] }
        rest ? [*known, [rest[1], ->(value) { sample({ side.sample(rest[0]) => value }) }]] : known
      end

      def step(key) = Path.of(key).to_s.delete_prefix("$")
      def capacity = known.size + (rest ? side.keys(rest[0]) : 0)

      private

      def counts
        [*known.each_value.map { |node, _| [node, 1] }, *rest.to_a.map { |node| [node, side.keys(rest[0])] }]
      end

      def own_bytes = 5 + Manypack.pack(known.keys).bytesize
      def own_objects = 1 + known.size
    end
    Pairs::LIMIT = "max_map_size"
    private_constant :Shape, :Elements, :Pairs
  end
end
