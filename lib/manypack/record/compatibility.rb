# frozen_string_literal: true

#--
# Tells whether one version of a type reads everything that another one writes.
#++
require_relative "compatibility/side"

module Manypack
  # Walks over two descriptions, and finds the places at which the second does not read what the first writes.
  class Compatibility # :nodoc:
    # The place of a value: its path, and a function that makes a message with a value there.
    Place = Struct.new(:path, :around) do
      def step(text, &inside) = Place.new("#{path}#{text}", ->(value) { around.call(inside.call(value)) })
      def at(shape, key, size = 0)
        step(shape.step(key)) { |value| shape.sample({ key => value }, size) }
      end
    end

    # A place where the versions differ, and messages that may prove it.
    Found = Struct.new(:path, :reason, :messages) do
      def proved(old, new)
        Incompatibility.new(path, reason, messages.lazy.filter_map { |message| proof(message, old, new) }.first)
      end

      private

      # Returns the bytes that the old version writes for a message, if the new one refuses them.
      def proof(message, old, new)
        bytes = old.dump(old.load(old.codec.pack(message)))
        bytes unless reads?(new, bytes)
      rescue ::StandardError
        nil # the old version refuses the message, perhaps in code of the program
      end

      def reads?(type, bytes)
        type.valid?(bytes)
      rescue ArgumentError
        false # a name without a Record
      end
    end
    private_constant :Place, :Found

    def self.between(old, new)
      type = Arguments.type_of(old) or raise ::TypeError, "expected a Type or a class with a Record, got #{old.inspect}"
      new(type.description, new.description).found
    end

    def initialize(old, new)
      @whole = Place.new("$", :itself.to_proc)
      @old = Side.new(old, writes: true)
      @new = Side.new(new, writes: false)
      @seen = {}
      @exceeded = []
      @choices = 0
    end

    def found
      @found ||= [].tap do |found|
        @found = found
        compare(@old.root, @new.root, @whole)
        compare_totals
      end
    end

    private

    # The block makes a value of each of those given, or throws :none.
    def report(place, reason, given = [nil])
      messages = given.filter_map { |one| catch(:none) { [place.around.call(yield(one))] } }.map(&:first)
      @found << Found.new(place.path, reason, messages)
    end

    # A pair of nodes that is being compared counts as compatible, so that types may contain themselves.
    def compare(old, new, place)
      return if seen?(old, new)

      readers = @new.atoms(new)
      refused = @old.atoms(old).map { |atom| [atom, compare_atom(atom, readers, place)] }
      refused = refused.reject { |_, values| values.empty? }
      return if refused.empty?

      words = refused.map { |atom, values| words(atom, values) }.uniq.join(" or ")
      report(place, "the old version writes #{words}, the new one takes #{new["words"]}", refused.flat_map(&:last),
             &:itself)
    end

    def words(atom, values)
      return values.map(&:inspect).join(" or ") if atom["kind"] == "enum" && !atom["words"].start_with?("the key")

      values.all? { |value| value.is_a?(String) && !value.valid_encoding? } ? "text that is not UTF-8" : atom["words"]
    end

    # Returns values of the atom that no reader takes. For an array or a map, compares it with the readers of that kind,
    # and returns none if there are any.
    def compare_atom(atom, readers, place)
      return [nil] if atom["kind"] == "unknown" # nothing is known about it

      sample, = catch(:none) { [@old.sample(atom)] } || (return []) # it is never written
      compare_sizes(atom, place)
      form = @old.form(atom) or return Scalars.new(readers, @old.options, @new.options).refused(atom, sample)
      readers = readers.select { |one| @new.form(one) == form }
      return [sample] if readers.empty?

      compare_containers(atom, readers, place) unless seen?(atom, readers[0], :kind)
      []
    end

    # At most one reader takes arrays. Maps may be of several Records.
    def compare_containers(atom, readers, place)
      report_rules(atom, readers[0], place) if @old.form(atom) == :array
      @old.shapes(atom).each do |shape|
        shape.is_a?(Pairs) ? compare_map(shape, readers, place, []) : compare_elements(shape, readers[0], place)
      end
    end

    def report_rules(atom, reader, place)
      unmet = reader["rules"].to_a.reject { |rule| Rules.implied?(rule, atom) }
      return if unmet.empty?

      sizes = unmet.select { |kind, *| kind == "length" }.flat_map { |_, least, most| [least - 1, most && (most + 1)] }
      lengths = Range.new(*Rules.lengths(atom))
      report(place, "the old version writes #{atom["words"]}, the new one takes #{reader["words"]}",
             [nil, *sizes.compact.select { |size| lengths.cover?(size) }]) do |size|
        size ? @old.sample_of_size(atom, size) : @old.sample(atom)
      end
    end

    # Returns true if a pair was seen before, and remembers it. +as+ tells nodes from atoms, because a Record is both.
    def seen?(old, new, as = :node)
      pair = [old.object_id, new.object_id, as]
      @seen.fetch(pair) do
        @seen[pair] = true
        false
      end
    end

    # --- arrays -------------------------------------------------------------------------------------------

    def compare_elements(old, reader, place)
      return unless old.written?
      return compare_first(old, reader, place) if reader["kind"] == "tagged"

      compare_arrays(old, @new.shapes(reader)[0], place)
    end

    def compare_arrays(old, new, place)
      compare_length(old, new, place)
      rest = new.rest || (@new.skipped if new.open)
      [old.first.size, new.first.size].max.times do |i|
        part = old.first[i] || old.rest
        known = new.first[i] || rest
        compare(part, known, place.at(old, i, new.needed)) if part && known
      end
      return unless old.rest && rest

      compare(old.rest, rest, place.step("[*]") { |value| old.sample({ old.first.size => value }) })
    end

    def compare_length(old, new, place)
      if old.least < new.needed
        reason = "the old version may write #{old.least} elements, the new one needs #{new.needed}"
        report(place, reason) { old.sample }
      end
      longer = old.rest || old.first.size > new.first.size
      return if new.rest || !longer || new.open

      reason = "the old version writes more than #{new.first.size} elements, the new one refuses them"
      report(place, reason) { old.sample({}, new.first.size + 1) }
    end

    # Compares arrays with a union whose tag is their first element.
    def compare_first(old, reader, place)
      tag = old.first[0] || old.rest
      (tag ? tag_values(tag, old.excluded, reader["tags"]) : []).each do |value|
        narrowed = old.narrowed(value)
        i = reader["tags"].index(value) or next compare_other(narrowed, reader["else"], place)
        @new.atoms_of(reader["parts"][i], :array).each do |one|
          compare_arrays(narrowed, @new.shapes(one)[0].tagged(nil, value), place)
        end
      end
      compare_other(@old.elements(nil, []), reader["untagged"], place) if old.least.zero?
    end

    # Compares arrays that have no tag of the new version with the part for these, if it has any.
    def compare_other(old, part, place)
      readers = part ? @new.atoms_of(part, :array) : []
      return readers.each { |one| compare_elements(old, one, place) } if readers.any?

      words = old.first[0] ? old.first[0]["words"] : "no first element"
      report(place, "the old version writes #{words}, which is no tag of the new one") { old.sample }
    end

    # --- maps ---------------------------------------------------------------------------------------------

    # A map is read by the Record that requires most members, all of which it has. One key after the other is decided
    # until it is known which one that is. +tags+ are keys that a Record may have besides its own.
    def compare_map(pairs, readers, place, tags)
      return report_undecided(pairs, place) if (@choices += 1) > CHOICES_MAX

      readers = readers.sort_by.with_index { |one, i| [-@new.needed(one).size, i] } if readers.size > 1
      reader, *others = readers
      return compare_pairs(pairs, reader, place, tags) if others.empty?

      told = @new.needed(reader).find { |keys| keys.none? { |key| pairs.known[key]&.last } }
      return compare_pairs(pairs, reader, place, tags) unless told

      told.each { |key| with_key(pairs, key) { |there| compare_map(there, readers, place, tags) } }
      compare_map(pairs.without(told), others, place, tags)
    end

    # Every key that may be missing doubles the number of cases.
    CHOICES_MAX = 300
    private_constant :CHOICES_MAX

    def report_undecided(pairs, place)
      return if @choices > CHOICES_MAX + 1

      report(place, "which Record reads a map depends on too many keys to tell") { pairs.sample }
    end

    # Yields the pairs with the key always present, if the old version may write it.
    def with_key(pairs, key)
      node, = pairs.known[key]
      node ||= pairs.rest[1] if pairs.rest && !pairs.never.include?(key) && key?(pairs.rest[0], key)
      yield pairs.with(key, node, true) if node
    end

    def compare_pairs(pairs, reader, place, tags)
      return unless pairs.written?

      report_rules(pairs.atom, reader, place)
      case reader["kind"]
      when "tagged" then compare_tagged(pairs, reader, place, tags)
      when "record" then compare_record(pairs, reader, place, tags)
      else compare_rest(pairs, pairs.known, *reader["parts"].map { |part| @new.node(part) }, place)
      end
    end

    def compare_record(pairs, record, place, tags)
      fields = record["fields"].select { |field| field["read"] && !field["into"] }
      by_key = fields.flat_map { |field| field["keys"].map { |key| [key, field] } }.to_h
      by_key.each do |key, field|
        with_key(pairs, key) { |there| compare_pair(there, key, @new.any, @new.node(field["part"]), place) }
      end
      others = pairs.known.except(*by_key.keys, *tags, record["own_tag"])
      compare_unknown(pairs, others, record, place)
      fields.each { |field| compare_presence(pairs, field, place) }
    end

    # Returns true if keys of a node may include the key. Ignores rules, which may allow it.
    def key?(node, key)
      Scalars.new(@old.atoms(node).map { |atom| atom.except("rules") }, @new.options, @old.options)
             .refused({ "kind" => "enum", "values" => [key] }, key).empty?
    end

    def compare_presence(pairs, field, place)
      names = field["keys"].map(&:inspect).join(" or ")
      there = field["keys"].select { |key| pairs.known.key?(key) }
      if there.size > 1 && @new.options["unique_keys"]
        report(place, "the old version writes #{names}, which the new one reads as the same member") do
          pairs.sample(there.to_h { |key| [key, @old.sample(pairs.known[key][0])] })
        end
      end
      return if !field["required"] || there.any? { |key| pairs.known[key][1] }

      report_missing(place, field["keys"][0], "the old version may write no #{names}, the new one needs it", pairs)
    end

    def report_missing(place, key, reason, pairs)
      report(Place.new(place.at(pairs, key).path, place.around), reason) { pairs.sample }
    end

    # Compares the keys that the new version does not know.
    def compare_unknown(pairs, others, record, place)
      case record["unknown"]
      when "into" then compare_into(pairs, others, record, place)
      when "skip" then compare_rest(pairs, others, @new.skipped, @new.skipped, place) if @new.skipped
      else compare_refused(pairs, others, place)
      end
    end

    # Reports rules for the collected pairs, because the pairs may break them.
    def compare_into(pairs, others, record, place)
      if @new.collecting(record)["rules"]
        report(place, "the new version has rules for all keys that it does not know") { pairs.sample }
      end
      compare_rest(pairs, others, *@new.rest(record), place)
    end

    def compare_refused(pairs, others, place)
      others.each do |key, (node, _)|
        reason = "the old version writes the key #{key.inspect}, the new one refuses it"
        report(place.at(pairs, key), reason) { @old.sample(node) }
      end
      return unless pairs.rest

      report(place, "the old version may write any key, the new one refuses those it does not know") do
        pairs.sample({ @old.sample(pairs.rest[0]) => @old.sample(pairs.rest[1]) })
      end
    end

    # Compares pairs with those that a Hash takes.
    def compare_rest(pairs, known, new_key, new_value, place)
      known.each_key { |key| compare_pair(pairs, key, new_key, new_value, place) }
      return unless pairs.rest

      key, value = pairs.rest
      compare(key, new_key, place.step(".~") { |one| pairs.sample({ one => @old.sample(value) }) })
      compare(value, new_value, place.step(".*") { |one| pairs.sample({ @old.sample(key) => one }) })
    end

    def compare_pair(pairs, key, new_key, new_value, place)
      node, = pairs.known[key]
      compare({ "kind" => "enum", "words" => "the key #{key.inspect}", "values" => [key] }, new_key,
              place.step("") { |one| pairs.sample({ one => @old.sample(node) }) })
      compare(node, new_value, place.at(pairs, key))
    end

    # --- tags ---------------------------------------------------------------------------------------------

    def compare_tagged(pairs, reader, place, tags)
      tag, known, parts, other, untagged = reader.values_at("tag", "tags", "parts", "else", "untagged")
      with_key(pairs, tag) do |there|
        tag_values(there.known[tag][0], pairs.excluded.fetch(tag, []), known).each do |value|
          narrowed = pairs.narrowed(tag, value)
          part = known.index(value).then { |i| i ? parts[i] : other }
          part ? compare_chosen(narrowed, part, place, [*tags, tag]) : report_tag(narrowed, tag, place)
        end
      end
      return if pairs.known[tag]&.last

      pairs = pairs.without([tag])
      return compare_chosen(pairs, untagged, place, tags) if untagged

      report_missing(place, tag, "the old version may write no #{tag.inspect}, the new one needs that tag", pairs)
    end

    # Returns the tags that a node may have: the values of an enum; for any other node, the tags that the new version
    # knows, and one more.
    def tag_values(node, excluded, known)
      atoms = @old.atoms(node)
      return atoms.flat_map { |atom| atom["values"] } - excluded if atoms.all? { |atom| atom["values"] }

      another = catch(:none) { [@old.sample(node)] } || []
      (known.select { |tag| key?(node, tag) } | (another - known)) - excluded
    end

    def compare_chosen(pairs, part, place, tags)
      readers = @new.atoms_of(part, :map)
      return compare_map(pairs, readers, place, tags) if readers.any?

      report(place, "the old version writes a map, the new one takes #{@new.node(part)["words"]}") { pairs.sample }
    end

    def report_tag(pairs, tag, place)
      node, = pairs.known[tag]
      reason = "the old version writes #{node["words"]}, which is no tag of the new one"
      report(place.at(pairs, tag), reason) { @old.sample(node) }
    end

    # --- limits -------------------------------------------------------------------------------------------

    SIZES = Ractor.make_shareable({ text: %w[max_string_bytes max_bytes], ext: %w[max_ext_bytes max_bytes],
                                    array: %w[max_array_size max_objects max_bytes],
                                    map: %w[max_map_size max_objects max_bytes] })
    private_constant :SIZES

    # Each limit is reported once.
    def compare_sizes(atom, place)
      kind = @old.form(atom) || (atom["kind"] == "ext" ? :ext : :text)
      size = @old.size(atom)
      (SIZES[kind] - @exceeded).each do |name|
        limit = stricter(name)
        next if !limit || size <= limit

        @exceeded << name
        part = name == "max_bytes" && kind == :array ? @old.bytes_of_element(atom) : 1
        report(place, limit_words(name, limit)) { @old.sample_of_size(atom, [(limit / part) + 1, size].min) }
      end
    end

    # Returns the limit of the new version if the old one allows more.
    def stricter(name)
      limit = @new.options[name]
      limit if limit && limit < (@old.options[name] || Float::INFINITY)
    end

    TOTALS = { "max_depth" => "containers", "max_objects" => "objects", "max_bytes" => "bytes" }.freeze
    private_constant :TOTALS

    def compare_totals
      (TOTALS.keys - @exceeded).each do |name|
        limit = stricter(name)
        next if !limit || @old.most(@old.root, TOTALS[name]) <= limit

        levels = [nil, *(limit + 1 if name == "max_depth")]
        report(@whole, limit_words(name, limit), levels) do |count|
          count ? @old.deep(@old.root, count) : @old.sample(@old.root)
        end
      end
    end

    def limit_words(name, limit)
      "the new version has #{name}: #{limit}, the old one #{@old.options[name] || "no such limit"}"
    end
  end
end

require_relative "compatibility/scalars"
