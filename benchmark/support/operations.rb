# frozen_string_literal: true

# What is done with a payload: packing, unpacking, skipping, reading and writing streams, starting a process.

require "rbconfig"
require "stringio"
require "zlib"

# Something that is measured: what is done, with what, how often, and what shows that it was done. Each has
#
# supported?(contender):: returns true if the contender offers the operation
# argument(contender, payload):: returns what repeat needs, made before the clock runs
# repeat(contender, argument, times):: the work itself
# check(contender, payload):: returns the number of packed bytes for each of the units and, in :same, what all
#                             contenders of one format must have in common; nil if what comes back is not what went in
class Operation
  attr_reader :name

  def initialize(name)
    @name = name
  end

  # Returns the processor time so far, in nanoseconds, of whatever does the work.
  def cpu_time
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
  end

  # Returns how many messages one repetition handles.
  def units(_payload)
    1
  end

  # Returns how often to repeat the work to count its instructions.
  #
  # bytes:: about as many as should be gone through
  # check:: what check answered
  def repetitions(bytes, check)
    (bytes / check[:bytes]).clamp(3, 5_000)
  end
end

# One method of the contender, called with the object or with its bytes.
class Call < Operation
  def initialize(method)
    super
    # A loop of its own for every method, so that each has one call that the JIT can see through.
    instance_eval(<<~RUBY, __FILE__, __LINE__ + 1)
      def repeat(contender, argument, times)
        i = 0
        while i < times
          contender.#{method}(argument)
          i += 1
        end
      end
    RUBY
  end

  def supported?(contender)
    contender.respond_to?(name)
  end
end

# Object to bytes, or bytes to object.
class PackOrUnpack < Call
  LARGE = 50_000 # elements
  # name:: one of the two methods
  # pack:: the method that makes bytes
  # unpack:: the method that reads them
  def initialize(name, pack:, unpack:)
    super(name)
    @pack = pack
    @unpack = unpack
  end

  def argument(contender, payload)
    return contender.argument(name, payload) if contender.respond_to?(:argument)

    name == @pack ? payload : contender.public_send(@pack, payload)
  end

  def check(contender, payload)
    return contender.check(payload) if contender.respond_to?(:check)

    bytes = contender.public_send(@pack, payload)
    object = contender.public_send(@unpack, bytes)
    return unless same?(object, payload) || same?(object, without_symbols(payload))

    { bytes: bytes.bytesize, same: Zlib.crc32(bytes) }
  rescue EncodingError, JSON::GeneratorError
    nil # JSON with a binary
  end

  private

  # By what it shows: a BigDecimal for an Integer, or another encoding, would be equal and not the same. It takes too
  # long for what is large, which is more of what was looked at when it was small.
  def same?(one, other)
    one == other && (LARGE < one.size || one.inspect == other.inspect)
  end

  # A Symbol comes back as a String.
  def without_symbols(object)
    case object
    when Hash then object.to_h { |key, value| [key, without_symbols(value)] }
    when Array then object.map { |value| without_symbols(value) }
    when Symbol then object.name.dup
    else object
    end
  end
end

# Any work with a payload: the block makes it, as a Proc, and returns nil if this contender cannot do it.
class Custom < Operation
  # methods:: which a contender has to have
  def initialize(name, *methods, &make)
    super(name)
    @methods = methods
    @make = make
  end

  def supported?(contender)
    @methods.all? { |method| contender.respond_to?(method) }
  end

  def argument(contender, payload)
    @make.call(contender, payload)
  end

  def repeat(_contender, work, times)
    i = 0
    while i < times
      work.call
      i += 1
    end
  end

  # What comes out has to be the same for all contenders of one format.
  def check(contender, payload)
    work = argument(contender, payload) or return
    { bytes: 0, same: Zlib.crc32(work.call.inspect) }
  rescue EncodingError, JSON::GeneratorError
    nil # JSON with a binary
  end
end

# One message, in one of the ways of Payloads::Calls, which is the payload; or a row of Payloads::Middle.
class OneCall < Custom
  REPETITIONS = 100 # that are counted: the number of instructions is nearly the same each time

  def initialize(name, message, repetitions = REPETITIONS)
    super(name, :library) { |contender, way| way.make.call(contender.library, message) }
    @repetitions = repetitions
  end

  def units(way)
    way.times
  end

  def repetitions(_bytes, _check)
    @repetitions
  end
end

# Bytes to objects of a program's classes, or those to bytes: a contender has a Proc for each case that it can do.
class ToObjects < Custom
  def initialize(name)
    super(name, :typed) { |contender, typed| contender.typed(name, typed) }
  end

  # Objects are compared by their values, and bytes with those of the same format. Hashes have all of the document.
  def check(contender, typed)
    work = contender.typed(name, typed) or return
    result = work.call
    return { bytes: result.bytesize, same: Zlib.crc32(result) } if result.is_a?(String)

    { bytes: 0, same: nil } if result == typed.document || typed.same?(result)
  end
end

# JSON text to bytes or objects, or those to text: a contender has a Proc for each way. A text that is read is a new
# String each time.
class JSONText < Custom
  def initialize(name)
    super(name, :json) { |contender, payload| contender.json(name, payload) }
  end

  def check(contender, payload)
    result = argument(contender, payload).call
    document = payload.respond_to?(:document) ? payload.document : payload
    { bytes: JSON.generate(document).bytesize, same: nil } if same?(result, payload, document)
  end

  private def same?(result, payload, document)
    case name
    when "from_json" then (result.is_a?(String) ? Manypack.unpack(result) : result) == document
    when "load_json" then payload.same?(result)
    else JSON.parse(result) == JSON.parse(JSON.generate(document)) # texts may differ by a digit of a Float
    end
  end
end

# Going past a document without wanting it.
class Skip < Call
  ANSWER = 42

  def initialize
    super("skip")
  end

  def argument(contender, payload)
    contender.bytes(payload)
  end

  # What follows the document must be the next thing there.
  def check(contender, payload)
    bytes = contender.bytes(payload)
    contender.skip(bytes + contender.bytes(ANSWER))
    { bytes: bytes.bytesize, same: nil } if contender.next_object == ANSWER
  end
end

# Some values of a document, found in its bytes in whatever way the library has.
class Look < Operation
  def initialize
    super("look")
  end

  def supported?(contender)
    contender.respond_to?(:looks)
  end

  # Returns what to do, and with what.
  def argument(contender, look)
    [contender.looks.fetch(look.task), contender.source(look.task, look.document)]
  end

  def repeat(_contender, argument, times)
    work, source = argument
    i = 0
    while i < times
      work.call(source)
      i += 1
    end
  end

  # The answers to some tasks are packed.
  def check(contender, look)
    return unless contender.looks.key?(look.task)

    work, source = argument(contender, look)
    found = work.call(source)
    found = contender.unpacked(found) if Payloads::Look::PACKED.include?(look.task)
    { bytes: 0, same: nil } if look.same?(found)
  end
end

# Unpacker#each over a file, or over a String that is fed.
class ReadStream < Custom
  # source:: :file or :string
  def initialize(name, source)
    super(name, :unpacker) do |contender, stream|
      input = input(contender, stream)
      -> { each(contender, input) { |message| message } }
    end
    @source = source
  end

  def units(stream) = stream.count

  def check(contender, stream)
    few = stream.first(1_000)
    read = []
    each(contender, input(contender, few)) { |message| read << message }
    bytes = few.bytes(contender)
    { bytes: bytes.bytesize.fdiv(few.count), same: Zlib.crc32(bytes) } if read.inspect == few.to_a.inspect
  end

  private

  def input(contender, stream) = @source == :file ? stream.file(contender) : stream.bytes(contender)

  def each(contender, input, &block)
    if @source == :file
      File.open(input, "rb") { |file| contender.unpacker(file).each(&block) }
    else
      contender.unpacker.feed(input).each(&block)
    end
  end
end

# Packer#write to an IO, with a flush after every message or with one at the end.
class WriteStream < Custom
  # flush:: :each or :end
  #
  # The block opens a new IO.
  def initialize(name, flush:)
    super(name, :packer) do |contender, stream|
      -> { yield.then { |io| write(contender, stream, io) && io.close } }
    end
    @flush = flush
  end

  def units(stream) = stream.count

  def check(contender, stream)
    few = stream.first(1_000)
    io = StringIO.new(String.new)
    write(contender, few, io)
    { bytes: io.string.bytesize.fdiv(few.count), same: Zlib.crc32(io.string) } if io.string == few.bytes(contender)
  end

  private

  def write(contender, stream, io)
    packer = contender.packer(io)
    stream.each { |message| packer.write(message).flush } if @flush == :each
    stream.each { |message| packer.write(message) } if @flush == :end
    packer.flush
  end
end

# A process that requires the contender and ends.
class Start < Custom
  # Without Bundler, which RubyGems loads at the start of Ruby when any of these says so.
  ENVIRONMENT = ENV.keys.grep(/\A(RUBYOPT|RUBYLIB|GEM_HOME|GEM_PATH|BUNDLE.*)\z/).to_h { |name| [name, nil] }.freeze

  def initialize
    super("start", :feature) do |contender, flags|
      command = command(contender.feature, flags)
      -> { system(*command) || raise("#{command.inspect} fails") }
    end
  end

  # That of the processes that ended.
  def cpu_time
    times = Process.times
    ((times.cutime + times.cstime) * 1e9).round
  end

  def check(contender, flags) = argument(contender, flags).call && { bytes: 0, same: nil }

  private

  # flags:: options of Ruby
  #
  # Returns the command, as spawn takes it.
  def command(feature, flags)
    folders = $LOAD_PATH.map(&:to_s).reject { |folder| Dir[File.join(folder, "#{feature}{,.rb}")].empty? }
    [ENVIRONMENT, RbConfig.ruby, *flags, *folders.map { |folder| "-I#{folder}" }, "-e", "require #{feature.dump}"]
  end
end
