# frozen_string_literal: true

# Compares Views with unpacking.
module Fuzz
  # A checked View must refuse what unpacking refuses, with the same message. If unpacking returns an object, a View
  # must return the same values. And any look into unchecked bytes must end with a value or an error.
  class Views
    PATHS = ["$[*]", "$.*.*", "$[-1][0]", "$.a", "$..a", "$..[?@.a == 1 || length(@) > 2]",
             "$..*..[::-1]"].map { |text| Manypack::Path.new(text) }.freeze
    LIMITS = [{}, { utf8: :strict }, { untrusted: true }, { max_objects: 30 }, { max_map_size: 3 },
              { max_string_bytes: 9 }].freeze

    def initialize
      @factory = Manypack::Factory.new
      Types.register_tame(@factory, Manypack::Bigint)
    end

    # Raises Violation if they differ.
    def check(bytes)
      return if bytes.empty?

      @bytes = bytes.b.freeze
      @random = Random.new(Zlib.crc32(bytes) + 2)
      options = { allow_unknown_ext: @random.rand(2).zero?, symbolize_keys: @random.rand(3).zero?,
                  timestamp: @random.rand(3).zero?, **LIMITS.sample(random: @random) }
      refused(options)
      [:last, :error].each { |keys| found_by_path(options.merge(duplicate_keys: keys)) }
      answered(options.merge(duplicate_keys: :last))
      placed(options.merge(duplicate_keys: :error))
      looked_at(options.slice(:allow_unknown_ext, :symbolize_keys, :timestamp))
    end

    private

    def view(options, check: false) = Manypack.const_get(:Internal).view_over(@bytes, @factory.codec(options), check)

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

    # Rebuilds the object from the values that each yields.
    def rebuilt(value)
      return value unless value.is_a?(Manypack::View)
      return value.value unless %i[map array].include?(value.type)

      return value.map { |element| rebuilt(element) } if value.type == :array

      value.to_h.transform_values { |inner| rebuilt(inner) }
    end

    def found_by_key(hash, view, options)
      again = @factory.load(@bytes, options)
      again.first(20).each do |key, value|
        next unless hash.key?(key) # a NaN equals only itself

        agree Outcome.of { value }, Outcome.of { rebuilt(view[key]) }, { key: key, **options }
      end
    end

    # With the same options a Path must find the value that unpacking has under a key.
    def found_by_path(options)
      expected = object(options)
      return unless expected[0] == :object && expected[2].is_a?(Hash)

      again = @factory.load(@bytes, options)
      again.first(20).each do |key, value|
        next unless key.is_a?(String) && key.encoding == Encoding::UTF_8 && key.valid_encoding?

        found = Outcome.of { Manypack::Path.of(key).to_a(view(options)).map { |one| rebuilt(one) } }
        agree Outcome.of { [value] }, found, { path: key, **options }
      end
    end

    # If a message is cut in front of a container, the path of the error must lead to that container in the whole
    # message.
    def placed(options)
      whole = view(options) if object(options)[0] == :object
      return unless whole && %i[map array].include?(whole.type)

      containers(whole, []).first(20).each do |part|
        error = error_of { @factory.load(@bytes.byteslice(0, part.offset), options) }
        raise Violation, "#{error.inspect} for the end at byte #{part.offset}" unless error&.offset == part.offset

        found = walked(error.path, whole)
        raise Violation, "#{error.path} is not byte #{part.offset}" unless found.nil? || found.offset == part.offset
      end
    end

    def containers(view, found)
      inner = (view.type == :map ? view.values : view.to_a).grep(Manypack::View)
      found.concat(inner)
      inner.each { |one| containers(one, found) if found.size < 20 }
      found
    end

    def error_of
      yield
      nil
    rescue Manypack::DecodeError => e
      e
    end

    # The value that a path finds; nil for a path with a step that no Path can express, or that stands for two keys: an
    # invalid str and a bin of the same bytes.
    def walked(path, whole)
      return nil if path.to_s.include?("\\x")

      path = Manypack::Path.from(path)
    rescue ArgumentError
      nil
    else
      path.to_a(whole).fetch(0)
    end

    # Looks twice: the second time with an Index.
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
