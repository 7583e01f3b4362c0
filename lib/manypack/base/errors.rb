# frozen_string_literal: true

#--
# The errors that Manypack raises. Errors that the msgpack gem has, too, have its names and ancestors.
#++
module Manypack
  # Included in every error that packing or unpacking raises about an object or about bytes: in each DecodeError and
  # each EncodeError, and in Parallel::DeadWorker. Not in errors about arguments, such as an unknown option.
  module Error
    # Called by YAML. Writes the same as for every exception, and the path, but no Record.
    def encode_with(coder)
      coder.tag = "!ruby/exception:#{self.class}"
      written_variables.each { |name, value| coder[name[1..]] = value }
      coder["message"] = message
      coder["backtrace"] = backtrace
      coder["path"] = path if respond_to?(:path) # not an error of Parallel
    end

    private

    # Without the Record, which neither YAML nor Marshal can write.
    def written_variables
      (instance_variables - %i[@record]).to_h { |name| [name, instance_variable_get(name)] }
    end
  end

  # Included in every error about an object that cannot be packed, so that one rescue catches them all. Each is also an
  # error of Ruby's, such as a NoMethodError or a RangeError. An exception that other code raises meanwhile, such as an
  # Encoding::UndefinedConversionError, keeps its class and is extended.
  #
  #   begin
  #     Manypack.pack(object)
  #   rescue Manypack::EncodeError => error
  #     warn "cannot pack #{error.path}: #{error.message}"
  #   end
  module EncodeError
    include Error

    # An object has no to_msgpack and no ext type.
    class NoMethodError < ::NoMethodError
      include EncodeError
    end

    # A number is beyond what MessagePack can express.
    class RangeError < ::RangeError
      include EncodeError
    end

    # Something has the wrong class.
    class TypeError < ::TypeError
      include EncodeError
    end

    # A handler or to_msgpack wrote bytes that are not one object, or an object is unsuitable for packing.
    class ArgumentError < ::ArgumentError
      include EncodeError
    end

    # An object changed while it was packed.
    class RuntimeError < ::RuntimeError
      include EncodeError
    end
  end

  # Included in every error that decoding raises, so that one rescue catches them all.
  #
  #   begin
  #     Manypack.unpack(bytes)
  #   rescue Manypack::DecodeError => error
  #     warn "bad message: #{error.message}"
  #   end
  module DecodeError
    include Error

    # The byte offset in the input, an Integer, at which the offending object starts. #path says where that is.
    #
    # An error from an ext handler has the offset of that ext. So does an error in another message that the handler
    # unpacked; its own offset stays in the text of the error. A TruncatedError then becomes the cause of a
    # MalformedFormatError, because the input around the ext has not ended. Without input, as when you call a handler
    # yourself, the offset is 0.
    #
    #   begin
    #     Manypack.unpack("\x92\x01\xC1")
    #   rescue Manypack::DecodeError => error
    #     error.offset #=> 2
    #   end
    def offset
      @offset || 0
    end

    # For an error in JSON, the line and the column in the text, Integers counted from 1. The column counts characters,
    # not bytes. nil for errors in MessagePack.
    #
    #   begin
    #     Manypack.from_json("[1,\n x]")
    #   rescue Manypack::DecodeError => error
    #     [error.line, error.column] #=> [2, 2]
    #   end
    attr_reader :line, :column
  end

  # Included in errors that belong to another library and have a DecodeError as their cause: they take over its place.
  module Carried # :nodoc:
    include DecodeError

    def offset
      cause.is_a?(DecodeError) ? cause.offset : super
    end

    def path
      cause.is_a?(DecodeError) ? cause.path : super
    end
  end
  private_constant :Carried

  # Included in errors that say that an object of another type was expected.
  module TypeError
  end

  # The input cannot be unpacked as requested.
  class UnpackError < StandardError
    include DecodeError
  end

  # The input is not valid MessagePack, or has more than one object.
  class MalformedFormatError < UnpackError
  end

  # A text is not JSON, has the same key twice in an object, or a number that MessagePack cannot express. The message is
  # one sentence with the path, the line and the column, which a client that sent the text may be shown.
  #
  #   Manypack.from_json('{"users": [1, 2,]}')
  #   # raises JSONError: expected a value, got "]}", at $.users[2], line 1, column 17
  class JSONError < UnpackError
  end

  # The containers in the input are nested more deeply than +max_depth+, or than map keys allow.
  class StackError < UnpackError
  end

  # The next object has another type than the method reads.
  class UnexpectedTypeError < UnpackError
    include TypeError
  end

  # View#[], Manypack.dig or a similar method expects a map or an array where the bytes have something else. It is a
  # TypeError, too. The message has both kinds, the path and the offset.
  #
  #   begin
  #     Manypack.dig(Manypack.pack({"users" => [1]}), "users", "name")
  #   rescue Manypack::DecodeError => error
  #     error.message #=> "expected a map, got array, at $.users, byte 7"
  #   end
  class ShapeError < ::TypeError
    include DecodeError
    include TypeError
  end

  # The input has an ext type that is not registered.
  class UnknownExtTypeError < UnpackError
    include TypeError
  end

  # The input exceeds a limit, or declares that it will.
  #
  # A map may have at most 16 different keys with the same hash value, or at most 4 if they are containers. Only NaN and
  # user classes can exceed that; the limit is then +:max_same_hash+. No option changes it, because unpacking would take
  # quadratic time.
  #
  #   Manypack.unpack("\x93\x01\x02\x03", max_bytes: 3)
  #   # raises LimitError: max_bytes is 3, but the input has at least 4 bytes, at byte 3
  class LimitError < UnpackError
    # The option that sets the limit, a Symbol, or +:max_same_hash+.
    #
    #   error.limit #=> :max_bytes
    attr_reader :limit

    # The amount that the input has or declares, an Integer.
    #
    #   error.value #=> 4
    attr_reader :value
  end

  # The input ends inside an object, or where there should be one. It is an EOFError, as in the msgpack gem.
  # Unpacker#read raises an EOFError that is no TruncatedError at the end of a stream, after a whole object.
  class TruncatedError < ::EOFError
    include DecodeError

    # The byte offset at which the unfinished object starts, an Integer: everything before it is whole. So
    # <code>File.truncate(path, error.start)</code> repairs a log. Like DecodeError#offset, it counts from where reading
    # began. It is 0 if the input is a single object.
    #
    #   begin
    #     Manypack::Unpacker.new.feed("\x01\x02\x93\x01").each(strict: true) { |object| p object } # 1, 2
    #   rescue Manypack::TruncatedError => error
    #     error.start  #=> 2
    #     error.offset #=> 4
    #   end
    def start
      @start || 0
    end
  end

  # The input is well formed, but not of the type that it was loaded as.
  #
  #   Point = Struct.new(:x, :y)
  #   POINT = Manypack::Record.new(Point, x: Float, y: Float)
  #   POINT.load(Manypack.pack({"x" => 1.5, "y" => "2"}))
  #   # raises RecordError: expected Float, got str "2", at $.y, byte 14 (Point#y)
  class RecordError < UnpackError
    include Guesses

    # Where in the message the error is, a String; of a missing member, where it should be. A key of more than 128 bytes
    # is cut; the message shows a long path without its middle.
    #
    #   error.path #=> "$.y"
    attr_reader :path

    # The innermost Record around the error, or nil.
    #
    #   error.record.klass #=> Point
    attr_reader :record

    # The member of that Record, a Symbol, or nil if the Record as a whole is wrong.
    #
    #   error.member #=> :y
    attr_reader :member

    # The same, as version 0.9.0 called it.
    alias field member

    # The kind of error, a Symbol, by which a program can translate it: +:type+, +:missing+, +:unknown+ (a key or an
    # element of no member), +:tag+ (no part of the union has it), +:duplicate+, +:constructor+ (of the class, or a
    # default that is called), +:conversion+, +:limit+, or the constraint: +:range+, +:length+, +:pattern+, +:unique+,
    # +:multiple_of+ or +:check+.
    #
    #   error.code #=> :type
    attr_reader :code

    # The expected value and the actual one, in words for whoever sent the message: Strings, or nil. They name no class
    # of the program; a long text is cut.
    #
    #   error.expected #=> "a number"
    #   error.got      #=> "\"2\""
    attr_reader :expected, :got

    # All errors of the message, an Array, if it was loaded with <code>collect: true</code>; otherwise only this one.
    #
    #   error.errors.map(&:path) #=> ["$.y"]
    def errors
      @errors || [self]
    end

    # Returns the path as a JSON Pointer (RFC 6901), or nil for a path that is cut, or has a key that no JSON has.
    #
    #   error.pointer #=> "/y"
    def pointer
      steps = (@longer_path || path).to_s.scan(STEP)
      steps.map! { |name, quoted, number| name || number || (quoted && unquoted(quoted)) }
      steps.map { |step| "/#{step.gsub("~", "~0").gsub("/", "~1")}" }.join unless steps.include?(nil)
    end

    # Returns one sentence for whoever sent the message: no bytes, no class of the program. It quotes the exception of a
    # class's constructor only if that is an ArgumentError. If there are several errors, it describes the first three.
    #
    #   error.sentence #=> "y must be a number, is \"2\""
    def sentence
      whole = code == :check && !predicate.start_with?("must ")
      return whole && root? ? predicate : "#{subject}#{":" if whole} #{predicate}" unless @errors

      "#{@errors.size} errors: #{@errors.first(3).map(&:sentence).join("; ")}#{"; ..." if @errors.size > 3}"
    end

    # Returns all errors as Hashes, for an answer in JSON. The message continues the name of the member, as ActiveModel
    # expects it: <code>errors.add(one[:member] || :base, one[:code], message: one[:message])</code>.
    #
    #   error.details
    #   #=> [{code: :type, path: "$.y", pointer: "/y", expected: "a number", got: "\"2\"", member: :y,
    #   #     message: "must be a number, is \"2\""}]
    def details
      errors.map { |error| error.detail }
    end

    # Called by Marshal, which has no marshal_load of exceptions.
    def self._load(bytes)
      message, backtrace, variables = Marshal.load(bytes)
      error = allocate # a subclass may have its own initialize
      Exception.instance_method(:initialize).bind_call(error, message)
      error.set_backtrace(backtrace)
      variables.each { |name, value| error.instance_variable_set(name, value) }
      error
    end
    private_class_method :_load

    protected

    def detail
      { code: code, path: path, pointer: pointer, expected: expected, got: got, member: member, message: predicate }
    end

    private

    # Matches a step of a path. All groups are nil for a step that a JSON Pointer cannot have, such as [nil] or ...
    STEP = /\.([[:alnum:]_]+)|\["((?:[^"\\]|\\.)*)"\]|\[(-?\d[\d.e+-]*)\]|\[[^\]]*\]|\.{3}/
    HAVE = %i[length unique].freeze
    private_constant :STEP, :HAVE

    def root?
      path.nil? || path == "$"
    end

    def subject
      root? ? "the value" : Excerpt.of(path.delete_prefix("$").delete_prefix("."))
    end

    # The sentence without its subject.
    def predicate
      return @reason if @reason
      return "is #{code}" if %i[missing unknown].include?(code)
      return "is not valid" unless expected

      wanted = "must #{HAVE.include?(code) ? "have" : "be"} #{expected}"
      wanted = wanted.sub("be a match of", "match").sub(/be a value (of )?/, "be ")
      return wanted if got.nil? || code == :unique

      "#{wanted}, #{code == :length && got.match?(/\A\d/) ? "has" : "is"} #{got}"
    end

    # Returns a key in a path without its escapes, or nil if it is no text.
    def unquoted(text)
      text.gsub(/\\(?:u(\h{4})|(["\\])|x)/) { $1 ? [$1.hex].pack("U") : $2 || (return nil) }
    end

    # Called by Marshal, which cannot write a Record: #record of the copy is nil.
    def _dump(_depth)
      Marshal.dump([message, backtrace, written_variables])
    end
  end

  # The object to pack is nested more deeply than +max_depth+, or contains itself.
  class NestingError < StandardError
    include EncodeError
  end
end
