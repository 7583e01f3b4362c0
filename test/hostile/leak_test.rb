# frozen_string_literal: true

# Memory stays flat however often we pack, unpack, fail, and are left in the middle; a process for each case.
#
# LEAK_ROUNDS=1000000 bundle exec rake test TEST=test/hostile/leak_test.rb   for more than the usual rounds
require_relative "attacks"

module Hostile
  class LeakTest < Minitest::Test
    include Attacks

    ROUNDS = Integer(ENV.fetch("LEAK_ROUNDS", "20000"))

    # What memory may grow by from its most in the first half to its least in the last third, in KB.
    FLAT = 2_048

    # Has glibc return each larger block to the kernel when it is freed. Otherwise it keeps what garbage once took, and a
    # collector that lets more of it gather looks like a leak: on a branch of Ruby 4.1 the process had 280 MB after
    # Strings of 20 KB, with 9 MB in use.
    RETURNING = { "MALLOC_MMAP_THRESHOLD_" => "8192" }.freeze

    # By case: what comes first, and what a round does.
    CASES = {
      "packs" => ["", "Manypack.pack(TREE)"],
      "packs of long strings" => ["", "Manypack.pack(LONG) if i % 10 == 0"],
      "unpacks" => ["", "Manypack.unpack(MESSAGE)"],
      "unpacks of every option" => ["", "Manypack.unpack(MESSAGE, **OPTIONS[i % OPTIONS.size])"],
      "unpack errors" => ["", "outcome { Manypack.unpack(BROKEN[i % BROKEN.size]) }"],
      "deep errors" => ['DEEP = "\x91".b * 2_000', "outcome { Manypack.unpack(DEEP, max_depth: 1_000) } if i % 10 == 0"],
      "pack errors" => ["BAD = [LONG[0, 20_000], [Object.new]]", "outcome { Manypack.pack(BAD) }"],
      "raising to_msgpack" => ["class Raising; def to_msgpack(packer) = packer.write('w' * 5_000) && raise('by to_msgpack'); end",
                               "outcome { Manypack.pack([TREE, Raising.new]) }"],
      "raising handlers" => ["F = Manypack::Factory.new; F.register_type(1, Wrapped, packer: nil, unpacker: ->(_) { raise 'by the handler' })",
                             'outcome { F.load("\x92\xA3abc\xD4\x01a".b) }; outcome { F.unpacker.feed("\x92\xA3abc\xD4\x01a".b).read }'],
      "raising recursive handlers" => ["F = Manypack::Factory.new; F.register_type(1, Wrapped, packer: nil, unpacker: ->(b) { b.read && raise('by it') }, recursive: true)",
                                       'outcome { F.load("\x92\xA3abc\xC7\x04\x01\x93\x01\x02\x03".b) }'],
      "thrown out of handlers" => ["F = Manypack::Factory.new; F.register_type(1, Wrapped, packer: nil, unpacker: ->(_) { throw :out })",
                                   'catch(:out) { F.load("\x92\xA3abc\xD4\x01a".b) }'],
      "abandoned streams" => ["", "outcome { Manypack::Unpacker.new.feed(MESSAGE.byteslice(0, 1 + (i % (MESSAGE.bytesize - 1)))).read }"],
      "abandoned deep streams" => ["", 'outcome { Manypack::Unpacker.new(max_depth: 5_000).feed("\x92\x01".b * 1_000).read } if i % 10 == 0'],
      "abandoned packers" => ["", "Manypack::Packer.new.write(TREE).write(LONG[0, 10_000])"],
      "abandoned buffers" => ["", "(Manypack::Buffer.new << LONG[0, 10_000]).read(10)"],
      "streams" => ["U = Manypack::Unpacker.new", "U.feed_each(MESSAGE) { |object| object }"],
      "errors of one stream" => ["U = Manypack::Unpacker.new", "outcome { U.feed(BROKEN[i % BROKEN.size]).read }; U.reset"],
      "abandoned Fibers in handlers" => ["F = Manypack::Factory.new; F.register_type(1, Wrapped, packer: nil, unpacker: ->(_) { Fiber.yield })",
                                         'Fiber.new { F.load("\x92\xA3abc\xD4\x01a".b) }.resume if i % 10 == 0; GC.start if i % 2_000 == 0'],
      "abandoned Fibers in to_msgpack" => ["class Leaving; def to_msgpack(_packer) = Fiber.yield; end",
                                           "Fiber.new { Manypack.pack([TREE, LONG[0, 20_000], Leaving.new]) }.resume if i % 10 == 0; GC.start if i % 2_000 == 0"],
      "breaks out of each" => ["", "Manypack::Unpacker.new.feed(MESSAGE * 2).each { break }"],
      "enumerators that are left" => ["", "Manypack::Unpacker.new.feed(MESSAGE * 2).each.next if i % 10 == 0; GC.start if i % 2_000 == 0"],
      "codecs and factories" => ["", "Manypack::Factory.new.tap { |f| f.register_type(1, Wrapped, packer: nil, unpacker: :new) }.codec(freeze: true).unpack(MESSAGE)"],
      "io that fails" => ["class Failing; def readpartial(_) = (@asked = !@asked) ? MESSAGE.byteslice(0, 20) : raise(IOError); end", "outcome { Manypack.unpack(Failing.new) }"],
      "Ractors" => ["Warning[:experimental] = false", "(r = Ractor.new { Manypack.unpack(MESSAGE).size }).respond_to?(:value) ? r.value : r.take if i % 200 == 0"]
    }.freeze

    HEAD = <<~'RUBY'
      TREE = { "id" => 1, "list" => ["text" * 20, 2**64 - 1, 1.5e300, nil], "map" => { "key of some length here" => ["é"] } }.freeze
      LONG = ("l" * 100_000).freeze
      MESSAGE = Manypack.pack(TREE).freeze
      OPTIONS = [{ symbolize_keys: true }, { freeze: true }, { shareable: true }, { untrusted: true }, { duplicate_keys: :error }].freeze
      BROKEN = [MESSAGE[0..-2], MESSAGE + "x", "\x92\x01\xC1".b, "\x91".b * 200, "\x92\xD4\x05a\x01".b, map_of([NAN] * 17), "\x93\xA5hello\xDB\xFF\xFF\xFF\xFF".b].freeze
    RUBY

    LOOP = <<~'RUBY'
      resident = lambda do
        3.times { GC.start }
        kilobytes("VmRSS")
      end
      sizes = Array.new(10) do |tenth|
        (rounds / 10).times { |n| work.call(tenth * (rounds / 10) + n) }
        resident.call
      end
      print sizes.last(3).min - sizes.first(5).max
    RUBY

    CASES.each do |name, (first, round)|
      define_method("test_memory_stays_flat_over_#{name.tr(" ", "_")}") { assert_flat name, program(first, round) }
    end

    def test_what_leaks_is_seen
      error = assert_raises(Minitest::Assertion) { assert_flat "a leak", program("KEPT = []", "KEPT << 'k' * 1_000") }
      assert_match(/to be < #{FLAT}/, error.message)
    end

    private

    def program(first, round)
      "#{HEAD}\n#{first}\nrounds = #{ROUNDS}\nwork = lambda { |i| #{round} }\n#{LOOP}"
    end

    # What leaks does so every time. What malloc keeps of small garbage that came in an unlucky order it does not.
    def assert_flat(name, program)
      grown = Float::INFINITY
      3.times { grown = Integer(run_ruby(program, RETURNING)) if grown >= FLAT }
      figure("#{ROUNDS} #{name}, end over start", "KB more", grown)
      assert_operator grown, :<, FLAT
    end
  end
end
