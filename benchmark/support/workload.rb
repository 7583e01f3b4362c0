# frozen_string_literal: true

# All that bench.rb measures: cases in groups. A case is a payload and the operations that it goes through.

require "json"
require_relative "operations"
require_relative "payloads"

class Workload
  # One payload, made when it is asked for; and by how much its rounds are multiplied where single ones differ much.
  Case = Struct.new(:group, :name, :operations, :build, :times_rounds, keyword_init: true) do
    # No other case has the same.
    def id
      "#{group}/#{name}"
    end

    def payload
      build.call
    end
  end

  PLAIN = %w[unpack pack].map { |name| PackOrUnpack.new(name, pack: "pack", unpack: "unpack") }.freeze
  TYPED = %w[restore dump].map { |name| PackOrUnpack.new(name, pack: "dump", unpack: "restore") }.freeze
  POOLED = %w[deserialize serialize].map do |name|
    PackOrUnpack.new(name, pack: "serialize", unpack: "deserialize")
  end.freeze
  REGISTERING = %w[unpack_registering pack_registering].map do |name|
    PackOrUnpack.new(name, pack: "pack_registering", unpack: "unpack_registering")
  end.freeze
  SKIPPING = [Skip.new].freeze
  LOOKING = [Look.new].freeze
  STARTING = [Start.new].freeze
  CALLING = Payloads::Calls::MESSAGES.map { |name, message| OneCall.new(name, message) }.freeze
  ONCE = [OneCall.new("once", nil, Payloads::Middle::COPIES)].freeze
  TEXTS, TEXTS_OF_OBJECTS = %w[from_json to_json load_json dump_json].map { |way| JSONText.new(way) }.each_slice(2).to_a
  LOADING = [ToObjects.new("to objects")].freeze
  ROWS = [*LOADING, ToObjects.new("lazily"), ToObjects.new("lazily, three of 11 fields"),
          ToObjects.new("from objects")].freeze
  STREAMING = [
    ReadStream.new("each, of a file", :file), ReadStream.new("each, of a fed String", :string),
    WriteStream.new("write to /dev/null, flush at the end", flush: :end) { File.open(File::NULL, "wb") },
    WriteStream.new("write to /dev/null, flush each", flush: :each) { File.open(File::NULL, "wb") },
    WriteStream.new("write to a StringIO, flush at the end", flush: :end) { StringIO.new(String.new) },
    WriteStream.new("write to a StringIO, flush each", flush: :each) { StringIO.new(String.new) }
  ].freeze

  RECORDS = "records"
  JSON_TEXTS = "json"
  LOOKS = "looks"
  SIZES = { "10 B" => 10, "100 B" => 100, "1 KB" => 1_000, "10 KB" => 10_000 }.freeze

  # Real documents, where a checkout has them beside it.
  REAL = [File.expand_path("../../../shared/data", __dir__)].find { |folder| File.directory?(folder) }

  # data:: a folder of JSON files; nil for the look-alikes only
  # stream:: how many messages a stream has
  def initialize(data:, stream:)
    @data = data
    @stream = stream
  end

  # Returns all cases by their ids.
  def cases
    @cases ||= [*documents, *classics, *messages, *sizes, *skips, *looks, *middle, *typed, *pooled,
                *streams, *calls, *starts, *records, *texts].to_h { |one| [one.id, one] }
  end

  private

  def documents
    files.map { |name, path| one("documents", name, PLAIN) { read(path) } }
  end

  def files
    @data ? Dir[File.join(@data, "*.json")].sort.to_h { |path| [File.basename(path, ".json"), path] } : {}
  end

  def read(path)
    JSON.parse(File.read(path, encoding: "UTF-8"))
  end

  def classics
    Payloads.documents.keys.map { |name| one("classics", name, PLAIN) { Payloads.documents.fetch(name) } }
  end

  def messages
    plain = Payloads.messages.map { |name, message| one("messages", name, PLAIN) { message } }
    [*plain, one("messages", "extended", REGISTERING) { { "extended" => Payloads::Extended.new } }]
  end

  def sizes
    SIZES.map { |name, bytes| one("sizes", name, PLAIN) { Payloads.rows(bytes) } }
  end

  def skips
    [*documents, *classics].map { |document| one("skip", document.name, SKIPPING, &document.build) }
  end

  # Of the real documents where they are; Twitter's look-alike otherwise.
  def looks
    twitter = documents.find { |document| document.name == "twitter" }&.build || -> { Payloads.twitter }
    real = Payloads::Look::OF_REAL.slice(*files.keys).map { |name, (task, _)| look(task) { read(files[name]) } }
    geo = Payloads::Look::OF_GEO.keys.map { |task| look(task) { Payloads.documents.fetch("Geo") } }
    [*Payloads::Look::OF_TWITTER.keys.map { |task| look(task, &twitter) }, *geo, *real]
  end

  def look(task, &document)
    one(LOOKS, task, LOOKING) { Payloads::Look.new(task, document.call) }
  end

  # Messages that come once: the group "looks" goes through one String again and again.
  def middle
    Payloads::Middle::ROWS.map { |name, way| one("middle", name, ONCE) { way } }
  end

  def typed
    Payloads.typed.map { |name, object| one("ext types", name, TYPED) { object } }
  end

  def pooled
    Payloads.cached.map { |name, object| one("pools", name, POOLED) { object } }
  end

  def streams
    { "messages" => 1, "log lines" => 10, "tweets" => 50 }.map do |kind, size|
      one("streams", "#{@stream / size} #{kind}", STREAMING) { Payloads.stream(kind, @stream / size) }
    end
  end

  def calls
    Payloads::Calls::WAYS.map { |name, way| one("calls", name, CALLING) { way } }
  end

  def starts
    { "ruby" => [], "ruby --disable-gems" => ["--disable-gems"] }.map do |name, flags|
      one("start", name, STARTING) { flags }.tap { |start| start.times_rounds = 10 }
    end
  end

  # Objects of a program's classes.
  def records
    twitter = files["twitter"] ? -> { read(files["twitter"]) } : -> { Payloads.twitter }
    catalog = files["citm_catalog"]
    rows = -> { Payloads::Classes.rows(1_000, Random.new(Payloads::DEFAULT_SEED)) }
    [one(RECORDS, "twitter, 11 fields", LOADING) { Payloads::Classes.twitter(twitter.call) },
     (one(RECORDS, "citm_catalog", LOADING) { Payloads::Classes.catalog(read(catalog)) } if catalog),
     one(RECORDS, "1,000 rows", ROWS, &rows)].compact
  end

  # JSON beside json.
  def texts
    typed = records.map { |one| [one, TEXTS_OF_OBJECTS.first(one.name == "1,000 rows" ? 2 : 1)] }
    [*real_or_made.map { |name, build| one(JSON_TEXTS, name, TEXTS, &build) },
     one(JSON_TEXTS, "small", TEXTS) { { "id" => 1, "name" => "Ada" } },
     *typed.map { |record, ways| one(JSON_TEXTS, record.name, ways, &record.build) },
     one(JSON_TEXTS, "small object", TEXTS_OF_OBJECTS) { Payloads::Classes.small }]
  end

  def real_or_made
    real = documents.to_h { |one| [one.name, one.build] }.slice("twitter", "citm_catalog", "canada")
    real.empty? ? %w[Twitter Geo].to_h { |name| [name, -> { Payloads.documents.fetch(name) }] } : real
  end

  def one(group, name, operations, &build)
    Case.new(group: group, name: name, operations: operations, build: build)
  end
end
