# frozen_string_literal: true

#--
# The ext types of Factory#register_common, with the numbers and bytes of ActiveSupport::MessagePack.
#++
module Manypack
  # Handlers are methods of this module, so that they can be called in every Ractor.
  #
  # Unpackers check what they read: Rational("1e1000000000"), Set.new(1..10**12) and BigDecimal._load("1000000000:1")
  # would all accept a body of a few bytes, and return after minutes or never.
  module CommonTypes # :nodoc:
    extend self

    # The ext type of each name, its class, the library that defines the class, and options of Factory#register_type.
    # The numbers 8, 9, 10, 17 and 18 belong to classes of ActiveSupport.
    TABLE = Ractor.make_shareable({
      symbol: [0, "Symbol", nil, { optimized_symbols_parsing: true }],
      bigint: [1, "Integer", nil, { oversized_integer_extension: true }],
      bigdecimal: [2, "BigDecimal", "bigdecimal", {}],
      rational: [3, "Rational", nil, { recursive: true }],
      complex: [4, "Complex", nil, { recursive: true }],
      datetime: [5, "DateTime", "date", { recursive: true }],
      date: [6, "Date", "date", { recursive: true }],
      time: [7, "Time", nil, { recursive: true }],
      range: [11, "Range", nil, { recursive: true }],
      set: [12, "Set", "set", { recursive: true }],
      uri: [13, "URI::Generic", "uri", {}],
      ipaddr: [14, "IPAddr", "ipaddr", { recursive: true }],
      pathname: [15, "Pathname", "pathname", {}],
      regexp: [16, "Regexp", nil, {}]
    })

    # Returns the arguments of Factory#register_type for a name, and loads the library of the class.
    def registration(name)
      type, class_name, library, options = TABLE.fetch(name)
      Library.load(library, user: "register_common(#{name.inspect})", constant: class_name) if library
      [type, Object.const_get(class_name), { **handlers(name), **options }]
    end

    # Raises ArgumentError for a name that the table lacks, and for no names at all.
    def check(names)
      unknown = names - TABLE.keys
      return if unknown.empty? && names.any?

      problem = unknown.empty? ? "no type given" : "unknown type #{unknown.map(&:inspect).join(", ")}"
      problem += "; timestamp: true is an option of packing and unpacking, and :time a type" if unknown == [:timestamp]
      known = TABLE.keys.map(&:inspect).join(", ")
      Arguments.refuse(ArgumentError.new("#{problem}; known types are #{known}"))
    end

    # BigDecimal#_dump writes a count of digits that depends on how the number was computed. Reading the number from its
    # shortest text first gives equal numbers equal bytes.
    def write_bigdecimal(decimal)
      BigDecimal(decimal.to_s)._dump
    end

    # The body is a count of digits, which BigDecimal._load would allocate, a colon, and the number.
    def read_bigdecimal(body) = build("BigDecimal") { BigDecimal(body[/\A\d+:(.+)\z/, 1]) }

    # Writes no denominator for zero.
    def write_rational(rational, packer)
      packer.write(rational.numerator)
      packer.write(rational.denominator) unless rational.numerator.zero?
    end

    def read_rational(unpacker)
      numerator = read_integer(unpacker, "Rational")
      denominator = numerator.zero? ? 1 : read_integer(unpacker, "Rational")
      build("Rational") { Rational(numerator, denominator) }
    end

    def write_complex(complex, packer)
      packer.write(complex.real)
      packer.write(complex.imaginary)
    end

    def read_complex(unpacker)
      real = unpacker.read
      imaginary = unpacker.read
      build("Complex") { Complex.rect(real, imaginary) }
    end

    def write_datetime(datetime, packer)
      packer.write(datetime.jd)
      packer.write(datetime.hour)
      packer.write(datetime.min)
      packer.write(datetime.sec)
      write_rational(datetime.sec_fraction, packer)
      write_rational(datetime.offset, packer)
    end

    def read_datetime(unpacker)
      day, hour, minute, second = Array.new(4) { read_integer(unpacker, "DateTime") }
      fraction = read_rational(unpacker)
      offset = read_rational(unpacker)
      build("DateTime") { DateTime.jd(day, hour, minute, second + fraction, offset) }
    end

    # Refuses a DateTime, which is a Date: it would lose its time.
    def write_date(date, packer)
      raise ArgumentError, "a DateTime cannot be packed as a Date: register :datetime too" if date.is_a?(DateTime)

      packer.write(date.jd)
    end

    def read_date(unpacker) = Date.jd(read_integer(unpacker, "Date"))

    def write_time(time, packer)
      packer.write(time.tv_sec)
      packer.write(time.tv_nsec)
      packer.write(time.utc_offset)
    end

    def read_time(unpacker)
      sec, nsec, offset = Array.new(3) { read_integer(unpacker, "Time") }
      raise MalformedFormatError, "not the body of a Time: #{nsec} nanoseconds" unless (0...1_000_000_000).cover?(nsec)

      build("Time") { ::Time.at(sec, nsec, :nanosecond, in: offset) }
    end

    def write_range(range, packer)
      packer.write(range.begin)
      packer.write(range.end)
      packer.write(range.exclude_end?)
    end

    def read_range(unpacker)
      first = unpacker.read
      last = unpacker.read
      exclude_end = unpacker.read
      unless [true, false].include?(exclude_end)
        raise MalformedFormatError, "not the body of a Range: #{exclude_end.class} instead of true or false"
      end

      build("Range") { Range.new(first, last, exclude_end) }
    end

    # Equal Sets may have their elements in different orders. The canonical form sorts them by their bytes.
    def write_set(set, packer)
      elements = set.to_a
      forms = elements.map { |element| Internal.canonical_bytes(packer, element) or break }
      return packer.write(elements) unless forms

      packer.write_array_header(elements.size)
      forms.sort.each { |form| packer.buffer.write(form) }
    end

    def read_set(unpacker)
      elements = unpacker.read
      raise MalformedFormatError, "the body of a Set is an array, not #{elements.class}" unless elements.is_a?(Array)

      Arguments.check_key_hashes(elements, 0) # a Set of many NaNs takes quadratic time, as a Hash does
      Set.new(elements)
    end

    # A program can set a part of a URI to other characters, but URI.parse refuses the text then.
    URI_CHARACTERS = %r{\A[\w!#$%&'()*+,\-./:;=?@\[\]~]*\z}
    private_constant :URI_CHARACTERS

    def write_uri(uri)
      text = uri.to_s
      return text if text.ascii_only? && text.match?(URI_CHARACTERS)

      raise EncodingError, "a URI with characters that have to be escaped cannot be packed"
    end

    def read_uri(body) = build("URI") { URI.parse(text(body)) }

    def write_ipaddr(ipaddr, packer)
      whole = ipaddr.prefix == (ipaddr.ipv6? ? 128 : 32)
      packer.write(whole ? ipaddr.to_s : "#{ipaddr}/#{ipaddr.prefix}")
    end

    def read_ipaddr(unpacker)
      address = unpacker.read
      build("IPAddr") { IPAddr.new(address) }
    end

    def write_pathname(pathname)
      path = pathname.to_s
      utf8(path) == path ? path : refuse("Pathname", path.encoding)
    end

    # A file name may be any bytes. Ruby marks the names that it lists as UTF-8, even if they are not valid.
    def read_pathname(body) = build("Pathname") { Pathname.new(utf8(body)) }

    # Refuses a Regexp with a timeout, which would come back without it.
    def write_regexp(regexp)
      raise ArgumentError, "a Regexp with a timeout cannot be packed" if regexp.respond_to?(:timeout) && regexp.timeout

      refuse("Regexp", regexp.encoding) unless same_regexp_again?(regexp)

      regexp.to_s
    end

    def read_regexp(body) = build("Regexp") { regexp_of(body) }

    def read_integer(unpacker, class_name)
      value = unpacker.read
      return value if value.is_a?(Integer)

      raise MalformedFormatError, "not the body of a #{class_name}: #{value.class} instead of Integer"
    end

    private

    # Turns any error of a constructor into one about the input, except the one that the class cannot be used in a
    # Ractor.
    def build(class_name)
      yield
    rescue StandardError => error
      raise if error.is_a?(Ractor::Error)

      reason = Excerpt.of(error.message)
      cause = error if reason == error.message # the cause of an excerpt would carry the whole message
      raise MalformedFormatError, "not the body of a #{class_name}: #{reason}", cause: cause
    end

    def refuse(class_name, encoding)
      raise EncodingError, "a #{class_name} in #{encoding} cannot be packed: it would come back different"
    end

    def utf8(bytes) = bytes.dup.force_encoding(Encoding::UTF_8)

    # Returns a body as UTF-8 if it is valid: bodies are binary, but most text in them is UTF-8.
    def text(body)
      text = utf8(body)
      text.valid_encoding? ? text : body
    end

    # Returns true if the text of a Regexp makes an equal Regexp again. The text does not name the encoding.
    def same_regexp_again?(regexp)
      return false unless regexp.encoding.ascii_compatible?

      again = regexp_of(regexp.to_s.b)
      again.to_s == regexp.to_s && encoding_of(again) == encoding_of(regexp)
    rescue RegexpError
      false
    end

    # A Regexp in US-ASCII matches text in every encoding unless its encoding is fixed.
    def encoding_of(regexp) = [regexp.encoding, regexp.fixed_encoding?]

    # Escaped bytes, as in /\xFF/n, make a Regexp in BINARY that UTF-8 does not allow.
    def regexp_of(body)
      unwrapped(text(body))
    rescue RegexpError
      unwrapped(body.b)
    end

    # Regexp#to_s wraps the source in a group with the options, and escapes slashes.
    WRAPPED = /\A\(\?([mix]*)(?:-[mix]+)?:(.*)\)\z/m
    OPTIONS = { "m" => Regexp::MULTILINE, "i" => Regexp::IGNORECASE, "x" => Regexp::EXTENDED }.freeze
    private_constant :WRAPPED, :OPTIONS

    # Returns the Regexp whose to_s is the text or, if there is none, the Regexp whose source is the text.
    def unwrapped(text)
      options, source = text.match(WRAPPED)&.captures
      regexp = literal(source, OPTIONS.values_at(*options.chars).sum) if source
      regexp&.to_s == text ? regexp : Regexp.new(text)
    rescue RegexpError # the group ended early, so the source is not a Regexp
      Regexp.new(text)
    end

    def literal(source, options)
      Regexp.new(source.gsub(/\\./m) { |escape| escape == "\\/" ? "/" : escape }, options)
    end

    # Most types are packed and unpacked by methods of this module.
    def handlers(name)
      case name
      when :symbol then { packer: :to_msgpack_ext, unpacker: :from_msgpack_ext }
      when :bigint then { packer: Bigint.method(:to_msgpack_ext), unpacker: Bigint.method(:from_msgpack_ext) }
      else { packer: method(:"write_#{name}"), unpacker: method(:"read_#{name}") }
      end
    end
  end
end
