# frozen_string_literal: true

#--
# Manypack::Path: where in a message something is.
#++
module Manypack
  # The places in a message that a path names, such as <code>$.statuses[*].user.screen_name</code>. A Path is parsed
  # once, frozen, and shareable between Ractors.
  #
  # A path starts with <code>$</code>, the message, and goes on with
  #
  # <code>.name</code>:: the value of a str key of a map; a name ends before <code>.</code>, <code>[</code> or
  #                      white space
  # <code>["any name"]</code>:: the same for any key, with the escapes of a JSON string; also in single quotes
  # <code>[3]</code>:: an element of an array, from the end if it is negative; in a map the value of that Integer key
  # <code>[1.5]</code>, <code>[nil]</code>, <code>[true]</code>, <code>[false]</code>:: the value of that key of a map
  # <code>["\\xFF"]</code>:: the value of a key that is not text, a bin or an invalid str, with its bytes escaped
  # <code>[*]</code>, <code>.*</code>:: every element of an array, every value of a map
  #
  # The errors of Manypack show their place in this form, so a Path finds it again. Keys that are arrays, maps, exts or
  # NaN have no step: an error shows them as in <code>[array]</code>, which a Path refuses.
  #
  # Parts of a message that have no such place are skipped: a Path that finds nothing yields nothing.
  #
  #   bytes = Manypack.pack({"users" => [{"name" => "Ada"}, {"name" => "Matz"}]})
  #   Manypack::Path.new("$.users[*].name").to_a(bytes)  #=> ["Ada", "Matz"]
  #   Manypack::Path.new("$.users[-1].name").first(bytes) #=> "Matz"
  class Path
    # Every element or value: the step <code>[*]</code>.
    #
    #   Manypack::Path.new("$.users[*]").steps #=> ["users", Manypack::Path::ALL]
    ALL = :*

    # An Array of Strings (keys), Integers (indices, or keys that are Integers), ALL, and Floats, true, false and nil
    # (keys that are these).
    #
    #   Manypack::Path.new("$.users[-1].name").steps #=> ["users", -1, "name"]
    def steps
      @steps || raise(ArgumentError, "uninitialized #{self.class}")
    end

    # Parses a String. Raises ArgumentError for a String that is not a path, with a mark at the place, and TypeError for
    # anything but a String.
    #
    #   Manypack::Path.new('$["first name"]').steps #=> ["first name"]
    def initialize(path)
      @steps = Ractor.make_shareable(Parser.new(path).steps)
      freeze
    end

    # Returns the Path of the given steps: Strings, Symbols, Integers, Floats, true, false, nil and ALL. Raises
    # TypeError for any other.
    #
    #   Manypack::Path.of("users", 0, "name").to_s #=> "$.users[0].name"
    def self.of(*steps)
      new("$#{steps.map { |step| Step.to_s(step) }.join}")
    end

    # Returns true if a step is ALL.
    #
    #   Manypack::Path.new("$[*].id").all? #=> true
    def all?
      steps.include?(ALL)
    end

    # Yields what the path finds, in the order of the bytes: containers as Views, other values built. Without a block it
    # returns an Enumerator.
    #
    # source:: a message, as a String of packed bytes or as a View; or a stream, whose messages are searched one by one:
    #          anything with <code>readpartial</code> or <code>read</code>, or an Unpacker with <code>as: :view</code>
    #
    # The options are those of View.new, for an io those of Manypack.split; a View and an Unpacker have their own.
    # Raises a DecodeError where the bytes are not valid, TruncatedError if an io ends inside a message, ArgumentError
    # for an Unpacker of anything but Views, and TypeError for any other source.
    #
    #   bytes = Manypack.pack([{"id" => 1}, {}, {"id" => 2}])
    #   Manypack::Path.new("$[*].id").each(bytes) { |id| puts id }
    #
    #   stream = StringIO.new(Manypack.pack({"id" => 1}) + Manypack.pack({"id" => 2}))
    #   Manypack::Path.new("$.id").each(stream).to_a #=> [1, 2]
    def each(source, **options, &block)
      return enum_for(:each, source, **options) unless block

      each_view(source, options) { |view| Internal.search(view, steps, &block) }
      self
    end

    # Returns the first of what Path#each yields, or nil.
    #
    #   Manypack::Path.new("$[*].id").first(Manypack.pack([{}, {"id" => 2}])) #=> 2
    def first(source, **options)
      each(source, **options) { |value| return value }
      nil
    end

    # Returns all that Path#each yields, an Array.
    #
    #   Manypack::Path.new("$[*].id").to_a(Manypack.pack([{"id" => 1}, {"id" => 2}])) #=> [1, 2]
    def to_a(source, **options)
      found = []
      each_view(source, options) { |view| found.concat(Internal.search(view, steps)) }
      found
    end

    # Returns the path in its shortest form, a String.
    #
    #   Manypack::Path.new("$['users'][*]").to_s #=> "$.users[*]"
    def to_s
      "$#{steps.map { |step| Step.to_s(step) }.join}"
    end

    # Returns a String that names the path.
    #
    #   Manypack::Path.new("$.a").inspect #=> "#<Manypack::Path $.a>"
    def inspect
      @steps ? "#<#{self.class} #{self}>" : super
    end

    # Returns true for a Path with the same steps.
    #
    #   Manypack::Path.new("$.a") == Manypack::Path.new("$['a']") #=> true
    def ==(other)
      other.is_a?(Path) && steps == other.steps
    end
    alias eql? ==

    # Returns an Integer, the same for equal Paths.
    #
    #   Manypack::Path.new("$.a").hash == Manypack::Path.new("$['a']").hash #=> true
    def hash
      [Path, steps].hash
    end

    private

    def each_view(source, options, &block)
      case source
      when View, Unpacker
        raise ArgumentError, "a #{source.class} has its own options" unless options.empty?

        source.is_a?(View) ? yield(source) : each_view_of(source, &block)
      else
        return Manypack.split(source, as: :view, **options, &block) unless source.respond_to?(:to_str)

        yield View.new(source, **options)
      end
    end

    def each_view_of(unpacker)
      unpacker.each do |view|
        raise ArgumentError, "the Unpacker needs the option as: :view" unless view.is_a?(View)

        yield view
      end
    end

    # A step of a path as text.
    module Step # :nodoc:
      # A name that needs no quotes after the dot.
      NAME = /[^.\[\]\s*"'$][^.\[\]\s]*/

      def self.to_s(step)
        case step
        when ALL then "[*]"
        when Integer, Float, true, false then "[#{step}]"
        when nil then "[nil]"
        when Symbol then to_s(step.name)
        when String then plain?(step) ? ".#{step}" : "[#{quote(step)}]"
        else raise ::TypeError, "a step of a path is a String, number, true, false, nil or ALL, got #{step.class}"
        end
      end

      # Characters that a reader would not see, or that change how the rest is shown. error_path.c has the same list.
      HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/

      def self.plain?(name)
        text?(name) && name.match?(/\A#{NAME}\z/o) && !name.match?(HIDDEN)
      end

      def self.text?(name)
        name.encoding == Encoding::BINARY ? name.ascii_only? : name.valid_encoding?
      end

      def self.quote(name)
        return %("#{name.b.gsub(/["\\]|[^ -~]/n) { |byte| escape(byte) }}").encode(Encoding::UTF_8) unless text?(name)

        %("#{name.encode(Encoding::UTF_8).gsub(/["\\]|#{HIDDEN}/o) { |char| escape(char) }}")
      end

      def self.escape(char)
        return format("\\x%02X", char.ord) if char.encoding == Encoding::BINARY && char.ord >= 0x7f

        Parser::ESCAPES.key(char)&.then { |letter| "\\#{letter}" } || format("\\u%04x", char.ord)
      end
    end

    # Reads a path from left to right. It does without StringScanner, which every program that requires Manypack would
    # have to load.
    class Parser # :nodoc:
      ESCAPES = {"n" => "\n", "r" => "\r", "t" => "\t", "b" => "\b", "f" => "\f", "/" => "/", "\\" => "\\", '"' => '"',
                 "'" => "'"}.freeze

      # Text that needs no escape, for each kind of quotes.
      PLAIN = {'"' => /\A[^\\"]+/, "'" => /\A[^\\']+/}.freeze

      def initialize(path)
        raise ::TypeError, "a path is a String, got #{path.class}" unless path.is_a?(String)

        @path = @rest = path.encode(Encoding::UTF_8)
        raise ArgumentError, "a path is UTF-8, got #{path.inspect}" unless @path.valid_encoding?
      rescue EncodingError
        raise ArgumentError, "a path is UTF-8, got #{path.inspect}"
      end

      def steps
        take(/\A\$/) or expected("a path starts with $")
        steps = []
        steps << step until @rest.empty?
        steps
      end

      private

      # Removes what a pattern matches at the start of the rest, and returns it; nil if it does not match.
      def take(pattern)
        match = pattern.match(@rest) or return
        @rest = match.post_match
        match[0]
      end

      def step
        expected("the middle of the path is missing") if @rest.start_with?("...")
        if take(/\A\./) then take(/\A\*/) ? ALL : name
        elsif take(/\A\[/) then bracket
        else expected("expected . or [")
        end
      end

      def name
        take(/\A#{Step::NAME}/) or expected("expected a name or *")
      end

      def bracket
        step = take(/\A\*/) ? ALL : quoted || simple_key
        expected("the rest of the key is missing: it was too long for an error") if @rest.start_with?("...]")
        take(/\A\]/) or expected("expected ]")
        step
      end

      SIMPLE = {"nil" => nil, "true" => true, "false" => false, "Infinity" => Float::INFINITY,
                "-Infinity" => -Float::INFINITY}.freeze
      FLOAT = /\A-?\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)/

      def simple_key
        expected("an array, a map, an ext or NaN is no step") if @rest.match?(/\A(?:array|map|ext|float64)\]/)
        if (word = take(/\A(?:nil|true|false|-?Infinity)(?=\])/)) then SIMPLE[word]
        elsif (float = take(FLOAT)) then Float(float)
        else index
        end
      end

      def quoted
        quote = take(/\A["']/) or return
        name = +""
        byte(name) || add(name, character(quote)) until @rest.start_with?(quote)
        take(/\A./)
        name
      end

      # Appends an escaped byte. It makes the name binary, because the name is not text.
      def byte(name)
        digits = take(/\A\\x\h\h/) or return
        name.force_encoding(Encoding::BINARY) << digits[2, 2].hex
      end

      def add(name, text)
        name << (name.encoding == Encoding::BINARY ? text.b : text)
      end

      def character(quote)
        take(PLAIN[quote]) || escape || expected("expected #{quote}")
      end

      def escape
        take(/\A\\/) or return
        letter = ESCAPES[@rest[0]]
        return code_point || expected("unknown escape") unless letter

        take(/\A./)
        letter
      end

      # As in JSON, a character beyond U+FFFF is a pair of surrogates.
      def code_point
        if (pair = take(/\Aud[89ab]\h\h\\ud[c-f]\h\h/i))
          [0x10000 + ((pair[1, 4].hex & 0x3ff) << 10 | pair[7, 4].hex & 0x3ff)].pack("U")
        elsif (one = take(/\Au(?!d[89a-f])\h{4}/i))
          [one[1, 4].hex].pack("U")
        end
      end

      def index
        take(/\A-?(?:0|[1-9]\d*)/)&.to_i or expected("expected an index, * or a name in quotes")
      end

      def expected(what)
        raise ArgumentError, "#{what}\n  #{@path}\n  #{" " * (@path.size - @rest.size)}^"
      end
    end
    private_constant :Step, :Parser
  end
end
