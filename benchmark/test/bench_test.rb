# frozen_string_literal: true

# The benchmarks from their command lines to their figures, on the smallest cases, and what the report makes of figures.
require "minitest/autorun"
require "open3"
require "rbconfig"
require "tempfile"
require "tmpdir"
require_relative "../report"
require_relative "../support/race"

class BenchTest < Minitest::Test
  BENCH = File.expand_path("../bench.rb", __dir__)
  MANYPACK = Contenders::WithManypack.tap(&:load)

  def test_every_program_requires_what_it_uses
    programs = Dir[File.expand_path("../*.rb", __dir__)].select { |path| File.read(path).include?("OptionParser") }
    refute_empty programs
    programs.each do |program|
      output, status = Open3.capture2e(RbConfig.ruby, "-W0", program, "--help")
      assert_predicate status, :success?, output
      assert_match(/\AUsage: /, output, program)
    end
  end

  def test_a_case_is_measured_beside_another
    results = bench("messages/structured", contenders: "JSON|Marshal", rounds: 2)
    assert_equal [%w[messages unpack], %w[messages pack]], results.tables
    assert_equal %w[JSON Marshal], results.others("messages", "unpack")
    assert_operator results.ratio("messages", "unpack", "structured", "Marshal").median, :>, 1
  end

  def test_what_rails_calls_ext_types_and_loading_are_measured_beside_the_msgpack_gem
    results = bench("pools/1|(pools|ext types)/an order|start/.*disable")
    assert_equal [["ext types", "restore"], ["ext types", "dump"], %w[pools deserialize], %w[pools serialize],
                  %w[start start]], results.tables
    results.tables.each { |group, operation| assert_includes results.others(group, operation), "msgpack" }
    assert_operator results.find("start", "start", "ruby --disable-gems").times.size, :>=, 10
  end

  def test_single_calls_are_measured_beside_the_msgpack_gem
    results = bench("calls/(skip|headers read)")
    Payloads::Calls::MESSAGES.each_key do |message|
      ["skip", "headers read"].each { |way| assert results.ratio("calls", message, way, "msgpack") }
    end
  end

  def test_each_way_of_one_call_goes_through_each_message
    Payloads::Calls::WAYS.each_value do |way|
      Workload::CALLING.each { |call| assert call.check(MANYPACK, way) }
    end
  end

  def test_each_row_of_the_middle_is_measured_with_a_message_that_comes_once
    Payloads::Middle::ROWS.each { |name, way| assert Workload::ONCE.first.check(MANYPACK, way), name }
    work = Payloads::Middle.new(Manypack).long([1], &:itself)
    bytes = Array.new(Payloads::Middle::COPIES + 1) { work.call }
    assert_equal [Payloads::Middle::COPIES, bytes.first], [bytes.uniq(&:object_id).size, bytes.last]
  end

  def test_looks_are_measured_beside_unpacking
    results = bench("looks/(three|filter|check)")
    tasks = ["three scalars", "filter and pass on", "check all of it"]
    assert_equal [[%w[looks look]], tasks], [results.tables, results.cases("looks", "look")]
    tasks.each { |task| assert_operator results.ratio("looks", "look", task, "msgpack").median, :>, 1 }
  end

  # What no case of the benchmark shows is not worth its lines.
  def test_each_fast_path_names_the_case_that_it_serves
    cases = Workload.new(data: nil, stream: 1_000).cases
    files = Dir[File.expand_path("../../{core,ext}/**/*.{c,h}", __dir__)]
    named = files.flat_map { |path| File.read(path).scan(/Fast path(?: \((.+?)\))?/).map { |(name)| [path, name] } }
    assert_operator named.size, :>, 5
    assert_empty(named.reject { |_, name| cases.key?(name) })
  end

  # The real documents are not always there; what looks do with them is tried on the least that has it.
  SMALLEST = { "canada" => { "features" => [{ "geometry" => { "coordinates" => [[[1.5, 2.5]]] } }] },
               "citm_catalog" => { "performances" => [{ "prices" => [{ "amount" => 1 }, { "amount" => 2 }] }] } }.freeze

  def test_every_task_is_answered_by_views_as_by_objects
    looks = SMALLEST.map { |name, document| Payloads::Look.new(Payloads::Look::OF_REAL.fetch(name).first, document) }
    looks += Payloads::Look::OF_TWITTER.keys.map { |task| Payloads::Look.new(task, Payloads.twitter) }
    looks.each { |look| assert Look.new.check(MANYPACK, look), look.task }
  end

  def test_the_lines_of_the_readme_add_what_they_say
    plain, passing, psych = File.read(File.expand_path("../README.md", __dir__)).scan(/^```ruby\n(.*?)^```/m).flatten
    Contenders.module_eval(psych)
    workload = Class.new(Workload).new(data: nil, stream: 1_000)
    operations = [plain, passing].flat_map { |lines| workload.instance_eval(lines).operations }
    Contenders::WithPsych.load
    checked = [MANYPACK, Contenders::WithPsych].map do |one|
      operations.select { |operation| operation.supported?(one) && operation.check(one, { "count" => 1 }) }
    end
    assert_equal [["unpack", "pack", "unpack", "pack", "pack and skip"], %w[unpack pack unpack pack]],
                 checked.map { |each| each.map(&:name) }
  end

  def test_who_offers_one_way_offers_the_way_back
    pairs = [Workload::PLAIN, Workload::TYPED, Workload::POOLED, Workload::REGISTERING]
    pairs.product(Contenders::BENCH.reject { |one| one.respond_to?(:check) }).each do |pair, contender|
      offered = pair.map(&:name).select { |name| contender.respond_to?(name) }
      assert_includes [0, pair.size], offered.size, "#{contender.label} offers #{offered}"
    end
  end

  def test_every_group_is_in_the_report
    groups = Workload.new(data: nil, stream: 1_000).cases.values.map(&:group)
    assert_empty groups.uniq - Report::GROUPS.keys
  end

  def test_the_report_shows_a_loss_wherever_it_is
    cases = [%w[messages pack], %w[messages unpack], ["ext types", "restore"], %w[start start], ["streams", "each"]]
    cases.each do |group, operation|
      summary = summary_of(cases.map { |one| [*one, one == [group, operation] ? 0.5 : 2.0] })
      assert_includes summary, "\n- msgpack: 0.50 (#{group}/case: #{operation})\n"
    end
    refute_includes summary_of(cases.map { |one| [*one, 2.0] }), "- msgpack"
  end

  # A process that takes as long as it is told, sample after sample.
  Told = Struct.new(:label, :times) do
    def ask(question, *)
      question == "check" ? { bytes: 1, objects: 1, same: 0 } : [times.shift] * 3
    end
  end

  def test_a_round_in_which_the_same_work_took_longer_is_run_again
    ours = Told.new("Manypack", [1.0, 1.3, 1.0, 1.05])
    theirs = Told.new("msgpack", [2.0, 2.0, 3.0, 3.0])
    one = Workload::Case.new(group: "group", name: "case", operations: [Operation.new("pack")])
    race = Race.new([ours, theirs], 1, 0.1)
    assert_equal [[1.025], [3.0]], quietly { race.run([one]) }.map(&:times)
    assert_equal 1, race.thrown_away
  end

  def test_of_loud_rounds_the_steadiest_counts
    ours = Told.new("Manypack", [1.0, 3.0, 1.0, 2.0, 1.0, 4.0, 1.0, 5.0])
    one = Workload::Case.new(group: "group", name: "case", operations: [Operation.new("pack")])
    race = Race.new([ours], 1, 0.1)
    assert_equal [[1.5]], quietly { race.run([one]) }.map(&:times)
    assert_equal Race::TRIES - 1, race.thrown_away
  end

  def test_no_figure_is_written_where_rounds_disagree_about_which_is_faster
    cell = ->(times) { Markdown.spread(measurement("other", times).ratio(measurement("Manypack", [1.0, 1.0, 1.0]))) }
    assert_equal ["2.00", "0.50", "–"], [[1.1, 2.0, 3.0], [0.4, 0.5, 0.9], [0.9, 1.1, 1.5]].map(&cell)
  end

  def test_ratios_are_taken_round_by_round
    results = Results.new({}, [measurement("Manypack", [1.0, 2.0, 4.0]), measurement("other", [2.0, 4.0, 4.0])])
    assert_equal [2.0, 1.0, 2.0], results.ratio("group", "pack", "case", "other").to_a
    assert_nil results.ratio("group", "pack", "case", "third")
  end

  def test_means_are_geometric_and_leave_out_what_another_cannot_do
    measurements = [["one", 1.0, 2.0], ["two", 1.0, 8.0]].flat_map do |name, ours, theirs|
      [measurement("Manypack", [ours], name), measurement("other", [theirs], name)]
    end
    results = Results.new({}, [*measurements, measurement("Manypack", [1.0], "three")])
    assert_in_delta 4.0, results.mean_ratio("group", "pack", "other")
  end

  private

  # Returns the Results of bench.rb, run on the smallest cases that `only` names.
  def bench(only, contenders: "msgpack$", rounds: 1)
    Tempfile.create("results") do |file|
      output, status = Open3.capture2e(RbConfig.ruby, BENCH, "--quick", "--look-alikes", "--only", only,
                                       "--contenders", contenders, "--rounds", rounds.to_s, "--output", file.path)
      assert_predicate status, :success?, output
      Results.read(file.path)
    end
  end

  # Without the progress bar.
  def quietly
    result = nil
    capture_io { result = yield }
    result
  end

  # What the report says of losses.
  def summary_of(cases)
    measurements = cases.flat_map do |group, operation, ratio|
      { "Manypack" => 1.0, "msgpack" => ratio }.map do |contender, time|
        measurement(contender, [time], "case", group: group, operation: operation)
      end
    end
    Dir.mktmpdir do |folder|
      Report.new(Results.new({ contenders: {} }, measurements), folder).write
      File.read(File.join(folder, "performance.md"))[/^## Where Manypack is slower$.*?(?=^## )/m]
    end
  end

  def measurement(contender, times, name = "case", group: "group", operation: "pack")
    Measurement.new(group: group, name: name, operation: operation, contender: contender, bytes: 1, objects: 1,
                    wall: times, cpu: times, gc: times.map { 0.0 })
  end
end
