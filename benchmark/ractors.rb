# frozen_string_literal: true

# What Ractors make of Manypack, beside JSON in the same process: the figures of docs/parallel.md.
#   ruby --yjit -Ilib benchmark/ractors.rb two     the throughput of two Ractors relative to one
#   ruby --yjit -Ilib benchmark/ractors.rb alone   milliseconds for a document, in the main Ractor and in another one
#   ruby --yjit -Ilib benchmark/ractors.rb hand    microseconds until another Ractor has read three fields of a message
#   ruby --yjit -Ilib benchmark/ractors.rb hand all     ... has read all of it
#   ruby --yjit -Ilib benchmark/ractors.rb ring packed 1000   microseconds of each hop in a ring of 1,000 Ractors
# The median of 9 rounds counts. All times are of processors, but those of two Ractors also have what a Ractor waits for
# others, without what it waits for a processor: /proc/thread-self/schedstat of Linux tells.

require "json"
require "manypack"

Warning[:experimental] = false
ROUNDS = 9

# What a Ractor can be told to do: methods of an input and the name of its document.
module Tasks
  STATUS = Manypack::Record.new(Struct.new(:id, :text, :user), id: Integer, text: String,
                                user: Manypack::Record.new(Struct.new(:screen_name), screen_name: String))
  GEOMETRY = Manypack::Record.new(Struct.new(:coordinates), coordinates: [[[Float]]])
  TYPES = Ractor.make_shareable({
    "twitter" => Manypack::Record.new(Struct.new(:statuses), statuses: [STATUS]),
    "canada" => Manypack::Record.new(Struct.new(:features),
                                     features: [Manypack::Record.new(Struct.new(:geometry), geometry: GEOMETRY)])
  })
  PATHS = Ractor.make_shareable({ "twitter" => "$.statuses[*].user.screen_name",
                                  "canada" => "$.features[0].geometry.coordinates[*][0][0]" })
  SHAREABLE = Manypack::Codec.new(shareable: true)

  def self.parse(text, _) = JSON.parse(text)
  def self.generate(object, _) = JSON.generate(object)
  def self.pack(object, _) = Manypack.pack(object)
  def self.unpack(bytes, _) = Manypack.unpack(bytes)
  def self.shareable(bytes, _) = SHAREABLE.unpack(bytes)
  def self.record(bytes, name) = TYPES[name].load(bytes)
  def self.view(bytes, name) = Manypack::View.new(bytes).query(PATHS[name])

  # Returns the input of each task.
  def self.inputs(object)
    bytes = Manypack.pack(object).freeze
    { parse: JSON.generate(object).freeze, generate: object, pack: object }.tap { |all| all.default = bytes }
  end

  ALL = %i[parse generate pack unpack shareable record view].freeze

  # Returns milliseconds for each time: of the processor, and with what was waited for except for a processor.
  def self.measure(task, input, name, times)
    before = clocks
    times.times { public_send(task, input, name) }
    cpu, queued, clock = clocks.zip(before).map { |now, then_| (now - then_) / 1e6 / times }
    [cpu, clock - queued]
  end

  def self.clocks
    [Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond),
     File.read("/proc/thread-self/schedstat").split[1].to_i,
     Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)]
  end
end

# How a status of twitter.json gets to another Ractor, and what is read there.
module Ways
  MAKE = { copy: ->(bytes) { Manypack.unpack(bytes) }, move: ->(bytes) { Manypack.unpack(bytes) },
           make_shareable: ->(bytes) { Ractor.make_shareable(Manypack.unpack(bytes)) },
           shareable: ->(bytes) { Tasks::SHAREABLE.unpack(bytes) }, bytes: :itself.to_proc,
           frozen_view: ->(bytes) { Manypack::View.new(bytes).freeze }, view: :itself.to_proc,
           record: :itself.to_proc }.freeze

  def self.read(way, given, all)
    case way
    when :record then Tasks::STATUS.load(given).then { |status| [status.id, status.text, status.user.screen_name] }
    when :bytes then look(Manypack.unpack(given), all)
    when :view then look(Manypack::View.new(given), all)
    else look(given, all)
    end
  end

  def self.look(message, all)
    return [message["id"], message["text"], message.dig("user", "screen_name")] unless all

    walk(message.is_a?(Manypack::View) ? message.value : message)
  end

  def self.walk(object)
    case object
    when Hash then object.each_value { |value| walk(value) }
    when Array then object.each { |element| walk(element) }
    end
  end
end

# What goes around a ring, and what each Ractor makes of it.
module Messages
  FIRST = { "integers" => 0, "strings" => "0", "packed" => Manypack.pack(0).freeze,
            "maps" => Manypack.pack({ "hops" => 0 }).freeze }.freeze

  def self.pass(kind, message)
    case kind
    when "integers" then message + 1
    when "strings" then message.succ.freeze
    when "packed" then Manypack.pack(Manypack.unpack(message) + 1).freeze
    when "maps" then Manypack.pack(Manypack.unpack(message).tap { |map| map["hops"] += 1 }).freeze
    end
  end
end

def median(samples) = samples.sort[samples.size / 2]
def value_of(ractor) = ractor.respond_to?(:value) ? ractor.value : ractor.take
def cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_microsecond)

def document(name)
  folder = File.expand_path("../../shared/data", __dir__)
  Ractor.make_shareable(JSON.parse(File.read(File.join(ENV.fetch("DATA", folder), "#{name}.json"))))
end

# Yields each document's name and a task with its input, and how often it is done in a round.
def each_task
  Tasks::TYPES.each_key do |name|
    inputs = Tasks.inputs(document(name))
    Tasks::ALL.each do |task|
      yield name, task, inputs[task], (50 / Tasks.measure(task, inputs[task], name, 3).first).ceil
    end
  end
end

# In Ractors of their own, which begin together once each has done it 25 times.
def in_ractors(count, *work)
  ractors = Array.new(count) do
    Ractor.new(*work) { |*task, times| [Tasks.measure(*task, 25), Ractor.receive, Tasks.measure(*task, times)] }
  end
  answers = ractors.each { |ractor| ractor.send(nil) }.map { |ractor| value_of(ractor) }
  [0, 2].map { |part| answers.sum { |answer| answer[part].last } / count }
end

def two
  each_task do |name, task, input, times|
    rounds = Array.new(ROUNDS) { [1, 2].flat_map { |count| in_ractors(count, task, input, name, times) } }
    first, warm, first_of_two, warm_of_two = rounds.transpose.map { |samples| median(samples) }
    printf("%-8s %-9s x%.2f; the first 25 x%.2f, %.2f ms and then %.2f ms\n", name, task, 2 * warm / warm_of_two,
           2 * first / first_of_two, first, warm)
  end
end

def alone
  each_task do |name, task, input, times|
    here, there = Array.new(ROUNDS) do
      [Tasks.measure(task, input, name, times),
       value_of(Ractor.new(task, input, name, times) { |*work| Tasks.measure(*work) })].map(&:first)
    end.transpose.map { |samples| median(samples) }
    printf("%-8s %-9s %.2f ms in the main Ractor, %.2f in another\n", name, task, here, there)
  end
end

def hand(all = nil)
  messages = Ractor.make_shareable(document("twitter")["statuses"].map { |status| Manypack.pack(status) } * 10)
  Ways::MAKE.each do |way, make|
    samples = Array.new(ROUNDS) do
      reader = Ractor.new(way, all, messages.size) do |how, whole, count|
        count.times { Ways.read(how, Ractor.receive, whole) }
      end
      before = cpu
      messages.each { |bytes| way == :move ? reader.send(make.call(bytes), move: true) : reader.send(make.call(bytes)) }
      value_of(reader)
      (cpu - before) / messages.size
    end
    printf("%-15s %.1f us\n", way, median(samples))
  end
end

def ring(kind, nodes)
  first = Integer(nodes).times.inject(Ractor.current) do |following, _|
    Ractor.new(following, kind) do |to, what|
      to.send(Messages.pass(what, Ractor.receive)) while true
    end
  end
  message = Messages::FIRST.fetch(kind)
  samples = Array.new(ROUNDS + 2) do
    before = cpu
    first.send(message)
    message = Ractor.receive
    (cpu - before) / Integer(nodes)
  end
  printf("%s, %s Ractors: %.2f us\n", kind, nodes, median(samples.drop(2)))
end

puts RUBY_DESCRIPTION
send(*(ARGV.empty? ? abort(File.read(__FILE__)[/^# What.*?\n\n/m]) : ARGV))
