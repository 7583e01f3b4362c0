# frozen_string_literal: true

# manypack describe and manypack compatible: the Records of two versions of a program.
require "test_helper"
require "support/terminal"

class TerminalVersionsTest < Minitest::Test
  include TerminalHelper

  OLD = <<~RUBY
    Item = Struct.new(:price)
    module App
      ITEM = Manypack::Record.new(Item, price: Manypack::Type[Float, nil])
      ITEMS = Manypack::Type[[ITEM]]
      autoload :Missing, "/no such file"
    end
    Sale = Manypack::Record.define(price: 1..)
  RUBY

  # Yields the names of what each version describes.
  def described(*versions)
    Dir.mktmpdir do |folder|
      yield(*versions.each_with_index.map do |ruby, i|
        File.write("#{folder}/#{i}.rb", ruby)
        File.binwrite("#{folder}/#{i}.msgpack", output_of("describe", "-r", "#{folder}/#{i}.rb"))
        "#{folder}/#{i}.msgpack"
      end)
    end
  end

  def test_each_record_and_type_of_a_constant_is_described_once
    described(OLD) { |old| assert_equal %w[App::ITEM App::ITEMS Sale], Manypack.split(File.binread(old), as: :view).map { |message| message["name"] } }
  end

  def test_what_the_new_version_does_not_read_is_listed
    described(OLD, OLD.sub("Manypack::Type[Float, nil]", "Float")) do |old, new|
      out, err, status = manypack("compatible", old, new)
      assert_equal ["", 1], [err, status]
      assert_equal ['App::ITEM $.price: the old version writes nil, the new one takes Float, as in {"price":null}',
                    'App::ITEMS $[*].price: the old version writes nil, the new one takes Float, as in [{"price":null}]'], out.lines(chomp: true)
      assert_equal ["", "", 0], manypack("compatible", new, old)
      assert_equal ["", "", 0], manypack("compatible", old, old)
    end
  end

  def test_a_record_that_is_gone_is_missing
    described(OLD, OLD.sub("Sale =", "Sold =")) { |old, new| assert_equal ["Sale is missing\n", "", 1], manypack("compatible", old, new) }
  end

  def test_what_is_no_description_and_a_program_without_records_are_wrong_usage
    assert_equal 2, manypack("describe").last
    assert_equal 2, manypack("describe", "-r", "json", "file").last
    described(OLD) do |old|
      out, err, status = manypack("compatible", old, "-", input: stream({"id" => 1}))
      assert_equal ["", 2], [out, status]
      assert_match "no description", err
      assert_equal 2, manypack("compatible", old).last
      assert_equal 1, manypack("compatible", old, "-", input: "\x81").last
      newer = Manypack.pack(Manypack.unpack(output_of("slice", "-n", "1", old)).then { |one| {**one, "type" => {**one["type"], "format" => 99}} })
      assert_match "describe the types again", manypack("compatible", "-", old, input: newer)[1]
    end
  end
end
