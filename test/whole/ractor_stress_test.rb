# frozen_string_literal: true

# Eight Ractors that pack, unpack, stream and register at once, while the main one registers for all of them and moves the
# heap; at first with a collection at every allocation. For some MANYPACK_STRESS seconds (2); CI takes its time.
require "test_helper"
require "support/program"

class RactorStressTest < Minitest::Test
  include ProgramHelper

  SECONDS = Float(ENV.fetch("MANYPACK_STRESS", "2"))

  PROGRAM = <<~'RUBY'
    Point = Struct.new(:x, :y) do
      def to_msgpack_ext = [x, y].pack("l>2")
      def self.from_msgpack_ext(body) = new(*body.unpack("l>2"))
    end
    Version = Struct.new(:number) do
      def one = "1"
      def two = "2"
      def self.of(body) = body
    end

    # What one Ractor does, over and over again. Whatever comes back wrong raises.
    class Work
      FACTORY = Manypack::Factory.new.tap { |factory| factory.register_type(1, Point) }.freeze
      CODEC = FACTORY.codec(shareable: true)
      TASKS = %i[once shareable stream write register limits default skip].freeze
      OWN_COLLECTOR = GC.stat.key?(:global_gc_count) # each Ractor has one since Ruby 4.1
      COLUMNS = Ractor.make_shareable(Array.new(12) { |i| "column #{i}" })

      def initialize(seed, depth)
        @random = Random.new(seed)
        @offset = seed
        @depth = depth
        @unpacker = FACTORY.unpacker
        @packer = FACTORY.packer
      end

      # Returns how many tasks were done until then, one at least. Eight Ractors begin with eight tasks, so that each is
      # done when there is time for little.
      def run(stop)
        1.step do |done|
          send(TASKS[(@offset + done) % TASKS.size])
          next unless Process.clock_gettime(Process::CLOCK_MONOTONIC) > stop

          GC.verify_internal_consistency if OWN_COLLECTOR
          return done
        end
      end

      private

      def object(depth = @depth)
        case @random.rand(depth > 0 ? 13 : 9)
        when 0 then @random.rand(-2**40..2**64 - 1)
        when 1 then @random.rand(-100..100)
        when 2 then @random.rand * 10**@random.rand(-300..300)
        when 3 then "text é #{@random.rand(100)}"
        when 4 then "s" * @random.rand(2_000)
        when 5 then @random.bytes(@random.rand(40))
        when 6 then [nil, true, false][@random.rand(3)]
        when 7 then Point.new(@random.rand(9), @random.rand(9))
        when 8 then 2**63 + @random.rand(9)
        when 9, 10 then Array.new(@random.rand(30)) { object(depth - 1) }
        when 11 then Array.new(@random.rand(30)) { COLUMNS.first(9 + @random.rand(4)).to_h { |key| [key, object(0)] } }
        else Array.new(@random.rand(20)) { |i| ["key_#{i * @random.rand(9)}", object(depth - 1)] }.to_h
        end
      end

      def same(one, other) = one == other || raise("#{one.inspect} became #{other.inspect}")

      def once
        tree = object
        same(tree, FACTORY.load(FACTORY.dump(tree)))
      end

      def shareable
        tree = object
        shared = CODEC.load(CODEC.dump(tree))
        same(tree, shared)
        raise "not shareable" unless Ractor.shareable?(shared)

        same(tree, value(Ractor.new(shared) { |given| given })) if @random.rand(20) == 0
      end

      def stream
        trees = Array.new(@random.rand(5)) { object(@depth - 1) }
        bytes = trees.map { |tree| FACTORY.dump(tree) }.join
        step = @random.rand(1..200)
        read = 0.step(bytes.bytesize - 1, step).flat_map { |at| @unpacker.feed_each(bytes.byteslice(at, step)).to_a }
        same(trees, read)
      end

      def write
        tree = object(@depth - 1)
        @packer.write_array_header(2).write(tree).write_nil
        same([tree, nil], FACTORY.load(@packer.full_pack || @packer.to_s))
        @packer.reset
      end

      def register
        seen = []
        factory = FACTORY.dup
        factory.register_type(2, Range, packer: ->(range) { seen << range && "r" }, unpacker: ->(body) { seen << body && body })
        same("r", factory.load(factory.dump(1..2)))
        same([1..2, "r"], seen)
      end

      def limits
        Manypack.unpack("\x91".b * 200)
      rescue Manypack::StackError => e
        same(128, e.offset)
      end

      # One version or the other, and never half of one.
      def default
        bytes = Manypack.pack([Version.new(1), Point.new(1, 2)])
        raise bytes.inspect unless ["\x92\xD4\x021".b, "\x92\xD4\x022".b].include?(bytes.byteslice(0, 4))

        same([bytes[3], Point.new(1, 2)], Manypack.unpack(bytes))
      end

      def skip
        tree = object
        unpacker = FACTORY.unpacker.feed(FACTORY.dump(tree) * 2)
        unpacker.skip
        same(tree, unpacker.read)
      end
    end

    DEFAULT = Manypack::DefaultFactory
    DEFAULT.register_type(1, Point)
    DEFAULT.register_type(2, Version, packer: :one, unpacker: :of)

    # Returns how many tasks eight Ractors did.
    def at_work(seconds, depth)
      stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
      ractors = Array.new(8) { |i| Ractor.new(i, depth, stop) { |seed, levels, till| Work.new(seed, levels).run(till) } }
      1.step do |version|
        meddle(version)
        break if Process.clock_gettime(Process::CLOCK_MONOTONIC) > stop
      end
      ractors.sum { |ractor| value(ractor) }
    end

    # What the main Ractor does to all of them.
    def meddle(version)
      seen = []
      DEFAULT.register_type(2, Version, packer: version.odd? ? :two : :one, unpacker: :of)
      DEFAULT.register_type(3, Range, packer: ->(range) { seen << range && "r" }, unpacker: nil) # for this Ractor alone
      Manypack.pack(1..2) == "\xD4\x03r".b or raise "not by the types registered last"
      GC.compact if version % 20 == 0 && GC.respond_to?(:compact)
      sleep(0.01)
    end

    seconds = Float(ENV.fetch("MANYPACK_STRESS"))
    # Ruby 3.1 keeps GC.stress in one word with whether it collects, and sets it without a lock: only while there are no
    # other Ractors. Small objects, since eight Ractors wait for each collection.
    GC.stress = true
    stressed = at_work(seconds / 4, 1)
    sleep(0.01) until Ractor.count == 1
    GC.stress = false
    calm = at_work(seconds * 3 / 4, 3)
    GC.verify_internal_consistency
    GC.compact if GC.respond_to?(:compact)
    GC.verify_internal_consistency
    puts "ok, #{stressed} and #{calm} tasks"
  RUBY

  def test_eight_ractors_at_work
    output = run_program(PROGRAM, { "MANYPACK_STRESS" => SECONDS.to_s })
    assert_match(/\Aok, /, output)
  end
end
