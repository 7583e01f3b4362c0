# frozen_string_literal: true

# A View beside the object that unpacking the same bytes makes.
module Fuzz
  # What a checked View refuses, unpacking refuses, with the same words; where unpacking gives an object, a View answers
  # as that does; and no look into bytes that nobody has checked ends in anything but an answer or an error.
  class Views
    PATHS = ["$[*]", "$.*.*", "$[-1][0]", "$.a"].map { |text| Manypack::Path.new(text) }.freeze
    LIMITS = [{}, { utf8: :strict }, { untrusted: true }, { max_objects: 30 }, { max_map_size: 3 },
              { max_string_bytes: 9 }].freeze

    def initialize
      @factory = Manypack::Factory.new
      Types.register_tame(@factory, Manypack::Bigint)
    end

    # Violation where they part.
    def check(bytes)
      return if bytes.empty?

      @bytes = bytes.b.freeze
      @random = Random.new(Zlib.crc32(bytes) + 2)
      options = { allow_unknown_ext: @random.rand(2).zero?, symbolize_keys: @random.rand(3).zero?,
                  timestamp: @random.rand(3).zero?, **LIMITS.sample(random: @random) }
      refused(options)
      answered(options.merge(duplicate_keys: :last))
      looked_at(options.slice(:allow_unknown_ext, :symbolize_keys, :timestamp))
    end

    private

    def view(options, check: false) = Manypack::View.__send__(:over, @bytes, @factory.codec(options), check)

    def object(options) = Outcome.of { @factory.load(@bytes, options) }

    def refused(options)
      agree object(options.merge(duplicate_keys: :error)), Outcome.of { view(options, check: true).value }, options
    end

    def answered(options)
      options = options.except(:untrusted)
      expected = object(options)
      return unless expected[0] == :object

      agree expected, Outcome.of { view(options).value }, options
      agree expected, Outcome.of { rebuilt(view(options)) }, options
      found_by_key(expected[2], view(options), options) if expected[2].is_a?(Hash)
    end

    # The object, made of what each yields.
    def rebuilt(value)
      return value unless value.is_a?(Manypack::View)
      return value.value unless %i[map array].include?(value.type)

      return value.map { |element| rebuilt(element) } if value.type == :array

      value.to_h.transform_values { |inner| rebuilt(inner) }
    end

    def found_by_key(hash, view, options)
      again = @factory.load(@bytes, options)
      again.first(20).each do |key, value|
        next unless hash.key?(key) # a NaN is only itself

        agree Outcome.of { value }, Outcome.of { rebuilt(view[key]) }, { key: key, **options }
      end
    end

    # Twice, without an Index and with one.
    def looked_at(options)
      view = view(options)
      2.times do
        [:to_a, :bytes, :inspect, :freeze].each { |name| Outcome.of { view.public_send(name) } }
        PATHS.each { |path| Outcome.of { path.to_a(view) } }
        Outcome.of { view.splice("a[0]" => 1) }
        Outcome.of { view[-1] }
      end
    end

    def agree(expected, actual, options)
      return if Outcome.same?(expected, actual)

      raise Violation, "a View with #{options}:#{Outcome.contrast(actual, expected, "unpacking")}"
    end
  end
end
