# frozen_string_literal: true

# Laws of the terminal, on random and hostile objects. MANYPACK_LAWS=100000 takes as many of them.
require "test_helper"
require "date"
require "json"
require "yaml"
require "support/hostile_objects"
require "support/terminal_classes"
require "manypack/terminal"

class TerminalLawsTest < Minitest::Test
  LAWS = Integer(ENV.fetch("MANYPACK_LAWS", "300"))
  Terminal = Manypack::Terminal
  JSONText = Manypack.const_get(:JSONText)
  CODEC = Manypack::Codec.new(**Terminal::OPTIONS)

  def test_what_cat_writes_is_read_back_as_the_same
    each_message do |message|
      [false, true].product([false, true]) do |pretty, hex|
        text = JSONText.generate(message.bytes, 0, message.bytes.bytesize, pretty, hex)
        assert_equal message.normal, Terminal::FromJSON.pack(parsed(text)), text
      end
    end
  end

  # What is read again is written again as the same text, so nothing has changed its meaning.
  def test_what_pack_reads_is_written_again_as_the_same
    each_message do |message|
      text = JSONText.generate(message.bytes, 0, message.bytes.bytesize, false, false)
      back = Terminal::FromJSON.pack(parsed(text))
      again = JSONText.generate(back, 0, back.bytesize, false, false)
      assert_equal text, again
      assert_equal text, Terminal::Printer.new("json").print(message.bytes)
    end
  end

  def test_no_two_keys_of_an_object_are_the_same
    each_message do |message|
      text = JSONText.generate(message.bytes, 0, message.bytes.bytesize, false, false)
      assert_equal text.count("\n"), 1
      JSON.parse(text, max_nesting: false, object_class: UniqueKeys)
    end
  end

  def test_yaml_is_read_back_as_the_same
    printer = Terminal::Printer.new("yaml")
    each_message(LAWS / 3) do |message|
      text = printer.print(message.bytes)
      assert_equal message.normal, Terminal::FromJSON.pack(YAML.safe_load(text, permitted_classes: [Date, Time])), text
    end
  end

  # Nothing that only resembles our forms may be taken for one, whatever a stranger's JSON says.
  def test_any_json_is_packed_and_comes_out_with_the_same_meaning
    random = Random.new(31)
    LAWS.times do
      value = json_value(random, 3)
      packed = Terminal::FromJSON.pack(value)
      text = JSONText.generate(packed, 0, packed.bytesize, false, false)
      assert_equal packed, Terminal::FromJSON.pack(parsed(text)), JSON.generate(value)
    end
  end

  class UniqueKeys < Hash
    def []=(key, value)
      raise "twice: #{key}" if key?(key)

      super
    end
  end

  private

  def each_message(count = LAWS)
    objects = HostileObjects.new(Random.new(30))
    count.times { yield objects.message }
  end

  def parsed(text) = JSON.parse(text, max_nesting: false)

  def json_value(random, depth)
    case random.rand(depth.zero? ? 3 : 5)
    when 0 then [nil, true, 0, -1, 1.5, 300].sample(random: random)
    when 1, 2 then HostileObjects::TEXTS.sample(random: random)
    when 3 then Array.new(random.rand(4)) { json_value(random, depth - 1) }
    else Array.new(random.rand(3)) { [HostileObjects::TEXTS.sample(random: random), json_value(random, depth - 1)] }.to_h
    end
  end
end
