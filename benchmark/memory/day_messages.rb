# frozen_string_literal: true

# Messages of every size from 50 bytes to 5 MB, evenly spread over orders of magnitude: records such as services send.
module DayMessages
  SMALLEST = 50
  LARGEST = 5_000_000
  COUNT = 36

  module_function

  # @return [Array<Object>]
  def all
    sizes = Array.new(COUNT) { |i| (SMALLEST * (LARGEST.fdiv(SMALLEST)**i.fdiv(COUNT - 1))).round }
    random = Random.new(2012)
    sizes.map { |size| message(size, random) }
  end

  # Short ones are one record, longer ones a page of them, some of which bring a long text.
  #
  # @api private
  def message(size, random)
    return { "id" => random.rand(1 << 40), "text" => "t" * (size - 20) } if size < 200

    records = []
    left = size - 30
    while left > 0
      record = record(random, [left, 40_000].min)
      records << record
      left -= 110 + record["text"].bytesize
    end
    { "page" => random.rand(1000), "records" => records }
  end

  # @api private
  def record(random, most)
    text = random.rand(50).zero? ? random.rand(most) : random.rand(200)
    { "id" => random.rand(1 << 53),
      "user" => { "name" => "user #{random.rand(10_000)}", "verified" => random.rand(2).zero? },
      "tags" => Array.new(random.rand(4)) { "tag #{random.rand(500)}" }, "score" => random.rand.round(6),
      "text" => Array.new(text / 8 + 1) { "word#{random.rand(1000)}" }.join(" ")[0, [text, most].min] }
  end
end
