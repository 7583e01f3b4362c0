# frozen_string_literal: true

# The tables by which the collector knows our objects, as the C source has them: complete, with all flags or a reason, and
# with functions so pure that a collector may run them on a thread of its own.
require "test_helper"

class TypedDataTest < Minitest::Test
  SOURCE = Dir[File.expand_path("../ext/manypack/*.{c,h}", __dir__)].to_h { |path| [File.basename(path), File.read(path, encoding: "UTF-8")] }.freeze
  TABLE = %r{((?:/\*(?:(?!\*/).)*\*/\n)?)static const rb_data_type_t (\w+) = \{\n(.*?)^\};}m
  TABLES = SOURCE.flat_map { |file, text| text.scan(TABLE).map { |comment, name, body| [file, comment, name, body] } }.freeze

  # Flags, and what the comment above a table that lacks one has to say.
  FLAGS = {
    "MP_TYPED_FREE" => nil, # never lacking: whatever must wait to be freed leaves a zombie
    "RUBY_TYPED_WB_PROTECTED" => /write barrier/i,
    "MP_TYPED_EMBEDDABLE" => /not embeddable/i,
    "RUBY_TYPED_FROZEN_SHAREABLE" => /not shareable|never shareable/i
  }.freeze

  # What may be called, or be itself the function, during a collection, on any thread.
  PURE = /\A(?:NULL|rb_gc_mark\w*|rb_gc_location|xfree|ruby_xfree|RUBY_TYPED_DEFAULT_FREE|sizeof|if|for|while|switch|return|MP_(?:UN)?LIKELY|mp_poison|RUBY_ATOMIC_FETCH_SUB|visit)\z/

  def test_there_are_tables
    assert_operator TABLES.size, :>=, 5
    assert_equal SOURCE.values.sum { |text| text.scan(/rb_data_type_t \w+ =/).size }, TABLES.size
  end

  def test_every_table_is_complete
    TABLES.each do |file, comment, name, body|
      entries = %w[dfree dsize wrap_struct_name flags]
      entries += %w[dmark dcompact] unless comment.include?("refers to no object")
      entries.each { |entry| assert_match(/\.#{entry} = /, body, "#{name} of #{file}") }
    end
  end

  def test_every_flag_is_set_or_its_absence_explained
    TABLES.each do |file, comment, name, body|
      FLAGS.reject { |flag, _| body.include?(flag) }.each do |flag, reason|
        assert reason && comment.match?(reason), "#{name} of #{file} lacks #{flag}, and the comment above it does not say why"
      end
    end
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
    assert_match(/mp_string_table_mark/, body_of("ractor_mark"))
  end

  def test_the_hot_part_of_every_struct_is_checked
    asserted = SOURCE.values.join.scan(/MP_STATIC_ASSERT\((\w+),/).flatten
    assert_includes asserted, "two_string_entries_to_a_cache_line"
    assert_includes asserted, "codec_is_hot_in_one_cache_line"
    assert_includes asserted, "factory_is_small"
    assert_includes asserted, "ractor_state_is_small"
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
