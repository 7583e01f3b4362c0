# frozen_string_literal: true

#--
# Whether all that one version of a type writes is what another one reads.
#++
require_relative "compatibility/side"

module Manypack
  # Walks over two descriptions, and finds the places at which the second does not read what the first writes.
  class Compatibility # :nodoc:
    # The place of a value: its path, and a function that makes a message with a value there.
    Place = Struct.new(:path, :around) do
      def step(text, &inside) = Place.new("#{path}#{text}", ->(value) { around.call(inside.call(value)) })
      def key(key, &inside) = step(Path.of(key).to_s.delete_prefix("$"), &inside)
    end

    # What was found, and messages that may show it.
    Found = Struct.new(:path, :reason, :messages) do
      def proved(old, new)
        Incompatibility.new(path, reason, messages.lazy.filter_map { |message| proof(message, old, new) }.first)
      end

      private

      # Returns what the old version writes for a message, if the new one refuses that.
      def proof(message, old, new)
        bytes = old.dump(old.load(old.codec.pack(message)))
        bytes unless reads?(new, bytes)
      rescue ::StandardError
        nil # the old version refuses the message, in code of the program perhaps
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
      @old = Side.new(old, writes: true)
      @new = Side.new(new, writes: false)
      @seen = {}
      @exceeded = []
      @choices = 0
    end

    # Returns an Array of Found.
    def found
      @found ||= [].tap do |found|
        @found = found
        compare(@old.root, @new.root, Place.new("$", :itself.to_proc))
        compare_totals
      end
    end

    private

    # Each of the values is a Proc that returns it, or throws :none.
    def report(place, reason, *values)
      messages = values.filter_map { |value| catch(:none) { [place.around.call(value.call)] } }.map(&:first)
      @found << Found.new(place.path, reason, messages)
    end

    # What is being compared counts as read, so that types may contain themselves.
    def compare(old, new, place)
      return if seen?(old, new)

      readers = @new.atoms(new)
      refused = @old.atoms(old).map { |atom| [atom, compare_atom(atom, readers, place)] }
      refused = refused.reject { |_, values| values.empty? }
      return if refused.empty?

      words = refused.map { |atom, values| words(atom, values) }.uniq.join(" or ")
      report(place, "the old version writes #{words}, the new one takes #{new["words"]}",
             *refused.flat_map(&:last).map { |value| -> { value } })
    end

    def words(atom, values)
      return values.map(&:inspect).join(" or ") if atom["kind"] == "enum" && !atom["words"].start_with?("the key")

      values.all? { |value| value.is_a?(String) && !value.valid_encoding? } ? "text that is not UTF-8" : atom["words"]
    end

    # Returns values of the atom that none of the new ones takes. Of containers, the first that takes some decides.
    def compare_atom(atom, readers, place)
      return [nil] if atom["kind"] == "unknown" # nothing can be said

      sample, = catch(:none) { [@old.sample(atom)] } || (return []) # then it is never written
      compare_sizes(atom, place)
      kind = @old.array?(atom) ? :array? : @old.map?(atom) ? :map? : nil
      return Scalars.new(readers, @old.options, @new.options).refused(atom, sample) unless kind

      readers = readers.select { |one| @new.public_send(kind, one) }
      return [sample] if readers.empty?

      if kind == :array?
        readers.each { |reader| compare_container(atom, reader, place) }
      elsif !seen?(atom, readers[0], :kind)
        @old.pairs(atom).each { |pairs| compare_map(pairs, readers, place, []) }
      end
      []
    end

    def compare_container(atom, reader, place)
      return if seen?(atom, reader, :kind)

      report_rules(atom, reader, place)
      @old.arrays(atom).each { |elements| compare_elements(elements, reader, place) }
    end

    def report_rules(atom, reader, place)
      unmet = reader["rules"].to_a.reject { |rule| Rules.implied?(rule, atom) }
      return if unmet.empty?

      report(place, "the old version writes #{atom["words"]}, the new one takes #{reader["words"]}",
             *samples_beside(atom, unmet))
    end

    # Returns Procs that make values of an atom with a length that rules do not allow, and a sample.
    def samples_beside(atom, rules)
      sizes = rules.select { |kind, *| kind == "length" }.flat_map { |_, least, most| [least - 1, most && (most + 1)] }
      lengths = Range.new(*Lengths.of(atom))
      [-> { @old.sample(atom) }, *sizes.compact.select { |size| lengths.cover?(size) }.map do |size|
        -> { @old.sample_of_size(atom, size) }
      end]
    end

    # A Record is a node, and the only kind of its values.
    def seen?(old, new, as = :node)
      pair = [old.object_id, new.object_id, as]
      @seen.fetch(pair) do
        @seen[pair] = true
        false
      end
    end

    # --- arrays -------------------------------------------------------------------------------------------

    def compare_elements(old, reader, place)
      return unless @old.written?(old)
      return compare_first(old, reader, place) if reader["kind"] == "tagged"

      compare_arrays(old, @new.arrays(reader)[0], place)
    end

    def compare_arrays(old, new, place)
      compare_length(old, new, place)
      rest = new.rest || (@new.skipped if new.open)
      [old.first.size, new.first.size].max.times do |i|
        part = old.first[i] || old.rest
        known = new.first[i] || rest
        next unless part && known

        compare(part, known, place.step("[#{i}]") { |value| @old.sample_elements(old, { i => value }, new.needed) })
      end
      return unless old.rest && rest

      compare(old.rest, rest, place.step("[*]") { |value| @old.sample_elements(old, { old.first.size => value }) })
    end

    def compare_length(old, new, place)
      if old.least < new.needed
        report(place, "the old version may write #{old.least} elements, the new one needs #{new.needed}",
               -> { @old.sample_elements(old) })
      end
      longer = old.rest || old.first.size > new.first.size
      return if new.rest || !longer || new.open

      report(place, "the old version writes more than #{new.first.size} elements, the new one refuses them",
             -> { @old.sample_elements(old, {}, new.first.size + 1) })
    end

    # Compares arrays with a union whose tag is their first element.
    def compare_first(old, reader, place)
      tag = old.first[0] || old.rest
      (tag ? tag_values(tag, old.excluded, reader["tags"]) : []).each do |value|
        part = reader["tags"].index(value).then { |i| i && reader["parts"][i] }
        compare_array_of(old.narrowed(value), part || reader["else"], place, *([value] if part))
      end
      compare_array_of(Elements.new([], nil, 0, 0, false, []), reader["untagged"], place) if old.least.zero?
    end

    # +tag+ is the one that arrays of the part follow.
    def compare_array_of(old, part, place, *tag)
      readers = part ? @new.atoms(@new.node(part)).select { |one| @new.array?(one) } : []
      readers.each do |one|
        tag.empty? ? compare_elements(old, one, place) : compare_arrays(old, @new.arrays(one)[0].tagged(*tag), place)
      end
      return if readers.any?

      words = old.first[0] ? old.first[0]["words"] : "no first element"
      report(place, "the old version writes #{words}, which is no tag of the new one", -> { @old.sample_elements(old) })
    end

    # --- maps ---------------------------------------------------------------------------------------------

    # Of several Records, the one is chosen that requires most members, all of which the map has. What is said of the
    # keys of a map is decided one after the other, until it says which one that is.
    #
    # tags:: the tag keys that a Record may have besides its own keys
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

    # Every key that may be missing doubles the ways in which Records are told apart.
    CHOICES_MAX = 300
    private_constant :CHOICES_MAX

    def report_undecided(pairs, place)
      return if @choices > CHOICES_MAX + 1

      report(place, "which Record reads a map depends on too many keys to tell", -> { @old.sample_pairs(pairs) })
    end

    # Yields the pairs in which the key is there for certain, if there are any.
    def with_key(pairs, key)
      node, = pairs.known[key]
      node ||= pairs.rest[1] if pairs.rest && !pairs.never.include?(key) && key?(pairs.rest[0], key)
      yield pairs.with(key, node, true) if node
    end

    def compare_pairs(pairs, reader, place, tags)
      return unless @old.written?(pairs)

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

    # Returns true if the old version may write the key. Its rules may allow it.
    def key?(node, key)
      Scalars.new(@old.atoms(node).map { |atom| atom.except("rules") }, @new.options, @old.options)
             .refused({ "kind" => "enum", "values" => [key] }, key).empty?
    end

    def compare_presence(pairs, field, place)
      names = field["keys"].map(&:inspect).join(" or ")
      there = field["keys"].select { |key| pairs.known.key?(key) }
      if there.size > 1 && @new.options["unique_keys"]
        report(place, "the old version writes #{names}, which the new one reads as the same member",
               -> { @old.sample_pairs(pairs, there.to_h { |key| [key, @old.sample(pairs.known[key][0])] }) })
      end
      return if !field["required"] || there.any? { |key| pairs.known[key][1] }

      report_missing(place, field["keys"][0], "the old version may write no #{names}, the new one needs it", pairs)
    end

    def report_missing(place, key, reason, pairs)
      report(Place.new(place.key(key).path, place.around), reason, -> { @old.sample_pairs(pairs) })
    end

    # Keys that the new version does not know.
    def compare_unknown(pairs, others, record, place)
      case record["unknown"]
      when "into" then compare_into(pairs, others, record, place)
      when "skip" then compare_rest(pairs, others, @new.skipped, @new.skipped, place) if @new.skipped
      else compare_refused(pairs, others, place)
      end
    end

    # Whether what is collected meets rules is not known.
    def compare_into(pairs, others, record, place)
      if @new.collecting(record)["rules"]
        report(place, "the new version has rules for all keys that it does not know", -> { @old.sample_pairs(pairs) })
      end
      compare_rest(pairs, others, *@new.rest(record), place)
    end

    def compare_refused(pairs, others, place)
      others.each do |key, (node, _)|
        report(place.key(key) { |value| @old.sample_pairs(pairs, { key => value }) },
               "the old version writes the key #{key.inspect}, the new one refuses it", -> { @old.sample(node) })
      end
      return unless pairs.rest

      report(place, "the old version may write any key, the new one refuses those it does not know",
             -> { @old.sample_pairs(pairs, { @old.sample(pairs.rest[0]) => @old.sample(pairs.rest[1]) }) })
    end

    # Compares pairs with those that a Hash takes.
    def compare_rest(pairs, known, new_key, new_value, place)
      known.each_key { |key| compare_pair(pairs, key, new_key, new_value, place) }
      return unless pairs.rest

      key, value = pairs.rest
      compare(key, new_key, place.step(".~") { |one| @old.sample_pairs(pairs, { one => @old.sample(value) }) })
      compare(value, new_value, place.step(".*") { |one| @old.sample_pairs(pairs, { @old.sample(key) => one }) })
    end

    # Compares a known key and its value.
    def compare_pair(pairs, key, new_key, new_value, place)
      node, = pairs.known[key]
      compare({ "kind" => "enum", "words" => "the key #{key.inspect}", "values" => [key] }, new_key,
              place.step("") { |one| @old.sample_pairs(pairs, { one => @old.sample(node) }) })
      compare(node, new_value, place.key(key) { |value| @old.sample_pairs(pairs, { key => value }) })
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
      untagged ? compare_chosen(pairs, untagged, place, tags) : report_missing_tag(pairs, tag, place)
    end

    # Returns the tags that a node may have: of a node that is no enum, those that the new version knows, and another.
    def tag_values(node, excluded, known)
      atoms = @old.atoms(node)
      return atoms.flat_map { |atom| atom["values"] } - excluded if atoms.all? { |atom| atom["values"] }

      another = catch(:none) { [@old.sample(node)] } || []
      (known.select { |tag| key?(node, tag) } | (another - known)) - excluded
    end

    def compare_chosen(pairs, part, place, tags)
      readers = @new.atoms(@new.node(part)).select { |one| @new.map?(one) }
      return compare_map(pairs, readers, place, tags) if readers.any?

      report(place, "the old version writes a map, the new one takes #{@new.node(part)["words"]}",
             -> { @old.sample_pairs(pairs) })
    end

    def report_tag(pairs, tag, place)
      report(place.key(tag) { |value| @old.sample_pairs(pairs, { tag => value }) },
             "the old version writes #{pairs.known[tag][0]["words"]}, which is no tag of the new one",
             -> { @old.sample(pairs.known[tag][0]) })
    end

    def report_missing_tag(pairs, tag, place)
      report_missing(place, tag, "the old version may write no #{tag.inspect}, the new one needs that tag", pairs)
    end

    # --- limits -------------------------------------------------------------------------------------------

    SIZES = Ractor.make_shareable({ text: %w[max_string_bytes max_bytes], ext: %w[max_ext_bytes max_bytes],
                                    array: %w[max_array_size max_objects max_bytes],
                                    map: %w[max_map_size max_objects max_bytes] })
    private_constant :SIZES

    # Each limit is reported once.
    def compare_sizes(atom, place)
      kind = @old.array?(atom) ? :array : @old.map?(atom) ? :map : atom["kind"] == "ext" ? :ext : :text
      size = @old.size(atom)
      (SIZES[kind] - @exceeded).each do |name|
        limit = stricter(name)
        next if !limit || size <= limit

        @exceeded << name
        part = name == "max_bytes" && kind == :array ? @old.bytes_of_element(atom) : 1
        report(place, limit_words(name, limit), -> { @old.sample_of_size(atom, [(limit / part) + 1, size].min) })
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

        report(Place.new("$", :itself.to_proc), limit_words(name, limit), -> { @old.sample(@old.root) },
               *(-> { @old.deep(@old.root, limit + 1) } if name == "max_depth"))
      end
    end

    def limit_words(name, limit)
      "the new version has #{name}: #{limit}, the old one #{@old.options[name] || "no such limit"}"
    end
  end
end

require_relative "compatibility/scalars"
