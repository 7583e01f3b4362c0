# frozen_string_literal: true

# Objects that user code brings into states that no program needs. every_object.rb has the states.
require_relative "attacks"
require_relative "every_object"
require "support/terminal_classes"

module Hostile
  class ObjectsTest < Minitest::Test
    include Attacks

    Internal = Manypack.const_get(:Internal)

    PROGRAM = "require './test/hostile/every_object'\n"

    def test_21_an_object_of_every_class_in_every_state_gives_a_value_or_an_error_with_sensible_words
      assert_empty run_ruby("#{PROGRAM}puts EveryObject.complaints; GC.start; GC.verify_internal_consistency; abort unless Manypack.unpack([145, 1].pack('C*')) == [1]")
    end

    def test_21_the_same_with_a_collection_at_every_allocation
      assert_equal "[1]", run_ruby("#{PROGRAM}EveryObject.under_stress; print Manypack.unpack([145, 1].pack('C*'))")
    end

    def test_21_the_same_from_another_ractor
      assert_equal "[1]", run_ruby("#{PROGRAM}EveryObject.in_another_ractor; print Manypack.unpack([145, 1].pack('C*'))")
    end

    # Without a sample, the tests above have only blank objects of a class that needs arguments.
    def test_21_every_class_that_can_be_made_has_a_sample
      made = EveryObject.named.grep(Class).reject { |klass| klass <= Exception }.map(&:name)
      assert_operator made.size, :>=, 12
      assert_empty made.reject { |name| name.match?(/Terminal/) } - EveryObject::SAMPLES.keys
    end

    def test_21_nothing_is_left_out_because_it_cannot_be_made
      samples.each { |name, make| assert_equal name, make.call.class.ancestors.map(&:name).find { |found| found&.start_with?("Manypack::") } }
      found = Integer(run_ruby("#{PROGRAM}print EveryObject.classes.size"))
      assert_operator found, :>=, samples.size
    end

    def test_21_private_methods_in_c_get_objects_of_ours_in_every_state
      assert_equal "[1]", run_ruby("#{PROGRAM}EveryObject.given_to_private_methods; GC.start; print Manypack.unpack([145, 1].pack('C*'))")
    end

    def test_21_what_was_not_initialized_says_so
      { Manypack::Path => :to_s, Manypack::Type => :spec, Manypack::Record => :members }.each do |klass, method|
        [klass, Class.new(klass)].map(&:allocate).each do |blank|
          assert_match(/\Auninitialized /, assert_raises(ArgumentError) { blank.public_send(method) }.message)
          assert_match(/\A#<.*>\z/, blank.inspect)
        end
      end
      assert_raises(ArgumentError) { Manypack::Path.allocate.to_a("\x01") }
      assert_raises(ArgumentError) { Manypack::Factory::Pool.allocate.dump(1) }
    end

    def test_21_a_search_has_the_steps_that_it_began_with
      steps = [:*, "a"]
      found = Internal.search(Manypack::View.new(Manypack.pack([{ "a" => 1 }, { "a" => 2 }])), steps, 0, :each) { steps.clear }
      assert_instance_of Manypack::View, found
      [nil, [[]], [[:child]], [["a"]], [[:child, [:filter]]], [[:child, [:filter, [:compare, :==, [:value, 1]]]]], [[:child, [:filter, [:call, :no, [], nil]]]],
       [[:child, [:filter, [:or]]]], [[:child, [:slice, 1, 2]]], [[:child, [:no]]], [Object.new], [[:child, [:filter, [:call, :length, [], nil]]]]].each do |bad|
        assert_raises(TypeError, bad.inspect) { Internal.search(found, bad, 0, :array) }
      end
    end

    # The values of Changes that user code makes, by the class of one: none that a kind cannot have, and none that
    # changes meanwhile.
    MADE_CHANGES = <<~'RUBY'
      require "manypack"
      View = Manypack::View
      made = View.inserted(1).class
      itself = made.allocate
      itself.instance_variable_set(:@value, itself)
      values = [nil, 5, 1.5, "text", :name, [], [1], { 1 => 2 }, Object.new, made.allocate, itself, itself.dup.freeze, View::REMOVED, proc { 1 }, BasicObject, View.new("\xC0".b)]
      messages = [{ "a" => [1, { "b" => nil }], "n" => nil }, [[1], nil], nil]
      paths = [["a"], ["a", 0], ["a", 2], ["a", 1, "b"], ["a", 1, "b", "c", 0], ["n", 0], ["n", "x"], ["new"], [0], [0, 0], [1, "k"], [2], "$..*"]
      %i[inserted appended renamed parents other].push(nil, 7).product(values, messages, paths) do |kind, value, message, path|
        changed = View.new(Manypack.pack(message)).splice(path => made.new(kind, value))
        Manypack.unpack(Manypack.pack(changed))
      rescue ArgumentError, TypeError, KeyError, IndexError, NoMethodError, Manypack::EncodeError
        nil
      end
      list = [1]
      grown = View.new(Manypack.pack([0, []])).splice([0] => proc { list.push(2, 3) && 7 }, [1] => made.new(:appended, list))
      print Manypack.unpack(Manypack.pack(grown))
    RUBY

    def test_21_a_change_of_any_kind_with_any_value
      assert_equal "[7, [1]]", run_ruby(MADE_CHANGES)
    end

    # For each function that works on an object of ours: the class, and further arguments.
    ON_OBJECTS = {
      canonical_bytes: ["Manypack::Packer", 1], codec_for: ["Manypack::Codec", {}, true, true, true], codec_for_json: ["Manypack::Codec", {}, false], codec_of_gem: ["Manypack::Codec"], codec_overlaid: ["Manypack::Codec", 1], codec_with_type: ["Manypack::Codec", 1, Range, :to_s, nil, {}], collecting: ["Manypack::Type"], collects?: ["Manypack::Type"], current_type: ["Manypack::Type"], default_factory: ["a class"],
      dump_within: ["Manypack::Type", 1, Manypack::Packer.new, false, false], load_body: ["Manypack::Type", Manypack::Unpacker.new],
      check_stream: ["Manypack::Codec"], error_of?: ["Manypack::Unpacker", 1], expect_array: ["Manypack::View"], expect_map: ["Manypack::View"], json_texts: ["Manypack::Codec", "1", false, true, [0, 0, 0, 0], false], max_bytes: ["Manypack::Codec"], head_lines: ["String", 0, 0, 0, 1, nil], head_lines_at: ["String", 0, 0, 1, nil], read_one: ["Manypack::Unpacker", 1], redefined?: ["Manypack::Factory"], registers?: ["Manypack::Codec", 1, true, true, true], rename: ["a class", Manypack, "Renamed"], read_view: ["Manypack::Type", 1, false], search: ["Manypack::View", [], 1, :array],
      search_bytes: ["String", 0, 0, 1, [], 1], search_messages: ["String", 0, 0, 1, [], 1, nil], search_several: ["Manypack::View", [[[], 1]]],
      shared_shapes?: ["Manypack::Type", 1], splice: ["Manypack::View", { "a" => 1 }, Manypack::View::REMOVED], stand_in: ["a class", Class.new], start_at: ["Manypack::Unpacker", 5, "", 0, 0], unpacker_classes: ["Manypack::Codec"], unpacker_of_bytes: ["Manypack::Codec", nil], watch: ["Manypack::Factory", Manypack]
    }.freeze

    # These have no such object, or take a Codec as the second argument.
    OTHER_FUNCTIONS = %i[append_json attach_by default_replaced json_end keep_parsed_path parsed_path raise_type_error read_more redefined several_max time_handlers view_over write_all].freeze

    def test_21_the_internal_functions_refuse_objects_of_other_classes
      Manypack::Type[Integer] # defines the last one
      assert_equal ON_OBJECTS.keys.sort + OTHER_FUNCTIONS, Internal.singleton_methods(false).sort_by { |name| [OTHER_FUNCTIONS.include?(name) ? 1 : 0, name] }
      ON_OBJECTS.each do |function, (owner, *arguments)|
        others = samples.filter_map { |name, make| make.call unless name == owner || name == "Manypack::Record" }
        [nil, 1, "a", Object.new, Class, *others].each do |other|
          assert_raises(TypeError, "#{function} of #{other.class}") { Internal.public_send(function, other, *arguments) }
        end
      end
      [nil, 1, :a, Object.new].each do |no_text|
        assert_raises(TypeError) { Internal.parsed_path(no_text) }
        assert_raises(TypeError) { Internal.keep_parsed_path(no_text, 1) }
      end
      [nil, 1, {}, Manypack::View.new("\x90")].each do |no_codec|
        assert_raises(TypeError) { Internal.view_over("\x90", no_codec, false) }
      end
    end

    # Those whose class this Ruby has.
    def samples
      EveryObject::SAMPLES.except(*("Manypack::Parallel::Outbox" if defined?(Ractor::Port)))
    end

    def test_21_the_internal_functions_refuse_blank_objects
      assert_match(/\Auninitialized /, assert_raises(ArgumentError) { Internal.read_view(Manypack::Type.allocate, Manypack::View.new("\x90"), false) }.message)
      assert_raises(TypeError) { Internal.read_view(Manypack::Type[[Integer]], "\x90", false) }
      assert_match(/not initialized/, assert_raises(RuntimeError) { Internal.canonical_bytes(Manypack::Packer.allocate, 1) }.message)
      assert_raises(TypeError) { Internal.load_body(Manypack::Type[Integer], "\x01") }
      assert_match(/not initialized/, assert_raises(RuntimeError) { Internal.load_body(Manypack::Type[Integer], Manypack::Unpacker.allocate) }.message)
      assert_match(/not initialized/, assert_raises(RuntimeError) { Internal.start_at(Manypack::Unpacker.allocate, 5, "", 0, 0) }.message)
    end

    def test_21_another_ractor_has_the_internal_functions
      Manypack::Type[Integer] # defines the last one
      results = in_ractor do
        internal = Manypack.const_get(:Internal)
        view = internal.view_over("\x92\x01\x02", Manypack::Codec.new, true)
        packer = Manypack::Codec.new.packer
        [internal.search(view, [1], 0, :array), internal.search(view, [1], 0, :any), internal.search_several(view, [[[0], 1]]), internal.search(view, [1], 0, :count), internal.splice(view, { [0] => 5 }, nil).value, internal.current_type(Manypack::Type[Integer]).load("\x05"), internal.read_view(Manypack::Type[[Integer]], view, false),
         internal.codec_for(view.codec, {}, true, true, true), internal.codec_overlaid(view.codec, view.codec), internal.unpacker_classes(view.codec), internal.canonical_bytes(packer, 1),
         internal.start_at(Manypack::Unpacker.new, 5, "\x01", 0, 1).position, internal.default_factory(Manypack::Factory).class]
      end
      assert_equal [[2], true, [[1]], 1, [5, 2], 5, [1, 2], Manypack::Codec.new, Manypack::Codec.new, [], nil, 5, Manypack::Factory], results
    end

    # Each of these would replace the Codec of the whole process.
    CHANGES = { initialize: [], initialize_copy: [:other], register_type_internal: [1, Rational, :to_s, nil, nil], freeze: [] }.freeze

    def test_21_another_ractor_does_not_change_the_default_factory
      CHANGES.each do |method, arguments|
        error = in_ractor(method, arguments) do |name, given|
          Manypack::DefaultFactory.__send__(name, *given.map { |argument| argument == :other ? Manypack::Factory.new : argument })
        rescue StandardError => raised
          raised.class.name
        end
        assert_equal "Ractor::IsolationError", error, method
      end
    end

    def test_21_only_register_type_changes_a_factory_that_has_its_codec
      default = Manypack::DefaultFactory.codec
      other = Manypack::Factory.new
      [Manypack::DefaultFactory, Manypack::Factory.new].each do |factory|
        assert_refused { factory.__send__(:initialize_copy, other) }
        assert_refused { factory.__send__(:initialize) }
      end
      assert_same default, Manypack::DefaultFactory.codec
      assert_refused { Manypack::Factory.allocate.__send__(:initialize_copy, Manypack::Factory.allocate) }
    end

    # The old Codec is garbage at once for the main Ractor, and another one is in the middle of a call with it.
    def test_21_a_codec_that_is_replaced_stays_alive_in_the_calls_that_have_it
      assert_equal "ok", run_ruby(<<~'RUBY')
        Warning[:experimental] = false
        OBJECTS = Ractor.make_shareable(Array.new(40) { |i| { "k#{i}" => [:symbol, "text" * 30, { a: i }] } })
        BYTES = Manypack.pack(OBJECTS).freeze
        ractors = Array.new(2) do
          Ractor.new do
            150.times do
              raise "packed something else" unless Manypack.pack(OBJECTS).bytesize >= BYTES.bytesize
              raise "unpacked something else" unless Manypack.unpack(BYTES).size == 40
              Manypack::View.new(BYTES)[3].to_h
              Manypack.dig(BYTES, 3, "k3")
              Manypack.unpack(BYTES, symbolize_keys: true)
            end
          end
        end
        100.times do |i|
          Manypack::DefaultFactory.register_type(i, Class.new, packer: :to_s, unpacker: nil)
          Array.new(100) { Object.new } && GC.start if (i % 10).zero?
        end
        ractors.each { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take }
        print "ok"
      RUBY
    end
  end
end
