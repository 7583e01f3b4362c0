# frozen_string_literal: true

# What Manypack asks malloc for: nothing in the usual case, little beyond it, and nothing that it keeps.
require "test_helper"
require "support/program"
require "support/shareable_mark"
require "support/malloc_counter"

# A library that counts has to be preloaded, which is not possible everywhere.
if MallocCounter.possible?
  class MallocTest < Minitest::Test
    include ProgramHelper

    ROOT = File.expand_path("../..", __dir__)

    # Before each program. Counts are the least of some rounds: in one of them Ruby may need a page for its heap.
    PRELUDE = <<~'RUBY'
      require ENV.fetch("LD_PRELOAD").split.first
      require "manypack"
      Warning[:experimental] = false
      abort "not watched" if MallocCount.watch($LOADED_FEATURES.grep(/manypack\.so/).first) < 5
      IN_SLOTS = GC::INTERNAL_CONSTANTS.fetch(:RVARGC_MAX_ALLOCATE_SIZE) { 0 } >= 640 # wide ones came with Ruby 3.2

      def count(&block)
        GC.disable
        Array.new(7) { MallocCount.count(&block) }.min
      end

      def calls(&block) = count(&block)[0]
      def own_calls(&block) = count(&block)[2]

      def held_after_collection
        GC.enable
        4.times { GC.start }
        MallocCount.held
      end

      # Not on the stack of the main Thread, where the collector would find what was there before.
      def elsewhere(&block) = Thread.new(&block).join
    RUBY

    SMALL = [nil, 1.5, [1, 2, 3], [1] * 70, "s" * 500, { "id" => 7, "tags" => %w[a b], "n" => [[1], { "k" => 2**62 }] },
             ["é" * 20] * 9, { "a" * 50 => [{ "b" => nil }, "c".b] }].freeze

    def test_the_counter_counts
      assert_counted <<~'RUBY'
        abort "a String" unless calls { "x" * 5_000 } == 1
        abort "own" unless own_calls { Manypack::Codec.new(freeze: true) } == 1
        abort "bytes" unless count { "x" * 5_000 }[1].between?(5_000, 5_100)
        abort "held" unless MallocCount.held.all?(&:positive?)
      RUBY
    end

    def test_packing_mallocs_nothing_up_to_600_bytes
      assert_counted <<~RUBY
        objects = #{SMALL.inspect} + Array.new(24) { |i| "x" * (i * 26) }
        objects.each do |object|
          size = Manypack.pack(object).bytesize
          abort "\#{size} bytes" if size > 604
          abort "own, of \#{object.inspect}" unless own_calls { Manypack.pack(object) }.zero?
          abort "any, of \#{object.inspect}" unless !IN_SLOTS || calls { Manypack.pack(object) }.zero?
        end
      RUBY
    end

    def test_unpacking_mallocs_nothing_where_values_fit_their_slots
      assert_counted <<~RUBY
        small = #{SMALL.inspect} + [Array.new(15) { |i| { "id" => i, "name" => "n" * i * 10 } }]
        small.each do |object|
          bytes = Manypack.pack(object)
          [{}, { symbolize_keys: true }, { freeze: true }, { shareable: true }, { timestamp: true }].each do |options|
            codec = Manypack::Codec.new(**options)
            abort "own, of \#{object.inspect} with \#{options}" unless own_calls { codec.unpack(bytes) }.zero?
            next if options[:shareable] && !#{ShareableMark.possible?} # then Ruby mallocs for itself
            abort "any, of \#{object.inspect} with \#{options}" unless !IN_SLOTS || RUBY_VERSION < "3.3" || calls { codec.unpack(bytes) }.zero?
          end
        end
      RUBY
    end

    def test_what_is_larger_takes_no_more_growth_than_doubling_would
      assert_counted <<~'RUBY'
        (11..22).each do |bits|
          size = 1 << bits
          [Array.new(size / 9) { |i| i + 0.5 }, Array.new(size / 100) { "s" * 98 }].each do |object|
            steps = calls { Manypack.pack(object) }
            abort "pack of #{size}: #{steps}" if steps > bits - 9
            bytes = Manypack.pack(object)
            steps = own_calls { Manypack.unpack(bytes) }
            abort "unpack of #{size}: #{steps}" if steps > bits - 9
          end
        end
      RUBY
    end

    def test_after_all_is_done_only_the_caches_and_the_spare_objects_are_held
      assert_counted <<~'RUBY'
        require "stringio"
        foreign = Class.new { def to_msgpack(packer) = packer.write_array_header(1).write("x" * 5_000) }.new
        factory = Manypack::Factory.new
        factory.register_type(1, Rational, packer: ->(r, p) { p.write([r.numerator, r.denominator]) },
                                           unpacker: ->(u) { Rational(*u.read) }, recursive: true)
        strings = Manypack.pack((0...2_000).flat_map { |i| ["value #{i}"] * 2 })
        spare = lambda do |object|
          factory.load(factory.dump([1r, object]))
          packed = factory.pool.packer { |packer| packer.write(object).full_pack }
          factory.pool.unpacker { |unpacker| unpacker.feed(packed).read }
        end
        rows = Manypack.pack(Array.new(200) { |i| Array.new(3) { (0...20).to_h { |key| ["key #{key} of #{i}", i] } } })
        elsewhere do
          Manypack.unpack(Manypack.pack((0...2_000).to_h { |i| ["key #{i}", i] }))
          Manypack.unpack(strings, shareable: true)
          Manypack.unpack(rows)
          Manypack.pack(eval("[#{Array.new(2_000) { |i| ":s#{i}" }.join(",")}]"))
          spare.call([nil])
        end
        first = held_after_collection
        elsewhere do
          50.times do
            Manypack.unpack(Manypack.pack([foreign] * 3 + Array.new(3_000) { |i| { "key #{i}" => i } }))
            factory.load(factory.dump([3r, [2r] * 700]))
            Manypack::Packer.new(StringIO.new).write("x" * 100_000).write([1] * 5_000).flush
            Manypack::Unpacker.new.feed("\xDD\0\0\x10\0".b + "\x01" * 3_000).tap { |u| u.read rescue nil }
            Manypack::Unpacker.new(max_depth: 5_000).feed("\x91".b * 4_000).tap { |u| u.skip rescue nil }
            Manypack::Buffer.new << "x" * 100_000 << "y" * 300
            Manypack.unpack("\x92\x91".b * 100 + "\xC1".b) rescue nil
            Manypack::Codec.new(freeze: true).unpack(strings)
            Manypack.unpack(rows)
            Manypack.pack(eval("[#{Array.new(500) { |i| ":t#{i}" }.join(",")}]"))
            [["x" * 100_000] * 10, [2r] * 700, [1] * 100_000, [nil]].each { |object| spare.call(object) }
          end
        end
        held = held_after_collection
        abort "#{first} grew to #{held}" unless held == first
        codecs = ObjectSpace.each_object(Manypack::Codec).count
        abort "#{held} with #{codecs} codecs" unless held[1] <= 89_000 + codecs * 800
      RUBY
    end

    def test_a_stream_without_maps_has_no_cache
      assert_counted <<~'RUBY'
        codec = Manypack::Codec.new
        first = held_after_collection
        elsewhere do
          unpacker = codec.unpacker
          unpacker.feed("\x93\x01\xA1".b).each { abort "not yet" }
          abort "not read" unless unpacker.feed("a\xC0".b).read == [1, "a", nil]
        end
        held = held_after_collection
        abort "#{first} grew to #{held}" unless held == first
      RUBY
    end

    WORD = [0].pack("J").bytesize

    # What ObjectSpace.memsize_of has to see: how each is made, and how much it holds at least.
    SIZES = {
      "the caches of a Ractor" => ['eval("[#{Array.new(2_000) { |i| ":s#{i}" }.join(",")}]").then { |all| [all, all.map(&:to_s), { shareable: true }] }.then { |all, keys, options| ' \
                                   'rows = keys.first(20).to_h { |key| [key, key] }; ' \
                                   'Manypack.unpack(Manypack.pack([all, keys * 2, rows, rows, keys.to_h { |key| [key, 1] }]), **options) && nil }', 70_000],
      "an empty Buffer" => ["Manypack::Buffer.new", 0],
      "a Buffer of short pieces" => ['Manypack::Buffer.new.tap { |buffer| 5_000.times { buffer << "x" * 100 } }', 500_000],
      "a Buffer of long Strings" => ['Manypack::Buffer.new(write_reference_threshold: 256).tap { |b| 50.times { b << "x" * 1_000 } }', 50 * 4 * WORD],
      "a Buffer of both, read in part" => ['Manypack::Buffer.new.tap { |b| 9.times { b << "x" * 90_000 << "y" * 600_000 } }.tap { |b| b.read(750_000) }', 500_000],
      "a Packer" => ["Manypack::Packer.new.write([1] * 10_000)", 10_000],
      "a Packer that was emptied" => ["Manypack::Packer.new.write([1] * 10_000).tap(&:reset).write(1)", 1],
      "an Unpacker in the middle of an Array" => ['Manypack::Unpacker.new.feed("\\xDD\\0\\0\\x80\\0".b + "\\x01".b * 9_000).tap { |u| u.read rescue nil }', 9_000 * WORD],
      "an Unpacker that skips" => ['Manypack::Unpacker.new(max_depth: 9_000).feed("\\x91".b * 5_000).tap { |u| u.skip rescue nil }', 40_000],
      "an Unpacker after an error" => ['Manypack::Unpacker.new.feed("\\x92".b * 50 + "\\xC1".b).tap { |u| u.read rescue nil }', 0],
      "a Splitter" => ["Manypack::Parallel.const_get(:Splitter).new(Manypack::Codec.new(max_depth: 1_000)).feed('x' * 5_000)", 8_000],
      "a Tally" => ["Manypack.const_get(:Tally).new.tap { |t| m = Manypack.pack(500.times.to_h { |i| ['k' * 100 + i.to_s, 1] }); t.add(m, 0, m.bytesize) }", 90_000],
      "a Codec" => ["Manypack::Codec.new(freeze: true)", 10 * WORD],
      "a Factory of many types" => ["Manypack::Factory.new.tap { |f| 250.times { |i| f.register_type(i - 128, Class.new, packer: :to_s, unpacker: :p) } }", 500 * 5 * WORD],
      "what shares the types of a Factory" => ["[Manypack::Factory.new.tap { |f| f.register_type(1, Class.new, packer: :to_s, unpacker: :p) }].then { |f,| [f, f.dup, f.codec(freeze: true)] }", 2 * 5 * WORD],
      "types of DefaultFactory" => ["Manypack::DefaultFactory.register_type(1, Class.new, packer: :to_s, unpacker: :p)", 2 * 5 * WORD]
    }.freeze

    def test_every_object_tells_what_it_holds
      assert_counted <<~RUBY
        require "objspace"
        require #{File.join(ROOT, "test/support/embedding").inspect}
        Manypack.__send__(:init_terminal)
        def self.told
          own = [:Splitter, :Stop, *(:Outbox unless defined?(Ractor::Port))].map { |name| Manypack::Parallel.const_get(name) }
          own << Manypack.const_get(:RactorState) << Manypack.const_get(:Tally)
          [Manypack::Buffer, Manypack::Packer, Manypack::Unpacker, Manypack::Codec, Manypack::Factory, *own].sum do |klass|
            ObjectSpace.each_object(klass).sum { |object| ObjectSpace.memsize_of(object) - Embedding.slot_size(object) }
          end
        end
        GC.disable
        #{SIZES.inspect}.each do |what, (program, least)|
          before = [told, MallocCount.held[1]]
          object = eval(program)
          told, held = told() - before[0], MallocCount.held[1] - before[1]
          abort "\#{what}: \#{held} bytes" if held < least
          abort "\#{what} tells \#{told} of \#{held} bytes" unless (held - 8..held).cover?(told) # each holder of types rounds its part down
        end
      RUBY
    end

    def test_a_ractor_holds_small_caches_and_nothing_when_it_is_gone
      assert_counted <<~'RUBY'
        warm = -> { Ractor.new { Manypack.unpack(Manypack.pack({ a: 1 })) } }
        wait = ->(ractor) { ractor.respond_to?(:join) ? ractor.join : ractor.take }
        elsewhere { wait.(warm.()) }
        sleep 0.2 # its native thread ends after it
        before = held_after_collection[1]
        each = nil
        rounds = Array.new(3) do # Ruby may keep the Ractors of the Thread that ended last, but not for ever
          elsewhere do
            ractors = Array.new(10) do
              Ractor.new(Ractor.current) do |main|
                main.__send__(:send, Manypack.unpack(Manypack.pack({ a: 1 })))
                Ractor.receive
              end
            end
            10.times { Ractor.receive }
            each = (MallocCount.held[1] - before) / 10
            abort "#{each} bytes for each" unless each.between?(1, 5_000)
            ractors.each { |ractor| ractor.__send__(:send, nil) }
            ractors.each(&wait)
          end
          10.times { sleep 0.1 if held_after_collection[1] > before }
          [MallocCount.held[1] - before, ObjectSpace.each_object(Ractor).count - 1]
        end
        gone = rounds.any? { |left, kept| kept <= 10 && left <= kept * each }
        abort "bytes and Ractors left: #{rounds}" unless gone
      RUBY
    end

    private

    def assert_counted(program)
      output = output_of(MallocCounter.environment, RbConfig.ruby, "-W0", "-Eutf-8", "-I#{ROOT}/lib", "-",
                         stdin_data: "# encoding: utf-8\n#{PRELUDE}#{program}\nputs :done")
      assert_equal "done", output.strip
    end
  end
end
