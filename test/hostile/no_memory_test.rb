# frozen_string_literal: true

# Memory that runs out: each call of the extension that may allocate fails in turn, once. What an object was told before
# it keeps, and what it was not told it has not got: it goes on, or refuses until it is reset.
require "test_helper"
require "stringio"
require "support/compiled"

# Has calls of the extension raise NoMemoryError, by a library that is compiled here.
module FailingCalls
  # Compiles and installs the library. Returns what keeps this machine from it, or nil.
  def self.obstacle
    Compiled.obstacle(File.join(__dir__, "failing_calls.c")) || ("the extension calls too few of the functions" if install < 40)
  end

  # Runs the block such that the nth call fails. Returns true if there are that many.
  def self.nth(count)
    arm(count)
    yield
    arm(0)
  ensure
    arm(0)
  end
end

class NoMemoryTest < Minitest::Test
  OBSTACLE = FailingCalls.obstacle

  # More than a piece, and than the first memory of everything that grows.
  LONG = {
    "list" => Array.new(70) { |i| "#{"x" * (150 + i)} #{i}" }, "rows" => Array.new(6) { |i| { "id" => i, "at" => "a" * i } },
    "k" * 300 => [1.5, 2**63, "b".b * 2_000, -1, nil, 20.times.inject(1) { |inner, _| [inner] }]
  }.freeze
  OBJECTS = [[1, "first"], LONG, { "last" => [2, "y" * 90] }].freeze
  MESSAGES = OBJECTS.map { |object| Manypack.pack(object).freeze }.freeze
  BYTES = MESSAGES.join.freeze
  PIECES = BYTES.scan(/.{1,700}/mn).each(&:freeze).freeze

  Row = Struct.new(:list, :rows)
  RECORD = Manypack::Record.new(Row, list: [String], rows: Array)
  FACTORY = Manypack::Factory.new.tap do |factory|
    pack = ->(rational, packer) { packer.write([rational.numerator, "z" * 400, rational.denominator]) }
    unpack = ->(unpacker) { unpacker.read.then { |numerator, _, denominator| Rational(numerator, denominator) } }
    factory.register_type(1, Rational, packer: pack, unpacker: unpack, recursive: true)
  end
  RATIONALS = [1r, ["q" * 300, 2r], 3r].freeze

  # How the objects of a stream come out of an Unpacker.
  READERS = [
    ->(unpacker, got) { got << unpacker.read while true },
    ->(unpacker, got) { unpacker.each { |object| got << object } },
    ->(unpacker, got) { unpacker.each(strict: true) { |object| got << object } }
  ].freeze
  READ = READERS.first

  if OBSTACLE
    warn "NOT RUN: #{File.basename(__FILE__)}: #{OBSTACLE}"
  else
    def test_an_unpacker_that_is_fed_in_pieces_reads_the_rest_or_refuses_until_reset
      [{}, { symbolize_keys: true, freeze: true }, { max_objects: 5_000, max_bytes: 50_000 }].each do |options|
        objects = MESSAGES.map { |message| Manypack.unpack(message, **options) }
        assert_streams(-> { surely { Manypack::Unpacker.new(**options) } }, method(:feed_pieces), objects)
      end
    end

    def test_an_unpacker_with_all_its_bytes_reads_the_rest_or_refuses_until_reset
      READERS.each do |reader|
        assert_streams(-> { surely { Manypack::Unpacker.new } }, ->(unpacker) { feed_pieces(unpacker, [BYTES], &reader) }, OBJECTS)
      end
    end

    def test_skipping_and_headers_go_on_or_refuse_until_reset
      skip_all = ->(unpacker, got) { got << got.size if unpacker.skip.nil? while true }
      assert_streams(-> { surely { Manypack::Unpacker.new } }, ->(unpacker) { feed_pieces(unpacker, &skip_all) }, [0, 1, 2])
      expected = [2, nil, "first", nil, false, OBJECTS[2]]
      each_failure(-> { surely { Manypack::Unpacker.new.feed(BYTES) } }, method(:step)) do |unpacker, got|
        whole = got.take_while { |result| result != :refused }
        assert_equal expected.take(whole.size), whole
        assert_empty got.drop(whole.size) - [:refused]
        unpacker.reset
      end
    end

    def test_an_unpacker_of_views_and_records
      assert_streams(-> { surely { Manypack::Unpacker.new(as: :view) } }, method(:feed_pieces), OBJECTS)
      rows = [Row.new(LONG["list"], LONG["rows"]), Row.new(["x" * 900], [])]
      stream = rows.map { |row| RECORD.dump(row) }.join
      read = ->(unpacker) { feed_pieces(unpacker, stream.scan(/.{1,700}/mn)) }
      assert_streams(-> { surely { Manypack::Unpacker.new(as: RECORD) } }, read, rows, fresh: RECORD.dump(rows[0]), reads: rows[0])
    end

    def test_an_unpacker_of_recursive_types
      stream = RATIONALS.map { |object| FACTORY.dump(object) }.join
      read = ->(unpacker) { feed_pieces(unpacker, stream.scan(/.{1,50}/mn)) }
      assert_streams(-> { surely { FACTORY.unpacker } }, read, RATIONALS)
    end

    def test_an_unpacker_of_an_io
      [BYTES, BYTES[0, 3] * 5].each do |bytes|
        objects = bytes == BYTES ? OBJECTS : Manypack::Unpacker.new.feed(bytes).each.to_a
        assert_streams(-> { surely { Manypack::Unpacker.new(StringIO.new(bytes), io_buffer_size: 900) } }, ->(unpacker) { read(unpacker, [], &READ) }, objects)
      end
    end

    def test_a_packer_has_all_of_what_was_written_and_nothing_of_what_was_not
      [{}, { write_reference_threshold: 256 }].each do |options|
        each_failure(-> { surely { Manypack::Packer.new(**options) } }, method(:write_all)) do |packer, written|
          assert_equal written.zip(MESSAGES).filter_map { |whole, bytes| bytes if whole }.join, packer.to_s
          assert_packer packer
        end
      end
    end

    def test_a_packer_of_recursive_types
      each_failure(-> { surely { FACTORY.packer } }, ->(packer) { write_all(packer, RATIONALS) }) do |packer, written|
        assert_equal written.zip(RATIONALS).filter_map { |whole, object| FACTORY.dump(object) if whole }.join, packer.to_s
        assert_packer packer
      end
    end

    # An object counts, too, if the flush after it failed.
    def test_a_packer_of_an_io_loses_nothing_that_was_written
      each_failure(-> { StringIO.new(+"".b) }, method(:write_through)) do |io, (packer, written)|
        least = written.zip(MESSAGES).filter_map { |whole, bytes| bytes if whole }.join
        assert_includes [least, *MESSAGES.size.times.map { |i| MESSAGES.take(i + 1).join }], io.string + packer.to_s
        assert_packer packer
      end
    end

    def test_a_buffer
      work = lambda do |buffer|
        size = 0
        4.times { |i| size += 300 + i if attempt { buffer << ("z" * (300 + i)) } != :refused }
        got = attempt { buffer.read(700) }
        [size, got == :refused ? 0 : got.size, attempt { buffer.to_a.join }, attempt { buffer.read_all(50) }]
      end
      each_failure(-> { surely { Manypack::Buffer.new } }, work) do |buffer, (size, got, rest, more)|
        assert_equal size - got, rest.size unless rest == :refused
        assert_equal size - got - (more == :refused ? 0 : more.size), buffer.size
        buffer.clear
        assert_equal "a", (buffer << "a").read(1)
      end
    end

    def test_pools_lend_what_works
      work = lambda do |pool|
        RATIONALS.each { |object| attempt { pool.load(pool.dump(object)) } }
        attempt { pool.packer { |packer| packer.write(LONG).to_s } }
        attempt { pool.unpacker { |unpacker| unpacker.feed(MESSAGES[1]).read } }
      end
      each_failure(-> { surely { FACTORY.pool } }, work) do |pool, _|
        RATIONALS.each { |object| assert_equal object, pool.load(pool.dump(object)) }
        assert_equal "\x01".b, pool.packer { |packer| packer.write(1).to_s }
        assert_equal 1, pool.unpacker { |unpacker| unpacker.feed("\x01").read }
      end
    end

    def test_views_and_lazy_records
      each_failure(-> { surely { Manypack::View.new(MESSAGES[1]) } }, method(:look)) do |view, _|
        assert_equal 70, view["list"].size
        assert_equal LONG["rows"], view["rows"].value
        assert_equal LONG, view.value
      end
      lazy = RECORD.lazy
      each_failure(-> { surely { lazy.load(MESSAGES[1]) } }, ->(row) { attempt { row.list } && attempt { row.rows } }) do |row, _|
        assert_equal [LONG["list"], LONG["rows"]], [row.list, row.rows]
      end
    end

    def test_codecs_factories_and_records
      codec = Manypack::Codec.new(max_objects: 5_000)
      each_failure(-> { codec }, ->(_) { OBJECTS.each { |object| attempt { codec.unpack(codec.pack(object)) } } }) do
        OBJECTS.each { |object| assert_equal object, codec.unpack(codec.pack(object)) }
      end
      each_failure(-> { RECORD }, ->(_) { attempt { RECORD.dump(RECORD.load(MESSAGES[1])) } }) do
        assert_equal LONG["list"], RECORD.load(MESSAGES[1]).list
      end
      register = ->(factory) { attempt { factory.register_type(1, Complex, packer: :to_s, unpacker: :Complex) } }
      each_failure(-> { surely { Manypack::Factory.new } }, register) do |factory, done|
        assert_equal 1i, factory.load(factory.dump(1i)) unless done == :refused
        assert_equal [1], factory.load(factory.dump([1]))
      end
    end

    def test_splitting_loses_no_message
      each_failure(-> { nil }, ->(_) { attempt { Manypack.split(StringIO.new(BYTES)).to_a } }) do |_, messages|
        assert_equal MESSAGES, messages unless messages == :refused
      end
    end
  end

  private

  # Makes an object and works with it until none of the calls that can fail is left to fail in that; yields both results.
  # The caller who works tries again what failed, and then one does who leaves it at that.
  def each_failure(make, work)
    [2, 1].each do |tries|
      @tries = tries
      count = 0
      begin
        object = result = nil
        @refused = false
        failed = FailingCalls.nth(count += 1) { result = work.call(object = make.call) }
        yield object, result
      end while failed
      assert_operator count, :>, 1
    end
  end

  # The value of the block, or :refused.
  def attempt(tries = @tries)
    yield
  rescue NoMemoryError, RuntimeError => error
    refute_match(/in use/, error.message)
    return attempt(tries - 1) { yield } if tries > 1

    @refused = true
    :refused
  end

  def surely
    attempt(2) { yield }
  end

  def assert_streams(make, work, objects, fresh: "\x92\x01\x02", reads: [1, 2])
    look = false
    each_failure(make, work) do |unpacker, got|
      assert_stream objects, got
      assert_kind_of Integer, unpacker.buffer.size if (look = !look)
      unpacker.reset
      assert_equal reads, plain(unpacker.feed(fresh).read)
    end
  end

  def plain(object)
    object.is_a?(Manypack::View) ? object.value : object
  end

  # All objects but the one that was being read, or those before it.
  def assert_stream(objects, got)
    indices = got.grep_v(:refused).map { |object| objects.index(plain(object)) || object }
    all = objects.each_index.to_a
    assert_includes got.include?(:refused) ? [all, *all.map { |i| all.take(i) }] : [all, *all.map { |i| all - [i] }], indices
  end

  def feed_pieces(unpacker, pieces = PIECES, &reader)
    pieces.each_with_object([]) do |piece, got|
      return got << :refused if attempt { unpacker.feed(piece) } == :refused || read(unpacker, got, &reader).last == :refused
    end
  end

  # Appends what there is, and :refused if that is not all.
  def read(unpacker, got, &reader)
    refused = attempt { (reader || READ).call(unpacker, got) } == :refused
    refused ? got << :refused : got
  rescue EOFError
    got
  end

  def step(unpacker)
    %i[read_array_header skip read skip skip_nil read].map { |name| surely { unpacker.public_send(name) } }
  end

  # Which of the objects were written.
  def write_all(packer, objects = OBJECTS, tries = @tries)
    objects.map { |object| attempt(tries) { packer.write(object) } != :refused }
  end

  def write_through(io)
    packer = surely { Manypack::Packer.new(io) }
    written = write_all(packer, OBJECTS, 1)
    attempt { packer.flush }
    [packer, written]
  end

  def assert_packer(packer)
    packer.reset
    assert_equal "\x91\x01".b, packer.write([1]).to_s
  end

  def look(view)
    attempt { view["list"].each.to_a }
    attempt { view.dig("k" * 300, 1) }
    attempt { view.to_h }
    attempt { view.bytes }
  end
end
