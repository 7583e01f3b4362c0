# frozen_string_literal: true

# What a Path finds: the same as a plain implementation of the standard finds in the unpacked object.
require "test_helper"
require "path/plain_query"

class SearchTest < Minitest::Test
  include CorePart

  Path = Manypack::Path
  View = Manypack::View

  def plain(value) = value.is_a?(View) ? value.value : value

  def path(text, **options) = Path.new(text, dynamic_patterns: true, **options)

  def found(text, object, **options) = path(text, **options).to_a(pack(object)).map { |value| plain(value) }

  # --- the standard ---------------------------------------------------------------------------------------

  STORE = {
    "store" => { "book" => [
      { "category" => "reference", "author" => "Nigel", "price" => 8.95 }, { "category" => "fiction", "author" => "Evelyn", "price" => 12.99 },
      { "category" => "fiction", "author" => "Herman", "isbn" => "0-553", "price" => 8.99 }, { "category" => "fiction", "author" => "J. R.", "isbn" => "0-395", "price" => 22.99 }
    ], "bicycle" => { "color" => "red", "price" => 399 } }, "limit" => 10, "word" => "J.*"
  }.freeze

  FOUND = {
    "$.store.book[*].author" => %w[Nigel Evelyn Herman] + ["J. R."], "$..author" => %w[Nigel Evelyn Herman] + ["J. R."], "$.store..price" => [8.95, 12.99, 8.99, 22.99, 399],
    "$..book[2].author" => ["Herman"], "$..book[-1].price" => [22.99], "$..book[0,1].price" => [8.95, 12.99], "$..book[:2].price" => [8.95, 12.99],
    "$..book[::-2].price" => [22.99, 12.99], "$..book[?@.isbn].price" => [8.99, 22.99], "$..book[?@.price < $.limit].author" => %w[Nigel Herman],
    "$..book[?@.price<10 && @.category=='fiction'].author" => ["Herman"], "$..book[?!(@.price<10) || @.isbn=='0-553'].price" => [12.99, 8.99, 22.99],
    "$..[?match(@.author, 'J.*')].price" => [22.99], "$..[?search(@.author, 'e.')].author" => %w[Nigel Evelyn Herman], "$..[?match(@.author, $.word)].price" => [22.99],
    "$..[?length(@.author)==6].author" => %w[Evelyn Herman], "$.store[?count(@.*)==4][0].price" => [8.95], "$.store[?value(@..color)=='red'].price" => [399],
    "$.store.book[0]['author','price']" => ["Nigel", 8.95], "$.store.book[0,0].price" => [8.95, 8.95], "$.no" => [], "$.limit.x" => [], "$.limit" => [10],
    "$[?@.x==@.y][?@.price].price" => [399], "$.store.book[?@.isbn==$.no].price" => [8.95, 12.99]
  }.freeze

  FOUND.each do |text, values|
    define_method("test_#{text}") do
      assert_equal values, found(text, STORE)
      path = path(text)
      assert_equal [values.size, values.any?, values.first], [path.count(pack(STORE)), path.any?(pack(STORE)), plain(path.first(pack(STORE)))]
      assert_equal values, path.each_with_path(pack(STORE)).map { |_, place| plain(Path.new(place).first(pack(STORE))) }
    end
  end

  def test_what_is_in_a_container_comes_before_what_is_in_its_parts
    object = { "x" => { "a" => 1 }, "a" => { "a" => 2 }, "y" => [{ "a" => 3 }] }
    assert_equal [{ "a" => 2 }, 1, 2, 3], found("$..a", object)
    assert_equal ["$['a']", "$['x']['a']", "$['a']['a']", "$['y'][0]['a']"], Path.new("$..a").paths(pack(object))
    assert_equal [[[1]], [2], [1], 1, 2], found("$..*", [[[1]], [2]])
  end

  def test_a_value_that_several_descendants_lead_to_is_found_once
    deep = 40.times.reduce({ "b" => 1 }) { |inner, _| { "a" => inner } }
    assert_equal [1], found("$..a..b", deep)
    assert_equal [1], found("$..a..a..a..b", deep)
    assert_equal 40, found("$..*..*", deep).size
  end

  def test_normalized_paths
    object = { "it's" => [{ "\n\u0001\\" => 1 }], 5 => { nil => 2, 1.5 => 3, "\xFF".b => 4 } }
    paths = ["$['it\\'s'][0]['\\n\\u0001\\\\']", "$[5][nil]", "$[5][1.5]", "$[5][\"\\xFF\"]"]
    assert_equal [[1, paths[0]], [2, paths[1]], [3, paths[2]], [4, paths[3]]], Path.new("$..[?@ >= 1]").each_with_path(pack(object)).to_a
    assert_equal [1, 2, 3, 4], paths.map { |path| Path.new(path).first(pack(object)) }
    assert_equal ["$"], Path.new("$").paths(pack(1))
  end

  # --- what JSON does not have ------------------------------------------------------------------------------

  def test_the_rules_for_what_json_does_not_have
    bin = "\xFFab".b
    object = [bin, "ab".b, "ab", 2**64 - 1, 2.0**64, 2**53 + 1, 2.0**53, 1.0, 1, Float::NAN, Float::INFINITY, -5, -5.0, nil, Time.at(5), Time.at(6)]
    bytes = Manypack.pack(object, timestamp: true)
    indices = ->(text) { Path.new(text).paths(bytes).map { |path| path[/\d+/].to_i } }
    assert_equal [1, 2], indices.("$[?@=='ab']")
    assert_equal [0], indices.("$[?length(@)==3]")
    assert_equal [3], indices.("$[?@==18446744073709551615]")
    assert_equal [4], indices.("$[?@>$[3] && @<=$[4]]")
    assert_equal [5], indices.("$[?@==$[5]]")
    assert_equal [7, 8], indices.("$[?@==1]")
    assert_equal [], indices.("$[?@==$[9]]")
    assert_equal (0..15).to_a, indices.("$[?@!=$[9]]")
    assert_equal [11, 12], indices.("$[?@<0]")
    assert_equal [13], indices.("$[?@==null]")
    assert_equal [2], indices.("$[?match(@, 'ab')]")
    assert_equal [14], indices.("$[?@==$[14]]")
    assert_equal [15], indices.("$[?@>$[14]]")
    assert_equal [1], found("$[5]", { 5 => 1 })
    assert_equal [1, 2], found("$..[5]", { 5 => 1, "a" => { 5 => 2 } })
    assert_equal [1], found("$[?@ == 1]", { nil => 1, 1.5 => 2 })
  end

  # What a function returns is compared as Ruby compares it with the value in the message.
  RETURNED = [nil, true, false, 0, 1, -1, 2**64 - 1, 2**70, 1.0, 1.5, -1.5, 1e300, Float::NAN, "", "a", "é", "é".b, "a".b, [1], [1, 2], { "a" => 1 }, {}].freeze
  PACKED = (RETURNED - [2**70]).freeze

  def test_functions_return_any_value
    bytes = pack(PACKED)
    RETURNED.each do |value|
      path = Path.new("$[?same(@)==@]", functions: { same: Function.new(:value) { value } })
      expected = PACKED.each_index.select { |i| PACKED[i] == value }
      assert_equal expected, path.paths(bytes).map { |place| place[/\d+/].to_i }, value.inspect
    end
  end

  def test_functions_are_given_any_literal
    given = []
    function = Function.new(:value) { |value| given << value && true }
    literals = { "null" => nil, "true" => true, "false" => false, "5" => 5, "-5" => -5, "1.5" => 1.5, "'é'" => "é", "18446744073709551615" => (2**64) - 1 }
    literals.each_key { |text| Path.new("$[?see(#{text})==true]", functions: { see: function }).to_a(pack([0])) }
    assert_equal literals.values, given
  end

  def test_integers_and_floats_are_in_one_order
    numbers = [-2**63, -2.5, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2**53, 2**53 + 1, 2.0**63, 2**64 - 1, 1e300, -1e300]
    bytes = pack(numbers)
    numbers.each_index do |i|
      { "<" => :<, "==" => :==, ">=" => :>= }.each do |text, operator|
        expected = numbers.each_index.select { |j| numbers[j].public_send(operator, numbers[i]) }
        assert_equal expected, Path.new("$[?@#{text}$[#{i}]]").paths(bytes).map { |place| place[/\d+/].to_i }, "#{text} #{numbers[i]}"
      end
    end
  end

  def test_exts_are_equal_by_type_and_payload
    exts = ["\xd4\x05a", "\xd4\x05b", "\xd4\x06a", "\xd5\x05ab", "\xd5\xffab", "\xd5\xffab", "\xd4\x05a"].map(&:b)
    bytes = ([0x90 + exts.size].pack("C") + exts.join).b
    paths = exts.each_index.map { |i| Path.new("$[?@==$[#{i}]]").paths(bytes).map { |place| place[/\d+/].to_i } }
    assert_equal exts.map { |ext| exts.each_index.select { |i| exts[i] == ext } }, paths
    moments = [[1, 5], [1, 6], [2, 0], [0, 999_999_999]].map { |sec, nsec| Time.at(sec, nsec, :nsec) }
    later = moments.each_index.map { |i| Path.new("$[?@>$[#{i}]]").paths(pack(moments, timestamp: true)).size }
    assert_equal moments.map { |moment| moments.count { |other| other > moment } }, later
  end

  # --- against a plain implementation ---------------------------------------------------------------------

  NAMES = ["a", "b", "c", "d e"].freeze
  SCALARS = [0, 1, 2, -1, 1.0, 1.5, "a", "b", "ab", "", "é", nil, true, false, 2**40, "ab".b].freeze

  def random_object(random, depth)
    case random.rand(depth.zero? ? 1 : 4)
    when 0 then SCALARS.sample(random: random)
    when 1 then Array.new(random.rand(5)) { random_object(random, depth - 1) }
    else Array.new(random.rand(5)) { [random.rand(8).zero? ? random.rand(3) : NAMES.sample(random: random), random_object(random, depth - 1)] }.to_h
    end
  end

  def random_name(random) = (name = NAMES.sample(random: random)) && (random.rand(2).zero? && !name.include?(" ") ? ".#{name}" : "['#{name}']")

  def random_single(random) = random.rand(3).zero? ? "[#{random.rand(-2..2)}]" : random_name(random)

  def random_selector(random, depth)
    case random.rand(depth.zero? ? 4 : 6)
    when 0 then "'#{NAMES.sample(random: random)}'"
    when 1 then random.rand(-2..3).to_s
    when 2 then "*"
    when 3 then "#{random.rand(-3..3) if random.rand(2).zero?}:#{random.rand(-3..3) if random.rand(2).zero?}:#{[1, 2, -1, -2, 0].sample(random: random)}"
    else "?#{random_condition(random, depth - 1)}"
    end
  end

  def random_segment(random, depth)
    case random.rand(6)
    when 0, 1 then random_single(random)
    when 2 then random.rand(2).zero? ? ".*" : "[*]"
    when 3 then "..#{random.rand(2).zero? ? NAMES.first(3).sample(random: random) : "*"}"
    else "#{".." if random.rand(3).zero?}[#{Array.new(random.rand(1..2)) { random_selector(random, depth) }.join(",")}]"
    end
  end

  def random_segments(random, depth, most) = Array.new(random.rand(most + 1)) { random_segment(random, depth) }.join

  def random_operand(random, depth)
    case random.rand(6)
    when 0 then ["0", "1", "1.0", "-1", "'a'", "'ab'", "null", "true", "1e0"].sample(random: random)
    when 1 then "length(@#{random_single(random)})"
    when 2 then "count(@#{random_segments(random, depth, 2)})"
    when 3 then "value(@#{random_segments(random, depth, 2)})"
    else "#{random.rand(4).zero? ? "$" : "@"}#{Array.new(random.rand(3)) { random_single(random) }.join}"
    end
  end

  def random_condition(random, depth)
    case random.rand(8)
    when 0 then "!(#{random_condition(random, depth)})"
    when 1 then "#{random_condition(random, depth)}&&#{random_condition(random, depth)}"
    when 2 then "(#{random_condition(random, depth)}||#{random_condition(random, depth)})"
    when 3 then "#{random.rand(4).zero? ? "$" : "@"}#{random_segments(random, depth, 2)}"
    when 4 then "#{%w[match search].sample(random: random)}(@#{random_single(random)}, '#{["a", "a.*", "[ab]+", "é|b"].sample(random: random)}')"
    else "#{random_operand(random, depth)}#{%w[== != < <= > >=].sample(random: random)}#{random_operand(random, depth)}"
    end
  end

  SEEDS = Integer(ENV.fetch("MANYPACK_QUERIES", FEW_CASES ? 120 : 1500))

  def test_any_query_finds_what_the_plain_implementation_finds
    SEEDS.times do |seed|
      random = Random.new(seed)
      object = random_object(random, 4)
      text = "$#{random_segments(random, 2, 4)}"
      assert_same_found(Path.new(text), object, "seed #{seed}: #{text} in #{object}")
    end
  end

  def assert_same_found(path, object, message)
    bytes = pack(object)
    expected = PlainQuery.find(path, unpack(bytes))
    [bytes, View.new(bytes), View.new(bytes, check: true), View.new(bytes).freeze].each do |source|
      assert_equal expected.map(&:first), path.to_a(source).map { |value| plain(value) }, message
      assert_equal expected.size, path.count(source), message
      assert_equal expected.any?, path.any?(source), message
    end
    places = []
    path.each_with_path(bytes) { |value, place| places << [plain(value), place] }
    assert_equal expected.map(&:first), places.map(&:first), message
    places.each { |value, place| assert_equal [value], [plain(Path.from(place).first(bytes))], "#{message} at #{place}" }
  end

  # --- several at once ------------------------------------------------------------------------------------

  def test_several_paths_find_what_each_finds_alone
    (SEEDS / 3).times do |seed|
      random = Random.new(seed)
      object = random_object(random, 4)
      paths = Array.new(random.rand(1..5)) { "$#{random.rand(2).zero? ? random_segments(random, 1, 4) : Array.new(3) { random_single(random) }.join}" }
      message = "seed #{seed}: #{paths} in #{object}"
      [{}, { duplicate_keys: :last }, { duplicate_keys: :error }, { check: true }].each do |options|
        bytes = pack(object)
        expected = paths.to_h { |path| [path, Path.new(path).to_a(bytes, **options).map { |value| plain(value) }] }
        assert_equal expected, Path.all(paths.to_h { |path| [path, path] }).read(bytes, **options).transform_values { |values| values.map { |value| plain(value) } }, message
      end
    end
  end

  def test_several_paths_find_the_same_of_equal_keys_as_each_alone
    random = Random.new(1)
    paths = %w[$.a.b $.a $.b.a.b $.*.a $.a.* $.a.a.a $.b[1].a $..b].to_h { |text| [text, Path.new(text)] }
    all = Path.all(paths)
    (FEW_CASES ? 4 : SEEDS / 6).times do
      bytes = map_of_equal_keys(random, 3)
      found = exercise { all.read(bytes) }
      assert_equal paths.transform_values { |path| path.to_a(bytes).map { |value| plain(value) } },
                   found.transform_values { |values| values.map { |value| plain(value) } }, hex(bytes)
    end
  end

  # A map of four pairs, whose keys are "a" or "b"; its values are arrays, numbers and such maps.
  def map_of_equal_keys(random, depth)
    pairs = Array.new(4) do
      value = depth.zero? ? pack(random.rand(300)) : map_of_equal_keys(random, depth - 1)
      pack(%w[a b].sample(random: random)) + (random.rand(4).zero? ? "\x92".b + value * 2 : value)
    end
    "\x84".b + pairs.join
  end

  def test_many_paths_at_once
    object = Array.new(50) { |i| [i, { "k#{i}" => i }] }.to_h.merge("a" => [1, 2, 3])
    paths = Array.new(50) { |i| [i, Path.new("$[#{i}].k#{i}")] }.to_h
    all = Path.all({ **paths, a: "a[*]", last: ["a", -1], none: "$.x.y", root: "$" })
    exercise do
      found = all.read(View.new(pack(object)))
      assert_equal [(0...50).map { |i| [i] }, [1, 2, 3], [3], []], [found.values.first(50), *found.values_at(:a, :last, :none)]
      assert_equal object, found[:root][0].value
    end
    assert_equal paths[0], all.to_h[0]
    assert_equal({}, Path.all({}).read("\x90"))
    [{}, {duplicate_keys: :first}].each do |options|
      assert_raises(Manypack::MalformedFormatError) { Path.all(a: "$.*", b: "$.*.x").read(pack({"a" => 1}) + "\x01".b, **options) }
    end
    assert_raises(ArgumentError) { Path.all(a: "$[") }
    assert_raises(ArgumentError) { all.read(View.new("\x90"), freeze: true) }
    assert_raises(TypeError) { all.read(nil) }
    (1...pack(STORE).bytesize).step(5) do |n|
      Path.all(FOUND.keys.to_h { |text| [text, path(text)] }).read(pack(STORE).byteslice(0, n))
    rescue Manypack::DecodeError
      nil
    end
  end

  # --- functions ------------------------------------------------------------------------------------------

  Function = Path::Function

  def test_functions_of_the_user
    upcase = Function.new(:value) { |text| text.is_a?(String) ? text.upcase : Path::NOTHING }
    even = Function.new(:value, returns: :logical) { |n| n.is_a?(Integer) && n.even? }
    sum = Function.new(:nodes) { |nodes| nodes.grep(Integer).sum }
    both = Function.new(:logical, :logical, returns: :logical) { |a, b| a && b }
    size = Function.new(:value) { |part| part.is_a?(View) ? part.size : Path::NOTHING }
    functions = { upcase: upcase, even: even, sum: sum, both: both, size: size }
    object = [{ "a" => "x", "n" => [1, 2] }, { "a" => "X", "n" => [2, 2] }, { "n" => [3] }]
    exercise do
      assert_equal %w[x X], found("$[?upcase(@.a)=='X'].a", object, functions: functions)
      assert_equal [2, 2, 2], found("$..n[?even(@)]", object, functions: functions)
      assert_equal [[2, 2]], found("$[?sum(@.n[*])==4].n", object, functions: functions)
      assert_equal [[3]], found("$[?both(!@.a, count(@.n[*])==1)].n", object, functions: functions)
      assert_equal [[3]], found("$[?size(@.n)==1].n", object, functions: functions)
      assert_equal [[3]], found("$[?upcase(@.a)==$.no].n", object, functions: functions)
    end
    path = Path.new("$[?both(@.a,even(@.b))&&upcase(@.c)=='C']", functions: functions)
    assert_equal path, Path.new(path.to_s, functions: functions)
  end

  def test_a_function_that_is_none_is_refused
    assert_raises(ArgumentError) { Function.new(:value) }
    assert_raises(ArgumentError) { Function.new(:no) { 1 } }
    assert_raises(ArgumentError) { Function.new(:value, returns: :nodes) { 1 } }
    one = Function.new(:value) { 1 }
    [{ count: one }, { "Up" => one }, { "a-b": one }].each { |functions| assert_raises(ArgumentError) { Path.new("$", functions: functions) } }
    assert_raises(TypeError) { Path.new("$", functions: { up: -> { 1 } }) }
    ["$[?one(@)]", "$[?one(@.*)==1]", "$[?one()==1]", "$[?one(@.a==1)==1]"].each do |text|
      assert_raises(ArgumentError, text) { Path.new(text, functions: { one: one }) }
    end
    error = assert_raises(ZeroDivisionError) { found("$[?one(@)==1]", [1], functions: { one: Function.new(:value) { 1 / 0 } }) }
    assert_match(/divided/, error.message)
  end

  # --- regular expressions ----------------------------------------------------------------------------------

  MATCHES = {
    "a.c" => [["abc", "aéc"], ["ac", "a\nc", "a\rc", "abcd"]], "[a-c]+" => [%w[abc], ["", "abd"]], "[^a-c]" => [%w[d &], %w[a dd]], "a{2,3}" => [%w[aa aaa], %w[a aaaa]],
    "(ab|c){2}" => [%w[abc cc], %w[ab]], "\\p{Lu}\\P{Lu}" => [%w[Aa Éé], %w[aA]], "[\\p{L}\\-]*" => [["", "a-é"], ["1"]], "a\\.b" => [["a.b"], ["axb"]], "[&&a]" => [%w[& a], %w[b]],
    "[-a]" => [%w[- a], %w[b]], "[a-]" => [%w[- a], %w[b]], "a#b" => [["a#b"], ["a"]], "\\n" => [["\n"], ["n"]], "[\\]\\[^]" => [["]", "[", "^"], ["a"]], "" => [[""], ["a"]]
  }.freeze

  MATCHES.each do |pattern, (good, bad)|
    define_method("test_the_pattern_#{pattern}") do
      [found("$.texts[?match(@, $.pattern)]", { "pattern" => pattern, "texts" => good + bad }), found("$[?match(@, '#{pattern.gsub("\\", "\\\\\\\\")}')]", good + bad)].each do |matched|
        assert_equal good, matched
      end
    end
  end

  def test_what_is_no_pattern_matches_nothing
    ["(", "a)", "[", "[]", "a**", "*", "a{2,1}", "\\d", "\\1", "(?=a)", "(?:a)", "a+?", "[b-a]", "\\p{Xx}", "{", "a{,2}", "[[:alpha:]]", "(" * 1000].each do |pattern|
      assert_equal [], found("$.texts[?search(@, $.pattern)]", { "pattern" => pattern, "texts" => ["", "a", "1", pattern] }), pattern
    end
    assert_equal [], found("$.texts[?search(@, 'a')]", { "texts" => [1, nil, "a".b, ["a"], "\xFFa".dup.force_encoding("UTF-8")] })
  end

  def test_no_pattern_takes_exponential_time
    ["(a*)*b", "(a|a)*b", "(a+)+b", "((a?){20}){20}b", "#{"a?" * 40}#{"a" * 40}", "(a|aa)+b"].each do |pattern|
      started = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      begin
        found("$.texts[?match(@, $.pattern)]", { "pattern" => pattern, "texts" => ["a" * 60] })
        found("$[?match(@, '#{pattern}')]", ["a" * 60])
      rescue Manypack::LimitError, ArgumentError
        nil
      end
      assert_operator Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - started, :<, 3, pattern
    end
  end

  def test_a_pattern_from_the_message_is_refused_unless_the_caller_asks_for_it
    ["$[?search(@.a, $.b)]", "$[?match(@.a, @.b)]", "$[?!search(@.a, value($..b))]", "$..[?@.c[?match(@, $.b)]]"].each do |text|
      error = assert_raises(ArgumentError, text) { Path.new(text) }
      assert_match(/dynamic_patterns: true.*\^/m, error.message)
      assert_raises(ArgumentError, text) { View.new(pack([])).query(text) }
      assert_empty Path.new(text, dynamic_patterns: true).to_a(pack([]))
    end
  end

  SLOW = { "many counts" => "[ab]{20000}[^a]{2}", "nested counts" => "([ab]{200}){100}[^a]{2}", "not ASCII" => "\u00e9" * 16_000, "long" => "a" * 12_000, "many parts" => "a?" * 4000 }.freeze

  SLOW.each do |name, pattern|
    define_method("test_a_pattern_from_the_message_has_a_budget_#{name}") do
      path = Path.new("$.texts[?search(@, $.p)]", dynamic_patterns: true, max_looks: 3_000_000)
      assert_raises(Manypack::LimitError) { path.to_a(pack({ "p" => pattern, "texts" => ["ab" * 30_000] })) }
    end
  end

  def test_patterns_that_alternate_are_made_once
    path = Path.new("$.rows[?search(@, $.a) || search(@, $.b)]", dynamic_patterns: true, max_looks: 1_000_000)
    assert_equal ["b" * 40], path.to_a(pack({ "rows" => (["x"] * 50) + ["b" * 40], "a" => "a" * 4000, "b" => "b{40}" }))
    assert_raises(Manypack::LimitError) { path.to_a(pack({ "rows" => ["x"], "a" => "a" * 4000, "b" => "b" * 13_000 })) }
  end

  # --- functions that change what others have returned --------------------------------------------------------

  LONG = ("a" * 100_000).freeze

  SHORTENED = {
    "compared" => ["$[?f(@) == g(@)]", LONG], "ordered" => ["$[?f(@) < g(@)]", "#{LONG}a"], "matched" => ["$[?match(f(@), g(@))]", "a*"],
    "measured" => ["$[?length(f(@)) == length(g(@))]", LONG]
  }.freeze

  SHORTENED.each do |name, (text, other)|
    define_method("test_a_function_may_change_what_another_has_returned_#{name}") do
      kept = nil
      f = Function.new(:value) { kept = LONG.dup }
      g = Function.new(:value) { kept.replace("b") && other }
      assert Path.new(text, functions: { f: f, g: g }).any?(pack([1]))
    end
  end

  def test_a_function_may_return_one_string_for_several_patterns
    buffer = +""
    f = Function.new(:value) { |text| buffer.replace(text) }
    rows = [%w[x x], %w[y y], %w[y x]]
    assert_equal rows.first(2), found("$[?match(@[0], f(@[1]))]", rows, functions: { f: f })
  end

  def test_paths_take_no_more_bytes_than_max_bytes_allows
    wide = pack({ "k" * 100_000 => [nil] * 4_000 })
    ["$[*][*]", "$..*", "$[*][?@ == null]"].each do |text|
      [->(path, options) { path.paths(wide, **options) }, ->(path, options) { path.each_with_path(wide, **options) { nil } }].each do |asked|
        assert_equal :max_bytes, assert_raises(Manypack::LimitError, text) { asked.call(Path.new(text), { untrusted: true }) }.limit
      end
    end
    assert_equal 90_000, Path.new("$[*][*]").paths(pack([[1] * 9_000] * 10), untrusted: true).size
  end

  def test_max_bytes_changes_no_path_whatever_its_keys_are
    keys = [1, -1, 2**64 - 1, 1.5, nil, true, false, "", "k", "k" * 100, "b".b, [1], { 2 => 3 }, Time.at(1)]
    bytes = pack(keys.to_h { |key| [key, [1, [2]]] }, timestamp: true)
    [{}, { symbolize_keys: true }].each do |options|
      %w[$.* $[*][*] $..* $[?@[0]] $..[?@==2]].each do |text|
        paths = Path.new(text).paths(bytes, timestamp: true, **options)
        refute_empty paths
        assert_equal paths, Path.new(text).paths(bytes, timestamp: true, **options, max_bytes: 100_000), text
        assert_equal paths, Path.new(text).each_with_path(bytes, timestamp: true, **options, max_bytes: 100_000).map { |_, path| path }, text
      end
    end
  end

  # --- limits -----------------------------------------------------------------------------------------------

  def test_conditions_that_look_down_have_a_budget
    deep = 60.times.reduce([1]) { |inner, _| [inner, 0] }
    path = Path.new("$..[?@..x]", max_looks: 500)
    assert_equal 500, path.max_looks
    error = assert_raises(Manypack::LimitError) { path.to_a(pack(deep)) }
    assert_equal :max_looks, error.limit
    assert_match(/max_looks is 500/, error.message)
    assert_equal [], Path.new("$..[?@..x]").to_a(pack(deep))
    large = { "large" => { "a" => [*0..5000] }, "text" => "x" * 5000, "rows" => Array.new(100) { { "a" => [1] } } }
    ["$.rows[?@==$.large]", "$.rows[?length($.text)==1]", "$.rows[?match($.text, 'y')]"].each do |text|
      assert_equal [], found(text, large)
      assert_raises(Manypack::LimitError, text) { found(text, large, max_looks: 1000) }
    end
    assert_equal 121, Path.new("$..*", max_looks: 0).count(pack(deep))
    [-1, nil, 1.5].each { |looks| assert_raises(ArgumentError) { Path.new("$", max_looks: looks) } }
  end

  def test_messages_that_end_early_are_refused_or_answered
    bytes = pack(STORE)
    paths = FOUND.keys.map { |text| path(text) }
    (1...bytes.bytesize).step(7) do |n|
      paths.each do |path|
        path.to_a(bytes.byteslice(0, n)).each { |value| plain(value) }
        path.count(bytes.byteslice(0, n))
        path.paths(bytes.byteslice(0, n))
      rescue Manypack::DecodeError
        nil
      end
    end
  end

  def test_a_head_that_declares_too_much_takes_no_memory
    ["$[::-1]", "$[:]", "$..[::-2]", "$..*", "$[-1]", "$[?@]"].each do |text|
      ["\xDD\xFF\xFF\xFF\xFF\xC0".b, "\xDF\xFF\xFF\xFF\xFF\xC0".b].each do |bytes|
        assert_raises(Manypack::TruncatedError) { path(text).count(bytes) } unless bytes[0] == "\xDF".b && text.match?(/\[-?[:\d]/)
      end
    end
  end

  def test_any_bytes_are_refused_or_answered
    random = Random.new(3)
    paths = FOUND.keys.map { |text| path(text) }
    300.times do
      bytes = pack(STORE)
      random.rand(1..3).times { bytes.setbyte(random.rand(bytes.bytesize), [0xc1, 0xdf, 0xdd, 0xc7, random.rand(256)].sample(random: random)) }
      paths.sample(4, random: random).each do |path|
        path.paths(bytes)
        path.to_a(bytes).each { |value| plain(value) }
      rescue Manypack::DecodeError, Manypack::UnknownExtTypeError, FloatDomainError
        nil
      end
    end
  end

  def test_deep_messages
    deep = "\x91".b * 99_999 + "\x05".b
    ["$..[0]", "$..[0,1]", "$..[?@==5]", "$..*..*"].each do |text|
      assert_equal 99_999, path(text).count(deep, max_depth: 100_000), text unless text.include?("?")
    rescue Manypack::StackError => e
      assert_includes 0...100_000, e.offset
    end
    assert_raises(Manypack::StackError) { Path.new("$..[0]").count("\x91".b * 300 + "\x05".b) }
  end

  # --- the collector, user code and Ractors -----------------------------------------------------------------

  def test_searches_under_a_collection_at_every_allocation
    bytes = pack(STORE)
    exercise do
      FOUND.keys.values_at(1, 9, 14, 16).each do |text|
        path = path(text)
        assert_equal FOUND[text], path.to_a(bytes)
        path.paths(bytes)
      end
      assert_equal [[1, [2]]], found("$[?@==$[0]]", [[1, [2]]])
    end
  end

  def test_a_block_may_leave_and_search_the_same_view
    view = View.new(pack(STORE))
    path = Path.new("$..price")
    assert_equal 12.99, path.each(view) { |price| break price if price > 10 }
    assert_equal 25, path.each(view).sum { path.count(view) }
    assert_raises(ArgumentError) { path.each(view) { raise ArgumentError } }
    assert_equal 8.95, path.each(view).next
  end

  def test_equal_keys_and_symbols
    twice = "\x83\xA1a\x01\xA1b\x02\xA1a\x03".b
    assert_equal [[3], [3]], [Path.new("$..a").to_a(twice), Path.new("$..a").to_a(twice, duplicate_keys: :last)]
    assert_equal [1, 2, 3], Path.new("$.*").to_a(twice)
    assert_equal [{ a: 1 }], Path.new("$[?@.a==1]").to_a(pack([{ "a" => 1 }]), symbolize_keys: true).map { |value| plain(value) }
    assert_equal ["$[0]['a']"], Path.new("$..a").paths(pack([{ "a" => 1 }]), symbolize_keys: true)
  end

  def test_a_path_with_conditions_crosses_ractors
    path = Path.new("$..[?match(@.a, 'x+') && count(@.*) == 1]..a")
    assert Ractor.shareable?(path)
    assert_equal ["x"], in_ractor(path, pack([{ "a" => "x" }, { "a" => "y" }])) { |shared, bytes| shared.to_a(bytes) }
  end
end
