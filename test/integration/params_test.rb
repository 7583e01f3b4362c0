# frozen_string_literal: true

# Records from the parameters of a request: of Rails, permitted or not, of Rack, and the Hashes of ActiveSupport.
require "test_helper"
require "action_controller"
require "active_support/core_ext/hash/indifferent_access"
require "active_support/core_ext/string/output_safety"
require "rack"

class ParamsTest < Minitest::Test
  Line = Struct.new(:sku, :count)
  Order = Struct.new(:id, :gift, :note, :lines, :extra)
  LINE = Manypack::Record.new(Line, sku: String, count: 1..9)
  ORDER = Manypack::Record.new(Order, id: Integer, gift: Manypack::Type[true, false], note: Manypack::Type[String, nil], lines: [LINE], extra: Hash)
                          .with(defaults: { gift: false, note: nil, extra: {} })
  FORM = { "id" => "7", "gift" => "on", "note" => "", "lines" => [{ "sku" => "a", "count" => "2" }], "utf8" => "x" }.freeze
  MADE = Order.new(7, true, nil, [Line.new("a", 2)], {})

  def params = ActionController::Parameters.new(FORM)

  def test_parameters_of_rails_permitted_or_not
    assert_equal MADE, ORDER.from(params, lax: true)
    assert_equal MADE, ORDER.from(params.permit!, lax: true)
    assert_equal MADE.lines, Manypack::Type[[LINE]].from(params[:lines], lax: true)
    assert_equal MADE.lines, Manypack::Type[LINE, [LINE], nil].from(params[:lines], lax: true)
    assert_equal({ "a" => "1" }, ORDER.from(ActionController::Parameters.new(FORM.merge(extra: { a: "1" })), lax: true).extra.to_h)
    refute_predicate params.tap { |one| ORDER.from(one, lax: true) }, :permitted?
  end

  def test_their_errors_have_the_paths_of_the_form
    error = assert_raises(Manypack::RecordError) { ORDER.from(ActionController::Parameters.new(FORM.merge("lines" => [{ "sku" => "a", "count" => "20" }], id: "x")), lax: true, collect: true) }
    assert_equal ["$.id", "$.lines[0].count"], error.errors.map(&:path).sort
    assert_equal "expected Integer, got ActionController::Parameters, at $", assert_raises(Manypack::RecordError) { Manypack::Type[Integer].from(params) }.message
    assert_equal ["$.utf8"], assert_raises(Manypack::RecordError) { ORDER.with(unknown: :raise).from(params, lax: true, collect: true) }.errors.map(&:path)
  end

  def test_hashes_with_indifferent_access_and_safe_strings
    given = FORM.with_indifferent_access.merge(note: "<b>".html_safe)
    made = ORDER.from(given, lax: true)
    assert_equal ["<b>", String], [made.note, made.note.class]
    assert_equal 2, made.lines[0].count
  end

  def test_what_rack_reads_of_a_query_and_of_a_form
    query = Rack::Utils.parse_nested_query("id=7&gift=on&note=&lines[][sku]=a&lines[][count]=2&utf8=x")
    assert_equal MADE, ORDER.from(query, lax: true)
    request = Rack::Request.new(Rack::MockRequest.env_for("/?id=7&lines[][sku]=a&lines[][count]=2&gift=1"))
    assert_equal MADE, ORDER.from(request.params, lax: true)
  end
end
