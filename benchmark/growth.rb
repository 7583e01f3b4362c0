# frozen_string_literal: true

# How the cost of looks, Paths and splices grows, and what they cost beside the plain way: unpacking the message and
# doing the same with Ruby's objects. Each row is measured at n, 4n and 16n. The exponent is 1 where the cost grows as n
# does, and 2 where it is quadratic; the ratio is below 1 where Manypack's way is the faster one.
#
#   ruby -Ilib benchmark/growth.rb [PART OF A NAME]
#
# A figure is the median of interleaved rounds in processor time. The suite tests that the costs are linear:
# test/whole/growth_test.rb and linear_time_test.rb.
require "manypack"

module Growth
  View = Manypack::View
  Path = Manypack::Path
  ROUNDS = 7
  SECONDS = 0.01 # for one measurement, at least
  Row = Struct.new(:name, :sizes, :prepare)

  USERS_OF = lambda do |n|
    Manypack.pack(Array.new(n) do |i|
      { "id" => i, "name" => "user #{i}", "age" => i * 7 % 90, "city" => %w[Rome Oslo Bern Riga][i % 4],
        "active" => i.odd?, "address" => { "street" => "Street #{i}", "zip" => 10_000 + i }, "score" => i * 0.5 }
    end)
  end

  # What a path finds, and the same with Ruby's objects.
  QUERY = lambda do |text, plain|
    path = Path.new(text)
    lambda do |n|
      bytes = USERS_OF.call(n)
      [-> { path.to_a(bytes) }, -> { plain.call(Manypack.unpack(bytes)) }]
    end
  end

  # A splice, and the same change of an object that is unpacked. Changes has the paths, the plain way what each means.
  SPLICE = lambda do |object, changes, plain|
    bytes = Manypack.pack(object)
    [-> { View.new(bytes).splice(changes).bytes }, lambda do
      whole = Manypack.unpack(bytes)
      plain.each { |key, value| whole[key] = value }
      Manypack.pack(whole)
    end]
  end
  ORDERS = { "in order" => :to_a, "shuffled" => ->(list) { list.to_a.shuffle(random: Random.new(1)) } }.freeze

  # The same looks into a View and into the tree. Each time from a copy of the bytes: a View of the same bytes would
  # find the index of the View before. A look is Ruby code with `read` and `key`, in a loop of its own for each of the
  # two, as a program has it: what else a loop calls would hide what a look costs.
  LOOKS = lambda do |object, keys, look = "read[key]"|
    bytes = Manypack.pack(object)
    %w[View.new Manypack.unpack].map do |reader|
      loop_of_its_own = eval("->(bytes, keys) { read = #{reader}(bytes); keys.each { |key| #{look} } }", binding)
      -> { loop_of_its_own.call(bytes + "", keys) }
    end
  end
  SHUFFLED = ->(keys) { keys.to_a.shuffle(random: Random.new(1)) }
  KEYS = ->(n) { (0...n).to_h { |i| ["key #{i}", i] } }
  FIELDS = ->(n) { Array.new(n) { |i| { "id" => i, "name" => "name #{i}", "t" => [1, 2] } } }

  INTEGERS = ->(n) { [(0...n).to_a, SHUFFLED.call(0...n)] }
  IN_MAPS = ->(n) { [{ "a" => { "b" => (0...n).to_a } }, SHUFFLED.call(0...n)] }
  ROWS_BY = ->(n) { [FIELDS.call(n), SHUFFLED.call(0...n)] }

  # A name, n, what is looked into and the keys of the looks, and a look, if it is not [].
  LOOKED = {
    "at n Integers, in their order" => [1_250, ->(n) { [[*0...n], [*0...n]] }],
    "at n Integers, backwards" => [1_250, ->(n) { [[*0...n], [*0...n].reverse] }],
    "at n Integers, shuffled" => [1_250, INTEGERS],
    "at n Integers, negative indices" => [1_250, ->(n) { [[*0...n], SHUFFLED.call(-n..-1)] }],
    "at n Integers of few, shuffled" => [8, INTEGERS],
    "at n fixints, shuffled" => [1_250, ->(n) { [[1] * n, SHUFFLED.call(0...n)] }],
    "at n Floats, shuffled" => [1_250, ->(n) { [Array.new(n) { |i| i / 3.0 }, SHUFFLED.call(0...n)] }],
    "at n texts, shuffled" => [1_250, ->(n) { [Array.new(n) { |i| "text #{i}" }, SHUFFLED.call(0...n)] }],
    "at n Integer keys, shuffled" => [250, ->(n) { [(0...n).to_h { |i| [i, i] }, SHUFFLED.call(0...n)] }],
    "at n Integer keys of few, shuffled" => [8, ->(n) { [(0...n).to_h { |i| [i, i] }, SHUFFLED.call(0...n)] }],
    "at n String keys, shuffled" => [250, ->(n) { [KEYS.call(n), SHUFFLED.call(KEYS.call(n).keys)] }],
    "at n rows, shuffled, a field" => [125, ROWS_BY, 'read[key]["id"]'],
    "at n rows, shuffled, three fields" => [125, ROWS_BY, 'row = read[key]; row["id"]; row["name"]; row["t"][1]'],
    "keys.each { view[_1] }, n keys" => [250, ->(n) { [KEYS.call(n), [0]] },
                                        "read.keys.each { |name| read[name] }"],
    "by values_at, n Integers" => [1_250, ->(n) { [[*0...n], [SHUFFLED.call(0...n)]] }, "read.values_at(*key)"],
    "by fetch, n Integers" => [1_250, INTEGERS, "read.fetch(key)"],
    "by dig, n Integers in two maps" => [1_250, IN_MAPS, 'read.dig("a", "b", key)'],
    "by [], n Integers in two maps" => [1_250, IN_MAPS, 'read["a"]["b"][key]']
  }.freeze

  # A name, n, and a block that takes a size and returns our way and the plain one.
  ROWS = [
    *LOOKED.map { |name, (size, of, look)| Row.new("looks #{name}", size, ->(n) { LOOKS.call(*of.call(n), *look) }) },
    Row.new("looks at 2,000 of 10n Integers, new Views", 125, lambda { |n|
      bytes = Manypack.pack((0...10 * n).to_a).freeze
      indices = SHUFFLED.call(0...10 * n).cycle.first(2_000)
      [-> { (bytes + "").freeze.then { |copy| indices.each { |i| View.new(copy)[i] } } },
       -> { Manypack.unpack(bytes + "").then { |array| indices.each { |i| array[i] } } }]
    }),
    Row.new("looks at 2,000 of 4n keys, new Views", 125, lambda { |n|
      bytes = Manypack.pack(KEYS.call(4 * n)).freeze
      keys = SHUFFLED.call(KEYS.call(4 * n).keys).cycle.first(2_000)
      [-> { (bytes + "").freeze.then { |copy| keys.each { |key| View.new(copy)[key] } } },
       -> { Manypack.unpack(bytes + "").then { |map| keys.each { |key| map[key] } } }]
    }),
    Row.new("Path with a nested field, n rows", 250, QUERY.call("$[?@.address.zip < 10100].name", lambda { |rows|
      rows.filter_map { |row| row["name"] if row["address"]["zip"] < 10_100 }
    })),
    Row.new("Path.all of three beside each, n rows", 250, lambda { |n|
      bytes = USERS_OF.call(n)
      paths = %w[$[*].id $[*].name $[*].age].map { |text| Path.new(text) }
      all = Path.all(paths.to_h { |path| [path.to_s, path] })
      [-> { all.read(bytes) }, -> { paths.map { |path| path.to_a(bytes) } }]
    }),
    Row.new("View#splice of n String keys", 100, lambda { |n|
      SPLICE.call((0...n).to_h { |i| ["key#{i}", i] }, *[(0...n).to_h { |i| ["key#{i}", i + 1] }] * 2)
    }),
    Row.new("View#splice of n Symbols", 100, lambda { |n|
      keys = (0...n).map { |i| "key#{i}" }
      SPLICE.call(keys.to_h { |key| [key, 0] }, keys.to_h { |key| [key.to_sym, 1] }, keys.to_h { |key| [key, 1] })
    }),
    Row.new("View#splice of n Integer keys", 100, lambda { |n|
      SPLICE.call((0...n).to_h { |i| [i, i] }, (0...n).to_h { |i| ["[#{i}]", i + 1] }, (0...n).to_h { |i| [i, i + 1] })
    }),
    *ORDERS.map do |name, order|
      Row.new("View#splice of n elements, #{name}", 100, lambda { |n|
        indices = order.to_proc.call(0...n)
        SPLICE.call([*0...n], indices.to_h { |i| ["[#{i}]", i + 1] }, indices.to_h { |i| [i, i + 1] })
      })
    end,
    Row.new("View#splice of one of n fields", 3, lambda { |n|
      SPLICE.call((1..n).to_h { |i| ["field#{i}", i] }, *[{ "field2" => 300 }] * 2)
    }),
    Row.new("View#splice of one field in n rows", 12, lambda { |n|
      SPLICE.call({ "users" => Manypack.unpack(USERS_OF.call(n)), "hits" => 4 }, *[{ "hits" => 5 }] * 2)
    })
  ].freeze

  module_function

  def cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

  def seconds(work, times)
    start = cpu
    times.times { work.call }
    (cpu - start) / times
  end

  def median(numbers) = numbers.sort[numbers.size / 2]

  # The medians of the seconds of each way.
  def measure(works)
    works.each { |work| 20.times { work.call } }
    times = works.map { |work| (SECONDS / [seconds(work, 1), 1e-7].max).ceil.clamp(1, 20_000) }
    rounds = Array.new(ROUNDS) { works.zip(times).map { |work, count| seconds(work, count) } }
    rounds.transpose.map { |figures| median(figures) }
  end

  def run(part)
    puts format("%-40s %8s %10s %8s %8s %8s", "what", "exponent", "plain", "n", "4n", "16n")
    ROWS.select { |row| row.name.include?(part.to_s) }.each do |row|
      figures = [1, 4, 16].map { |factor| measure(row.prepare.call(row.sizes * factor)) }
      exponents = [0, 1].map { |way| Math.log(figures[2][way] / figures[0][way]) / Math.log(16) }
      ratios = figures.map { |ours, plain| ours / plain }
      puts format("%-40s %8.2f %10.2f %8.2f %8.2f %8.2f", row.name, *exponents, *ratios)
    end
  end
end

Growth.run(ARGV[0]) if $PROGRAM_NAME == __FILE__
