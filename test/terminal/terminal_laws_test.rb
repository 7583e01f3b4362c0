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
      Terminal::FromYAML.each(text.force_encoding("UTF-8")) { |value, _| assert_equal message.normal, Terminal::FromJSON.pack(value), text }
      assert_equal YAML.dump(YAML.safe_load(text, permitted_classes: [Date, Time])), without_more_quotes(text)
    end
  end

  # Without the quotes of texts that only others take for numbers.
  def without_more_quotes(yaml)
    yaml.gsub(/'([^'\n]*)'/) { Terminal::YAMLStream::NUMBER.match?($1) && !YAML.dump($1).include?("'") ? $1 : $& }
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

  def test_a_schema_reads_what_it_was_made_from
    objects = HostileObjects.new(Random.new(32))
    (LAWS / 3).times do |i|
      messages = Array.new(i % 4 + 1) { objects.message.bytes }.select { |bytes| Manypack::Type[Object].with(allow_unknown_ext: true, timestamp: true).valid?(bytes) }
      definition = Terminal::Definition.new("Message")
      messages.each { |bytes| definition.add(bytes) }
      ruby = definition.to_s
      type = Module.new { module_eval(ruby) }.const_get(:MESSAGE)
      messages.each { |bytes| type.load(bytes) }
    rescue ArgumentError, Manypack::DecodeError => e
      flunk "#{e.message}\n#{ruby}\n#{messages.inspect}"
    end
  end

  def test_a_message_and_its_other_forms_do_not_differ
    each_message do |message|
      assert_empty differences(message.bytes, message.normal), message.bytes.inspect
      assert_empty differences(message.bytes, Manypack.canonicalize(message.bytes)), message.bytes.inspect
    rescue Manypack::MalformedFormatError
      assert_empty differences(message.bytes, message.bytes), message.bytes.inspect
    end
  end

  def test_messages_that_differ_have_another_canonical_form
    each_message(LAWS / 3).each_cons(2) do |one, two|
      forms = [one, two].map { |message| Manypack.canonicalize(message.bytes) }
      assert_equal forms.uniq.size == 1, differences(one.bytes, two.bytes).empty?, [one.bytes, two.bytes].inspect
    rescue Manypack::MalformedFormatError
      assert_equal one.bytes == two.bytes, differences(one.bytes, two.bytes).empty? if one.bytes == two.bytes
    end
  end

  # A line for each head, the first ones of a message that is cut, and those of the object at a byte of it.
  def test_lines_of_a_part_are_those_of_the_whole
    each_message do |message|
      bytes = message.bytes
      whole = lines_of(bytes)
      assert_equal each_head(bytes).map { |byte, *| byte }, whole.map { |line| line[10, 2].hex }
      at = bytes.sum % bytes.bytesize
      heads = whole.select { |line| Integer(line[0, 8]) <= at }
      cut = lines_of(bytes.byteslice(0, at + 1)) # of which the last head may not be whole
      assert_equal heads.first(cut.size).map { |line| line[0, 20] }, cut.map { |line| line[0, 20] }
      assert_includes [0, 1], heads.size - cut.size
      path, *inside = lines(:at, at, bytes, 0)
      assert_match(/\A(a key of )?\$/n, path)
      assert_equal whole[heads.size - 1, inside.size].map { |line| line.squeeze(" ") }, inside.map { |line| line.squeeze(" ") }
    end
  end

  # The same as a walk over the heads in Ruby counts.
  def test_a_tally_counts_every_head_and_every_byte_by_its_path
    each_message.each_slice(200) do |messages|
      all = Manypack.const_get(:Tally).new
      heads = Array.new(256, 0)
      paths = Hash.new(0)
      messages.each do |message|
        all.add(message.bytes, 0, message.bytes.bytesize)
        each_head(message.bytes) do |byte, size, steps|
          heads[byte] += 1
          paths[path_of(steps)] += size
        end
      end
      assert_equal [heads, paths.values.sum], all.counts.values_at(0, 3)
      assert_operator all.nodes.size, :<, 1000, "so many paths that some are counted as *"
      assert_equal paths, paths_of(all.nodes)
    end
  end

  def test_a_tally_of_what_is_no_message_raises
    tally = Manypack.const_get(:Tally).new
    assert_raises(Manypack::TruncatedError) { tally.add("\x92\x01".b, 0, 2) }
    assert_raises(Manypack::MalformedFormatError) { tally.add("\xc1".b, 0, 1) }
    assert_raises(Manypack::StackError) { tally.add("\x91".b * 1000, 0, 1000) }
    assert_raises(RangeError) { tally.add("\x01", 1, 1) }
    assert_raises(TypeError) { tally.add(nil, 0, 0) }
    assert_equal [0, 0], [tally.counts[1].sum, tally.counts[3]]
  end

  # Whatever the keys, a tally has a limited size, and long keys cost no more than their bytes.
  def test_a_tally_does_not_grow_with_a_strangers_keys
    tally = Manypack.const_get(:Tally).new
    bytes = Manypack.pack((1..3000).to_h { |i| ["key#{i}", {"k" * (i + 200) => i}] })
    tally.add(bytes, 0, bytes.bytesize)
    assert_operator tally.nodes.size, :<=, 1002
    assert_equal bytes.bytesize, tally.nodes.sum(&:last)
  end

  class UniqueKeys < Hash
    def []=(key, value)
      raise "twice: #{key}" if key?(key)

      super
    end
  end

  private

  def differences(one, two)
    found = []
    left, right = [one, two].map { |bytes| [Terminal::Difference.value(bytes)] }
    Terminal::Difference.new { |steps, *sides| found << [steps.dup, *sides] }.compare(left, right)
    found
  end

  def each_message(count = LAWS)
    return enum_for(:each_message, count) unless block_given?

    objects = HostileObjects.new(Random.new(30))
    count.times { yield objects.message }
  end

  def lines_of(bytes)
    lines(:each_piece, bytes, 0, bytes.bytesize, 0)
  end

  # Of a message that breaks off, those before its end.
  def lines(how, *arguments)
    pieces = []
    Terminal::HeadLine.new.public_send(how, *arguments) { |piece| pieces << piece.b }
    pieces.join.lines
  rescue Manypack::DecodeError
    pieces.join.lines
  end

  # Yields each head byte, its size with its payload, and the steps to it: a key has those of its map.
  def each_head(bytes, at = 0, steps = [], key: false, &block)
    return enum_for(:each_head, bytes) unless block

    type, size, count = head(bytes, at)
    payload = %w[str bin ext].include?(type) ? count : 0
    yield bytes.getbyte(at), size + payload, steps
    at += size + payload
    inside = key ? [*steps, :unnamed] : steps
    return at if %w[array map].none?(type)
    return count.times.inject(at) { |from, i| each_head(bytes, from, [*inside, i], &block) } if type == "array"

    count.times.inject(at) do |from, _|
      ends = each_head(bytes, from, inside, key: true, &block)
      each_head(bytes, ends, [*inside, step_of(Terminal::Input::PLAIN.unpack(bytes.byteslice(from...ends)))], &block)
    end
  end

  # Returns its type, its size, and the count of what comes after it.
  def head(bytes, at)
    byte = bytes.getbyte(at)
    type = Terminal::HeadLine::TYPES[byte]
    width = width(byte)
    count = byte < 0xa0 ? byte & 15 : byte & 31
    count = 1 << (byte - 0xd4) if (0xd4..0xd8).cover?(byte)
    count = bytes.byteslice(at + 1, width).unpack1({1 => "C", 2 => "n", 4 => "N"}[width] || "x") if width.positive?
    [type, 1 + width + (type == "ext" ? 1 : 0), count]
  end

  # How many bytes of number follow.
  def width(byte)
    case byte
    when 0xc4..0xc9 then 1 << ((byte - 0xc4) % 3)
    when 0xca, 0xcb then 4 << (byte - 0xca)
    when 0xcc..0xd3 then 1 << (byte % 4)
    when 0xd9..0xdb then 1 << (byte - 0xd9)
    when 0xdc..0xdf then 2 << (byte % 2)
    else 0
    end
  end

  def step_of(key)
    case key
    when String then key.valid_encoding? ? key : key.b
    when Integer, nil, true, false then key
    when Float then key.nan? ? :unnamed : key
    else :unnamed
    end
  end

  def path_of(steps)
    steps.map do |step|
      long = step.is_a?(String) && step.bytesize > 256
      next :* if long || step.is_a?(Integer) || step == :unnamed

      step.is_a?(String) && step.ascii_only? ? step.dup.force_encoding("UTF-8") : step
    end.map { |step| step.is_a?(Float) ? [step].pack("G") : [step, step.is_a?(String) && step.encoding] }
  end

  # Nodes of a Float in either width are one path.
  def paths_of(nodes)
    nodes.each_index.each_with_object(Hash.new(0)) do |i, paths|
      steps = []
      at = i
      while at.positive?
        around, kind, name, = nodes[at]
        steps.unshift(named(kind, name))
        at = around
      end
      paths[steps] += nodes[i][3]
    end
  end

  def named(kind, name)
    case kind
    when :any then [:*, false]
    when :text then [name.dup.force_encoding("UTF-8"), Encoding::UTF_8]
    when :bytes then [name, Encoding::BINARY]
    when :real then [Manypack.unpack(name)].pack("G")
    else [Manypack.unpack(name), false]
    end
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
