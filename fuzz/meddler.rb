# frozen_string_literal: true

# Handlers that misbehave.
module Fuzz
  Violation = Class.new(StandardError)

  # Misbehaves as user code in the middle of a decode: uses the Unpacker that is reading, changes the bytes that are
  # being decoded, or decodes something else. Misuse must be refused with a RuntimeError, and must not affect the
  # result.
  class Meddler
    USES = [
      ->(unpacker) { unpacker.feed("\x01") }, ->(unpacker) { unpacker.feed_each("\x01") { nil } },
      ->(unpacker) { unpacker.read }, ->(unpacker) { unpacker.full_unpack }, ->(unpacker) { unpacker.skip },
      ->(unpacker) { unpacker.skip_nil }, ->(unpacker) { unpacker.each { nil } }, ->(unpacker) { unpacker.reset },
      ->(unpacker) { unpacker.read_array_header }, ->(unpacker) { unpacker.read_map_header },
      ->(unpacker) { unpacker.register_type(99) { nil } }, ->(unpacker) { unpacker.buffer.clear },
      ->(unpacker) { unpacker.buffer.read }, ->(unpacker) { unpacker.buffer << "\x01" },
      ->(unpacker) { unpacker.buffer.skip(1) }, ->(unpacker) { unpacker.buffer.write_to(StringIO.new) },
      ->(unpacker) { Fiber.new { unpacker.read }.resume },
      ->(unpacker) { Thread.new { unpacker.read }.tap { |thread| thread.report_on_exception = false }.value }
    ].freeze

    # Uses that an Unpacker for the body of an ext refuses, because they concern the stream as a whole.
    BODY_MISUSES = USES.values_at(0, 1, 3, 6, 7, 10, 11).freeze

    CHANGES = [
      ->(input) { input.clear }, ->(input) { input.replace("\xC1".b * 300) },
      ->(input) { input.force_encoding("BINARY") << ("\xC1".b * 5000) },
      ->(input) { input.setbyte(input.bytesize / 2, 0xC1) unless input.empty? },
      ->(input) { input.force_encoding("UTF-16LE") }, ->(input) { input.slice!(0, 3) }
    ].freeze

    # The Unpacker that is reading, and the String that it decodes; nil if there is none to misuse.
    attr_accessor :unpacker, :input

    # An Unpacker whose body has ended, which refuses all use, and an Unpacker whose body may have failed.
    attr_writer :over, :failed

    def initialize
      @depth = 0
      @spare = 0
    end

    # Misbehaves once. The sum of the body's bytes chooses how. Returns true.
    def meddle(body)
      return true if @depth.positive?

      @depth = 1
      choice = body.sum
      use(USES[choice % USES.size]) if @unpacker
      change(CHANGES[choice % CHANGES.size]) if @input && !@input.frozen?
      @over&.then { |unpacker| refused { unpacker.read } }
      @failed&.then { |unpacker| Outcome.of { unpacker.read } }
      something_else(choice)
      true
    ensure
      @depth = 0
    end

    # An Unpacker whose body has ended may get another body, and is usable again until that ends.
    def begins(unpacker)
      @over = nil if @over.equal?(unpacker)
    end

    # Misuses the Unpacker for a body. Returns true.
    def misuse_body(unpacker)
      BODY_MISUSES.each { |misuse| refused { misuse.call(unpacker) } }
      true
    end

    def forget
      @spare = 20
      @unpacker = @input = @over = @failed = nil
    end

    private

    def use(way)
      refused { way.call(@unpacker) }
    end

    def refused
      yield
      raise Violation, "an Unpacker at work was used"
    rescue RuntimeError => e
      raise Violation, "#{e.class}: #{e.message}" unless e.instance_of?(RuntimeError)
    end

    def change(way)
      way.call(@input)
    end

    # A key may be hashed a hundred thousand times: do this only the first times.
    def something_else(choice)
      return if (@spare -= 1).negative?

      case choice % 7
      when 0 then Manypack.unpack(Manypack.pack({ "k" * (choice % 50) => [choice, 1.5] }))
      when 1 then Manypack::Unpacker.new.feed("\x92\x01\xC1").then { |other| other.read rescue nil }
      when 2 then GC.start(full_mark: false) if choice % 5 == 0
      when 3 then Array.new(100) { |i| "#{i}" * 20 }
      end
    end
  end
end
