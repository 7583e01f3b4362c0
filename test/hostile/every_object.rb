# frozen_string_literal: true

# For objects_test.rb, in a process of its own: every class of Manypack, found by reflection, in every state that user
# code can bring an object into. Whatever is called then returns a value or raises an exception with sensible words.
require "manypack"
require "stringio"
require "yaml"
require_relative "../support/terminal_classes"

Warning[:experimental] = false

module EveryObject
  LIB = File.expand_path("../../lib/manypack", __dir__)

  # All files except the programs and those that need a library that Manypack does not depend on.
  FILES = Dir[File.join(LIB, "**/*.rb")].grep_v(%r{/manypack/(active_model|active_support|core_ext|drop_in|faraday|karafka|rack|rails|terminal|waterdrop)|_transport|ruby_bug}).sort.freeze

  # The classes in here without a method in C start Threads, Ractors and processes, and wait for them.
  STARTING = "Manypack::Parallel::"

  ARGUMENTS = [[], ["\x91\x01"], [1], [:a], [{}.freeze], [[1].freeze], ["\x91\x01", 0]].each(&:freeze).freeze
  Pair = Struct.new(:a, :b)

  SAMPLES = {
    "Buffer" => -> { Manypack::Buffer.new << ("b" * 600) },
    "Codec" => -> { Manypack::Codec.new(symbolize_keys: true) },
    "ExtensionValue" => -> { Manypack::ExtensionValue.new(1, "a") },
    "Factory" => -> { Manypack::Factory.new.tap { |factory| factory.register_type(1, Rational, packer: :to_s, unpacker: nil) } },
    "Factory::Pool" => -> { Manypack::Factory.new.pool },
    "LazyRecord" => -> { Manypack::Record.new(Pair, a: Integer, b: String).lazy.load(Manypack.pack({ "a" => 1, "b" => "b" })) },
    "Packer" => -> { Manypack::Packer.new.write(["p" * 600]) },
    "Path" => -> { Manypack::Path.new("$.a[0]") },
    "Path::All" => -> { Manypack::Path.all({ a: "$.a" }) },
    "Path::Function" => -> { Manypack::Path::Function.new(:value) { |value| value } },
    "Record" => -> { Manypack::Record.new(Pair, a: Integer, b: String) },
    "Incompatibility" => -> { Manypack::Type[1..2].incompatibilities(Manypack::Type[Integer]).first },
    "Timestamp" => -> { Manypack::Timestamp.new(1, 2) },
    "Type" => -> { Manypack::Type[Integer, [String]] },
    "Unpacker" => -> { Manypack::Unpacker.new.feed("\x92\x01\xA1a\x02") },
    "View::Change" => -> { Manypack::View.appended(1) },
    "View" => -> { Manypack::View.new(Manypack.pack({ "a" => [1, { "b" => "v" * 600 }] })) },
    "Tally" => -> { Manypack.const_get(:Tally).new.add("\x81\xA1a\x01".b, 0, 4) },
    "Parallel::Splitter" => -> { parallel(:Splitter).new(Manypack::Codec.new).feed("\x92\x01\x02") },
    "Parallel::Stop" => -> { parallel(:Stop).new },
    "Parallel::Outbox" => -> { parallel(:Outbox).new.put("o") }
  }.transform_keys { |name| "Manypack::#{name}" }.freeze

  # Objects of a class, by how they were made.
  STATES = {
    "allocated" => ->(klass) { klass.allocate },
    "made by YAML" => ->(klass) { YAML.unsafe_load("--- !ruby/object:#{klass.name} {}\n") },
    "made by YAML with instance variables" => ->(klass) { YAML.unsafe_load("--- !ruby/object:#{klass.name} {#{variables(klass).map { |name| "#{name}: 5" }.join(", ")}}\n") },
    "of a subclass without super" => ->(klass) { Class.new(klass) { def initialize(*) = nil }.new },
    "half initialized" => ->(klass) { half(klass, BasicObject) },
    "half initialized by an exception inside" => ->(klass) { half(klass, Refusing.new) },
    "initialized a second time" => ->(klass) { sample(klass).tap { |object| tried { object.__send__(:initialize) } && tried { object.__send__(:initialize, StringIO.new) } } },
    "allocated and initialized twice" => ->(klass) { klass.allocate.tap { |object| 2.times { tried { object.__send__(:initialize) } } } },
    "copied from one" => ->(klass) { copied(klass.allocate, sample(klass)) },
    "copied from itself" => ->(klass) { sample(klass).then { |object| copied(object, object) } },
    "copied from a blank one" => ->(klass) { copied(sample(klass), klass.allocate) },
    "copied between blank ones" => ->(klass) { copied(klass.allocate, klass.allocate) },
    "copied from another class" => ->(klass) { copied(sample(klass), "a") },
    "copied from another class of ours" => ->(klass) { copied(klass.allocate, Manypack::Packer.new) },
    "a dup" => ->(klass) { sample(klass).dup },
    "a clone" => ->(klass) { sample(klass).clone },
    "a dup of a blank one" => ->(klass) { klass.allocate.dup },
    "from Marshal" => ->(klass) { Marshal.load(Marshal.dump(sample(klass))) },
    "frozen" => ->(klass) { sample(klass).freeze },
    "frozen when it was blank" => ->(klass) { klass.allocate.freeze.tap { |object| tried { object.__send__(:initialize) } } },
    "as it should be" => ->(klass) { sample(klass) }
  }.freeze

  # Raised by an io that is asked what it can do, or by anything else that an initialize calls.
  class Refusing
    def respond_to?(*) = raise("refused")
    def method_missing(*) = raise("refused") # rubocop:disable Style/MissingRespondToMissing
    def to_str = raise("refused")
    def to_hash = raise("refused")
  end

  class << self
    def classes
      parallel(:Run) # its files require each other, and this one is the way in
      FILES.each { |file| require file }
      all = ObjectSpace.each_object(Class).select { |klass| !klass.singleton_class? && name_of(klass).start_with?("Manypack::") }
      all.reject { |klass| name_of(klass).start_with?(STARTING) && written_in_ruby?(klass) }.sort_by { |klass| name_of(klass) }
    end

    def named(namespace = Manypack)
      namespace.constants(false).map { |name| namespace.const_get(name) }.grep(Module).select { |found| name_of(found).start_with?("Manypack::") }
               .flat_map { |found| [found, *named(found)] }.uniq
    end

    # Returns complaints: senseless results of a public class in some state.
    def complaints
      public_classes = named.grep(Class)
      classes.flat_map do |klass|
        STATES.flat_map do |state, make|
          object = made { make.call(klass) } or next []
          use(object, methods_of(object)).filter_map { |call, error| "#{klass} #{state}: #{call} says #{error.message}" if public_classes.include?(klass) && senseless?(error) }
        end
      end
    end

    # Some methods in C of blank objects: an exception takes long under stress.
    def under_stress
      [Manypack::Buffer, Manypack::Factory, Manypack::Packer, Manypack::Type, Manypack::Unpacker].each do |klass|
        object = made { klass.allocate } or next
        methods = defined_by(klass).reject { |name| klass.instance_method(name).source_location }
        GC.stress = true
        use(object, methods.sort.first(1), [[]])
      ensure
        GC.stress = false
      end
    end

    # Gives blank objects and samples of the classes to every private method in C of a sample.
    def given_to_private_methods
      given = classes.flat_map { |klass| [made { klass.allocate }, made { sample(klass) }] }.compact.map { |object| [object] }
      classes.each do |klass|
        object = made { sample(klass) } or next
        methods = klass.private_instance_methods(false).reject { |name| klass.instance_method(name).source_location }
        use(object, methods - %i[initialize], given)
      end
    end

    # Uses samples of our classes in another Ractor, which gets the shareable ones and copies of some others, and blank
    # objects that are made there.
    def in_another_ractor
      classes.each do |klass|
        object = made { sample(klass) }
        ractor = made { Ractor.new(object) { |given| EveryObject.use(given, EveryObject.methods_of(given)).size } } if object
        answer(ractor) if ractor
        answer(Ractor.new(klass) { |given| EveryObject.use_blank(given) })
      end
    end

    def use_blank(klass)
      object = klass.allocate
      use(object, methods_of(object)).size
    rescue StandardError
      0
    end

    # Calls each method with each of the arguments. Returns the exceptions, by call.
    def use(object, methods, arguments = ARGUMENTS)
      methods.product(arguments).filter_map do |name, given|
        object.__send__(name, *given) { |found| found }
        nil
      rescue StandardError, NotImplementedError, StopIteration => error
        ["#{name}(#{given.inspect})", error]
      end
    end

    def methods_of(object)
      own = object.class.ancestors.take_while { |mod| mod != Object }.flat_map { |mod| mod.public_instance_methods(false) }
      (own | %i[== eql? hash inspect to_s freeze dup clone]) - [:cycle]
    end

    private

    def written_in_ruby?(klass)
      defined_by(klass).all? { |name| klass.instance_method(name).source_location }
    end

    # Those of the class, and of the lenient class of the same name (lib/manypack/codec/lenient.rb).
    def defined_by(klass)
      klass.instance_methods.select { |name| klass.instance_method(name).owner.name == klass.name }
    end

    def senseless?(error)
      error.is_a?(NoMethodError) && error.receiver.nil?
    end

    # The object, or nil where it cannot be made.
    def made
      yield
    rescue StandardError, NotImplementedError
      nil
    end

    def tried
      yield
      true
    rescue StandardError, NotImplementedError
      true
    end

    def sample(klass)
      return klass.new("message") if klass <= Exception

      SAMPLES.fetch(klass.name).call
    end

    def variables(klass)
      sample(klass).instance_variables.map { |name| name.name.delete("@") }
    end

    def half(klass, argument)
      kept = nil
      raising = Class.new(klass) do
        define_method(:initialize) do |*given|
          kept = self
          super(*given)
          raise "half initialized"
        end
      end
      tried { raising.new(argument) }
      kept
    end

    def copied(object, from)
      tried { object.__send__(:initialize_copy, from) }
      object
    end

    def answer(ractor)
      ractor.respond_to?(:value) ? ractor.value : ractor.take
    rescue Ractor::RemoteError
      nil
    end

    def parallel(name)
      Manypack::Parallel.const_get(name)
    end

    def name_of(mod)
      Module.instance_method(:name).bind_call(mod).to_s
    end
  end
end
