# frozen_string_literal: true

# Has each allocation of each operation fail once, in a process each, and prints what is wrong afterwards. It runs under
# test/support/malloc_count.c, which knows what the extension holds, and failing_malloc.c behind it:
#   LD_PRELOAD="malloc_count.so failing_malloc.so" ruby -Ilib test/hostile/every_malloc.rb STEP [OPERATION...]
# STEP is 1 for each allocation, 10 for each tenth of them.
require "json"
require "stringio"
require "manypack"

module EveryMalloc
  TREE = { "list" => Array.new(70) { |i| "#{"x" * 150} #{i}" }, "rows" => Array.new(6) { |i| { "id" => i, "at" => "a" * i } },
           "k" * 300 => [1.5, 2**63, "b".b * 2_000, -1, nil, 20.times.inject(1) { |inner, _| [inner] }] }.freeze
  OBJECTS = [[1, "first"], TREE, { "last" => [2, "y" * 90] }].freeze
  MESSAGES = OBJECTS.map { |object| Manypack.pack(object).freeze }.freeze
  BYTES = MESSAGES.join.freeze
  WHOLE = Array.new(MESSAGES.size + 1) { |i| MESSAGES.take(i).join }.freeze
  Row = Struct.new(:list, :rows)
  RECORD = Manypack::Record.new(Row, list: [String], rows: [Hash])
  FACTORY = Manypack::Factory.new.tap do |factory|
    pack = ->(rational, packer) { packer.write([rational.numerator, "z" * 400, rational.denominator]) }
    unpack = ->(unpacker) { unpacker.read.then { |numerator, _, denominator| Rational(numerator, denominator) } }
    factory.register_type(1, Rational, packer: pack, unpacker: unpack, recursive: true)
  end
  RATIONALS = [1r, ["q" * 300, 2r], 3r].freeze

  # What needs nothing but itself gives the same value when it is called again.
  CALLS = {
    "pack" => -> { Manypack.pack(TREE) },
    "unpack" => -> { Manypack.unpack(MESSAGES[1]) },
    "unpack frozen" => -> { Manypack.unpack(MESSAGES[1], shareable: true, symbolize_keys: true) },
    "canonicalize" => -> { Manypack.canonicalize(MESSAGES[1]) },
    "recursive ext" => -> { FACTORY.load(FACTORY.dump(RATIONALS)) },
    "Codec.new" => -> { Manypack::Codec.new(max_objects: 5_000).unpack(MESSAGES[0]) },
    "Factory#register_type" => lambda do
      factory = Manypack::Factory.new
      factory.register_type(2, Complex, packer: :to_s, unpacker: :Complex)
      factory.load(factory.dump(1i))
    end,
    "View" => -> { Manypack::View.new(MESSAGES[1]).then { |view| [view["rows"][3]["id"], view["list"].to_a, view.to_h.size] } },
    "checked View" => -> { Manypack::View.new(MESSAGES[1], check: true).dig("rows", 5, "at") },
    "Path.new" => -> { Manypack::Path.new("$.rows[?@.id > 2].at").to_a(MESSAGES[1]) },
    "Path.all" => -> { Manypack::Path.all(ids: "$.rows[*].id", last: "$.list[-1]").read(MESSAGES[1]) },
    "splice" => lambda do
      Manypack::View.new(MESSAGES[1]).splice("rows[2].id" => TREE, "list" => Manypack::View::REMOVED).bytes
    end,
    "Record.new" => -> { Manypack::Record.new(Row, list: [String], rows: Array).members },
    "Record#load" => -> { RECORD.load(MESSAGES[1]) },
    "Record#dump" => -> { RECORD.dump(Row.new(TREE["list"], TREE["rows"])) },
    "lazy Record" => -> { RECORD.lazy.load(MESSAGES[1]).then { |row| [row.list, row.rows] } },
    "a refusal" => -> { Manypack.unpack(MESSAGES[1][0, 9_000]) rescue $!.message }, # rubocop:disable Style/RescueModifier
    "split" => -> { Manypack.split(StringIO.new(BYTES)).to_a },
    "JSON text" => -> { Manypack::View.new(MESSAGES[0]).to_json },
    "Parallel" => -> { Manypack::Parallel.map(BYTES, processes: 1) { |object| object.size } },
    "Parallel in no process" => -> { Manypack::Parallel.map(BYTES, ractors: 0) { |object| object.size } }
  }.freeze

  # [what makes an object, what works with it, what it must be good for afterwards, and the values that prove it]
  OBJECTS_AT_WORK = {
    "Packer" => [-> { Manypack::Packer.new }, ->(packer) { OBJECTS.each { |object| packer.write(object) } },
                 ->(packer) { packer.to_s }, WHOLE],
    "Packer over an io" => [-> { [Manypack::Packer.new(io = StringIO.new(+"".b)), io] },
                            ->((packer, _)) { OBJECTS.each { |object| packer.write(object).flush } },
                            ->((packer, io)) { packer.flush && io.string }, WHOLE],
    "Unpacker" => [-> { Manypack::Unpacker.new }, ->(unpacker) { BYTES.scan(/.{1,700}/mn) { |piece| unpacker.feed(piece).each { nil } } },
                   ->(unpacker) { unpacker.reset || unpacker.feed(BYTES).each.to_a }, [OBJECTS]],
    "Unpacker over an io" => [-> { Manypack::Unpacker.new(StringIO.new(BYTES)) }, ->(unpacker) { unpacker.each { nil } },
                              ->(unpacker) { unpacker.reset || unpacker.feed(BYTES).each.to_a.last(3) }, [OBJECTS]],
    "Buffer" => [-> { Manypack::Buffer.new }, ->(buffer) { MESSAGES.each { |bytes| buffer << bytes } }, ->(buffer) { buffer.to_s }, WHOLE],
    "Pool" => [-> { FACTORY.pool }, ->(pool) { RATIONALS.each { |object| pool.load(pool.dump(object)) } },
               ->(pool) { pool.load(pool.dump(RATIONALS)) }, [RATIONALS]]
  }.freeze

  PAST, FINE, RUBY = %w[past fine ruby].freeze
  NAMES = [*CALLS.keys, *OBJECTS_AT_WORK.keys].freeze

  # Regexps, files and processes have errors of their own for it.
  SAYS_SO = /failed to allocate memory|Cannot allocate memory/.freeze

  # Failures in one process until nothing is new in it, and then as many to compare.
  LEAK_ROUNDS = 8

  module_function

  def operation(name)
    CALLS[name].then { |call| call ? [-> { nil }, ->(_) { call.call }, ->(_) { call.call }, [call.call]] : OBJECTS_AT_WORK[name] }
  end

  # Prints how many points there are, and each that is wrong.
  def run(name, step)
    operation = operation(name)
    2.times { operation[2].call(operation[0].call.tap(&operation[1])) } # what is made once is there
    GC.start
    count = 1 + rand(step)
    answers = []
    while (answer = in_process { point(*operation, count) }) != PAST
      answers << (ruby_fails?(answer) ? RUBY : answer)
      puts "#{name}, allocation #{count}: #{answer[0, 3_000]}" unless [FINE, RUBY].include?(answers.last)
      count += step
    end
    puts "#{name}: #{answers.size} points, at #{answers.count(RUBY)} of them Ruby ends itself" if $VERBOSE
  end

  # Ruby itself does not survive everywhere: not while it makes a class or an exception, for example.
  def ruby_fails?(answer)
    answer.include?("exception reentered (fatal)") || (answer.include?("[BUG]") && !answer[/^-- C level.*?(?=^-- )/m].to_s.include?("manypack.so"))
  end

  # Returns the block's text from a process of its own, or how that ended.
  def in_process
    reader, writer = IO.pipe
    pid = fork do
      $stderr.reopen(writer)
      writer.syswrite("\0#{yield}")
      exit!(true)
    end
    writer.close
    output = reader.read
    _, status = Process.wait2(pid)
    status.success? ? output.rpartition("\0").last : "#{status}, #{output}"
  end

  # Returns PAST if there are fewer allocations, FINE, or what is wrong.
  def point(make, work, use, good, count)
    object = make.call
    error = failing(count) { work.call(object) }
    return PAST unless FailingMalloc.failed?
    return "raised #{error.full_message(highlight: false)}" unless error.nil? || error.message.match?(SAYS_SO)

    got = use.call(object)
    return "has #{got.inspect[0, 300]} afterwards" unless good.include?(got)

    leak(make, work, count) || FINE
  rescue Exception => error # rubocop:disable Lint/RescueException -- whatever it is, it is wrong
    "does not work afterwards: #{error.full_message(highlight: false)}"
  end

  # The exception that the block raises.
  def failing(count, &block)
    FailingMalloc.nth(count, &block)
    nil
  rescue Exception => error # rubocop:disable Lint/RescueException
    error
  end

  # A block of the extension's for each failure is a leak; Ruby's regexps and Strings have some of their own.
  def leak(make, work, count)
    blocks = Array.new(3) do
      LEAK_ROUNDS.times { make.call.then { |object| failing(count) { work.call(object) } } }
      GC.start
      MallocCount.held.first
    end
    grown = blocks.each_cons(2).map { |before, after| after - before }.min
    "leaks #{grown} blocks in #{LEAK_ROUNDS} failures" if grown >= LEAK_ROUNDS
  end
end

ENV["LD_PRELOAD"].split.each { |library| require library if library.include?("malloc") }
MallocCount.watch($LOADED_FEATURES.grep(/manypack\.so/).first)
step, *names = ARGV
$stdout.sync = true
(names.empty? ? EveryMalloc::NAMES : names).each { |name| EveryMalloc.run(name, Integer(step)) }
