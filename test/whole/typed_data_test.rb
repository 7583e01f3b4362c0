# frozen_string_literal: true

# The tables by which the collector knows our objects: complete, with all flags or a reason, as the running program has
# them; and with functions so pure that a collector may run them on a thread of its own, as the C source says.
require "test_helper"
require "support/compiled"
require "support/terminal_classes"

class TypedDataTest < Minitest::Test
  SOURCE = Dir[File.expand_path("../../ext/manypack/**/*.{c,h}", __dir__)].to_h { |path| [File.basename(path), File.read(path, encoding: "UTF-8")] }.freeze
  TABLE = %r{((?:/\*(?:(?!\*/).)*\*/\n)?)static const rb_data_type_t (\w+) = \{\n(.*?)^\};}m
  TABLES = SOURCE.flat_map { |file, text| text.scan(TABLE).map { |comment, name, body| [file, comment, name, body] } }.freeze

  # What may be called, or be itself the function, during a collection, on any thread.
  PURE = /\A(?:NULL|rb_gc_mark\w*|rb_gc_location|rb_gc_count|xfree|ruby_xfree|RUBY_TYPED_DEFAULT_FREE|sizeof|if|for|while|switch|return|MP_(?:UN)?LIKELY|mp_poison|RUBY_ATOMIC_FETCH_SUB|visit)\z/

  FUNCTIONS = %i[dmark dfree dsize dcompact].freeze
  FLAGS = [:free_immediately, :wb_protected, :shareable, *(:embeddable if RUBY_VERSION >= "3.3")].freeze

  # What a table lacks, each with the reason that the comment above it gives.
  LACKING = {
    "Manypack::Parallel::Stop" => %i[dmark dcompact], "Manypack::View::Index" => %i[dmark dcompact],
    "Manypack::Tally" => %i[dmark dcompact shareable embeddable],
    "Manypack::Parallel::Splitter" => %i[shareable],
    "Manypack::Buffer" => %i[shareable], "Manypack::Packer" => %i[shareable], "Manypack::Unpacker" => %i[shareable],
    "Manypack::Codec" => %i[embeddable], "Manypack::Type" => %i[embeddable],
    "Manypack::RactorState" => %i[wb_protected shareable]
  }.freeze

  PORTS = defined?(Ractor::Port) # which make an Outbox unnecessary
  MESSAGE = Manypack.pack([{ "a" => "b" * 300 }] * 20).freeze

  # One object of each table.
  def self.objects
    parallel = ->(name) { Manypack::Parallel.const_get(name) }
    codec = Manypack::Codec.new
    stop = parallel["Stop"].new
    view = Manypack::View.new(MESSAGE).tap { |itself| 2.times { itself[3] && itself[9] } }
    [codec, stop, view, *(parallel["Outbox"].new unless PORTS), parallel["Splitter"].new(codec),
     Manypack.const_get(:Tally).new, Manypack::Buffer.new, Manypack::Packer.new, Manypack::Unpacker.new, Manypack::Factory.new,
     Manypack::Type[String], Manypack::Record.new(Struct.new(:a), a: String).lazy.load("\x81\xA1a\xA1b".b)]
  end

  OBSTACLE = Compiled.obstacle(File.expand_path("../support/typed_data.c", __dir__), "-DEMBEDDABLE=#{RUBY_VERSION < "3.3" ? 0 : "RUBY_TYPED_EMBEDDABLE"}")

  if OBSTACLE
    warn "NOT RUN: #{File.basename(__FILE__)}: #{OBSTACLE}"
  else
    def test_every_table_has_all_functions_and_flags_but_those_with_a_reason
      objects = self.class.objects
      tables = TypedDataTables.all
      assert_equal TABLES.size - (PORTS ? 1 : 0), tables.size, "an object of each"
      tables.each { |name, names| assert_equal FUNCTIONS + FLAGS - LACKING.fetch(name, []), names, name }
      assert_equal tables.size - 2, objects.size # RactorState and Index are hidden
    end
  end

  # Of an embeddable type, Ruby 4.1 embeds only objects that any native thread may free.
  def test_every_embeddable_type_may_be_freed_by_any_thread
    embeddable = TABLES.select { |_, _, _, body| body.include?("EMBEDDABLE") }
    assert_equal TABLES.size - LACKING.values.count { |lacking| lacking.include?(:embeddable) }, embeddable.size
    embeddable.each { |file, _, name, body| assert_match(/\.flags = MP_TYPED_FREE \|/, body, "#{name} in #{file}") }
  end

  def test_what_runs_during_a_collection_is_pure
    TABLES.each do |file, _, name, body|
      body.scan(/\.d(?:mark|free|size|compact) = (\w+)/).flatten.grep_v("NULL").each { |function| assert_empty impure(function), "#{function}, of #{name} in #{file}" }
    end
  end

  # One look-up finds it, and what is in the table of a type is tested above.
  def test_a_ractor_keeps_one_object_and_nothing_that_has_no_table
    keys = SOURCE.flat_map { |file, text| text.scan(/rb_ractor_local_storage_(\w+)_newkey/).map { |kind, _| [file, kind] } }
    assert_equal [%w[ractor.c value]], keys
    assert_includes TABLES.map { |file, _, name, _| [file, name] }, %w[ractor.c ractor_type]
    assert_match(/mp_string_cache_mark/, body_of("ractor_mark"))
  end

  private

  # Calls of a function, and of those of ours that it calls, that are no business of a collection.
  def impure(function, seen = [])
    return [] if seen.include?(function)

    seen << function
    return [] if function.match?(PURE)

    body = body_of(function)&.gsub(%r{/\*.*?\*/}m, "") or return [function]
    handed_on = body.scan(/[(,] ?([a-z]\w*)(?=[,)])/).flatten.select { |name| body_of(name) } # to be called by visit
    (body.scan(/\b([a-zA-Z_]\w*)\(/).flatten | handed_on).grep_v(PURE).flat_map { |called| impure(called, seen) }
  end

  def body_of(function)
    SOURCE.each_value.lazy.map { |text| text[/^#{function}\([^;{]*\)\n\{\n(.*?)^\}/m, 1] }.find(&:itself)
  end
end
