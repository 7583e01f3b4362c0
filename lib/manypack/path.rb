# frozen_string_literal: true

#--
# Manypack::Path: a query for values of a message.
#++
module Manypack
  # A query for values of a message, in the language JSONPath (RFC 9535): <code>$.statuses[*].user.screen_name</code>,
  # <code>$..price</code>, <code>$.items[?@.price < 10].name</code>. A Path is parsed once, frozen, and shareable
  # between Ractors. It finds values in one walk over the bytes, and builds nothing else.
  #
  # A path starts with <code>$</code>, the message, and goes on with
  #
  # <code>.name</code>, <code>["any name"]</code>:: the value of a str key of a map
  # <code>[3]</code>, <code>[-1]</code>:: an element of an array; in a map the value of that Integer key
  # <code>[1:5]</code>, <code>[::-1]</code>:: some elements of an array
  # <code>[*]</code>, <code>.*</code>:: every element of an array, every value of a map
  # <code>[?@.id > 5]</code>:: the elements or values for which a condition is true
  # <code>["a", 0, ?@.id]</code>:: what any of these finds
  # <code>..name</code>, <code>..[0]</code>:: the same in every map and array inside
  #
  # docs/paths.md has all of it, and says what differs in MessagePack, such as keys that are not text.
  #
  # The errors of Manypack show their place in this form, and Path.from finds it again. Keys that are arrays, maps, exts
  # or NaN have no step: an error shows them as in <code>[array]</code>, which a Path refuses.
  #
  # Parts of a message that have no such place are skipped: a Path that finds nothing yields nothing.
  #
  #   bytes = Manypack.pack({"users" => [{"name" => "Ada"}, {"name" => "Matz"}]})
  #   Manypack::Path.new("$.users[*].name").to_a(bytes)  #=> ["Ada", "Matz"]
  #   Manypack::Path.new("$.users[-1].name").first(bytes) #=> "Matz"
  class Path
    include Value
    include Guesses
    extend Guesses

    # Every element or value: the step <code>[*]</code>.
    #
    #   Manypack::Path.new("$.users[*]").steps #=> ["users", Manypack::Path::ALL]
    ALL = :*

    # How many objects the conditions of a path look at, unless +max_looks+ says otherwise.
    MAX_LOOKS = 10_000_000

    # Steps that Path.new takes instead of a text to parse.
    Steps = Struct.new(:steps)
    private_constant :Steps

    # An Array of Strings (keys), Integers (indices, or keys that are Integers), ALL, and Floats, true, false and nil
    # (keys that are these). Everything else in a path is an Array, which only a Path reads.
    #
    #   Manypack::Path.new("$.users[-1].name").steps #=> ["users", -1, "name"]
    def steps
      @steps || raise(ArgumentError, "uninitialized #{self.class}")
    end

    # How many objects its conditions may look at in one message, an Integer.
    #
    #   Manypack::Path.new("$..[?@..id]", max_looks: 1000).max_looks #=> 1000
    def max_looks
      @max_looks || MAX_LOOKS
    end

    # Parses a String.
    #
    # functions:: a Hash of names and Functions, which conditions can call
    # max_looks:: how many objects conditions may look at in one message: a condition inside <code>..</code> that looks
    #             down, such as <code>$..[?@..id]</code>, looks at an object again for each container around it. A
    #             search that needs more raises LimitError
    # dynamic_patterns:: true to let +match+ and +search+ take a pattern from the message, as in
    #                    <code>$[?search(@.name, $.pattern)]</code>, which is refused otherwise. It counts as looks: the
    #                    bytes of the text, times the size of the pattern with all its counts written out
    #
    # Raises ArgumentError for a String that is not a path, with a mark at the place, and TypeError for anything but a
    # String.
    #
    #   Manypack::Path.new('$["first name"]').steps #=> ["first name"]
    def initialize(path, functions: {}, max_looks: MAX_LOOKS, dynamic_patterns: false)
      Arguments.refuse_block(self, :initialize) if block_given?
      unless max_looks.is_a?(Integer) && max_looks >= 0
        raise ArgumentError, "max_looks is an Integer from 0 on, got #{max_looks.inspect}"
      end

      @steps = frozen(path.is_a?(Steps) ? path.steps : parsed(path, checked(functions), dynamic_patterns))
      @max_looks = max_looks
      freeze
    end

    # Returns the Path of the given steps: Strings, Symbols, Integers, Floats, true, false, nil and ALL. Raises
    # TypeError for any other.
    #
    #   Manypack::Path.of("users", 0, "name").to_s #=> "$.users[0].name"
    def self.of(*steps)
      new(Steps.new(steps.map { |step| step_of(step) }))
    end

    # Returns the step that the parser would read from its text.
    def self.step_of(step)
      case step
      when ALL, Integer, true, false, nil then step
      when Symbol, String then Text.text_of(step.is_a?(Symbol) ? step.name : step)
      when Float
        raise ArgumentError, "no key is equal to NaN" if step.nan?

        step
      else Text.key(step) # raises
      end
    end
    private_class_method :step_of

    # Returns the Path for anything that View#query and View#splice take as one: a Path; an Array of steps; a Symbol,
    # the name of a key; or a String, in which the <code>$</code> at the start may be missing, with the dot after it or
    # without. It also reads texts that Path.new refuses, as the standard does, although they have a meaning:
    # <code>$.0</code>, <code>$[1.0]</code>, Integer keys beyond 2**53. So it reads the path of every error, and
    # whatever Path#to_s returns. Raises what Path.new and Path.of raise.
    #
    #   Manypack::Path.from("users[0].name") == Manypack::Path.new("$.users[0].name") #=> true
    def self.from(path)
      case path
      when Path then path
      when Symbol then of(path)
      when Array then of(*path)
      else
        raise ::TypeError, "a path is a String, got #{path.class}" unless path.is_a?(String)

        Internal.parsed_path(path) || Internal.keep_parsed_path(path, parsed(path))
      end
    end

    def self.parsed(path)
      start = {"$" => "", "[" => "$", "." => "$"}.fetch(path[0], "$.")
      new(Steps.new(Parser.new("#{start}#{path}", loose: true).steps))
    end
    private_class_method :parsed

    # Returns an All of several Paths, which finds the values of all of them in one walk over a message.
    #
    # paths:: a Hash of names and what Path.from takes
    #
    # Raises what Path.from raises.
    #
    #   all = Manypack::Path.all(ids: "$[*].id", names: "$[*].name")
    #   all.read(Manypack.pack([{"id" => 1, "name" => "Ada"}])) #=> {ids: [1], names: ["Ada"]}
    def self.all(paths)
      All.new(paths)
    end

    # Returns true if the path can find more than one value: if any of its steps is not the name of a key or an index.
    #
    #   Manypack::Path.new("$[*].id").all? #=> true
    def all?
      steps.any? { |step| step == ALL || step.is_a?(Array) }
    end

    # Yields what the path finds: containers as Views, other values built. The order is that of the bytes, except that
    # <code>..</code> finds what is in a container before what is in its parts, and that selectors in brackets find
    # values one after the other. Without a block it returns an Enumerator.
    #
    # source:: a message, as a String of packed bytes or as a View; or a stream, whose messages are searched one by one:
    #          anything with <code>readpartial</code> or <code>read</code>, or an Unpacker with <code>as: :view</code>
    #
    # The options are those of View.new, for an io those of Manypack.split; a View and an Unpacker have their own.
    # Raises a DecodeError where the bytes are not valid, also for bytes after the message if the search reads to its
    # end, as it does unless its first step is an index, a slice, or several selectors; TruncatedError if an io ends
    # inside a message, LimitError if conditions look at more than Path#max_looks objects, ArgumentError for an Unpacker
    # of anything but Views and for the name of a file, and TypeError for any other source.
    #
    #   bytes = Manypack.pack([{"id" => 1}, {}, {"id" => 2}])
    #   Manypack::Path.new("$[*].id").each(bytes) { |id| puts id }
    #
    #   stream = StringIO.new(Manypack.pack({"id" => 1}) + Manypack.pack({"id" => 2}))
    #   Manypack::Path.new("$.id").each(stream).to_a #=> [1, 2]
    def each(source, **options, &block)
      return enumerator(:each, source, options) unless block

      view = view_of(source, options)
      if view then Internal.search(view, steps, max_looks, :each, &block)
      else each_view(source, options) { |part| Internal.search(part, steps, max_looks, :each, &block) }
      end
      self
    end

    # Yields each value that Path#each yields, together with its place: a normalized path, a String in the form that the
    # standard defines. Without a block it returns an Enumerator. Raises what Path#each raises.
    #
    #   bytes = Manypack.pack({"users" => [{"name" => "Ada"}]})
    #   Manypack::Path.new("$..name").each_with_path(bytes).to_a #=> [["Ada", "$['users'][0]['name']"]]
    def each_with_path(source, **options)
      return enumerator(:each_with_path, source, options) unless block_given?

      each_view(source, options) do |view|
        Internal.search(view, steps, max_looks, :places) { |value, keys| yield value, Text.normalized(keys) }
      end
      self
    end

    # Returns the normalized paths of all values that Path#each yields, an Array of Strings. Path.from of such a path
    # finds that one value. Builds no values. Raises what Path#each raises.
    #
    #   Manypack::Path.new("$[?@ > 1]").paths(Manypack.pack([1, 2, 3])) #=> ["$[1]", "$[2]"]
    def paths(source, **options)
      Arguments.refuse_block(self, :paths) if block_given?
      found = []
      each_view(source, options) do |view|
        Internal.search(view, steps, max_looks, :ways) { |keys| found << Text.normalized(keys) }
      end
      found
    end

    # Returns the first value that Path#each would yield, or nil. Raises the errors of Path#each.
    #
    #   Manypack::Path.new("$[*].id").first(Manypack.pack([{}, {"id" => 2}])) #=> 2
    def first(source, **options)
      Arguments.refuse_block(self, :first) if block_given?
      view = view_of(source, options)
      return Internal.search(view, steps, max_looks, :first) if view

      each_view(source, options) do |part|
        return Internal.search(part, steps, max_looks, :first) if Internal.search(part, steps, max_looks, :any)
      end
      nil
    end

    # Returns how many values Path#each yields, and builds none of them. Raises what Path#each raises.
    #
    #   Manypack::Path.new("$..id").count(Manypack.pack([{"id" => 1}, {"id" => 2}])) #=> 2
    def count(source, **options)
      Arguments.refuse_block(self, :count) if block_given?
      count = 0
      each_view(source, options) { |view| count += Internal.search(view, steps, max_looks, :count) }
      count
    end

    # Returns true if Path#each yields anything, and stops searching there. Raises what Path#each raises.
    #
    #   Manypack::Path.new("$..id").any?(Manypack.pack([{"id" => 1}])) #=> true
    def any?(source, **options)
      Arguments.refuse_block(self, :any?) if block_given?
      each_view(source, options) { |view| return true if Internal.search(view, steps, max_looks, :any) }
      false
    end

    # Returns all that Path#each yields, an Array. Without a source, where Ruby calls it for <code>[*path]</code> or
    # <code>[*paths]</code>, it returns an Array of the path itself. Raises what Path#each raises.
    #
    #   Manypack::Path.new("$[*].id").to_a(Manypack.pack([{"id" => 1}, {"id" => 2}])) #=> [1, 2]
    def to_a(source = (whole = true), **options)
      Arguments.refuse_block(self, :to_a) if block_given?
      return [self] if whole && options.empty?
      raise ArgumentError, "no source given: pass packed bytes, a View, an IO or an Unpacker" if whole

      view = view_of(source, options)
      return Internal.search(view, steps, max_looks, :array) if view

      found = []
      each_view(source, options) { |part| found.concat(Internal.search(part, steps, max_looks, :array)) }
      found
    end

    # Returns the path in its shortest form, a String.
    #
    #   Manypack::Path.new("$['users'][*]").to_s #=> "$.users[*]"
    def to_s
      Text.path(steps)
    end

    # Returns a String that names the path.
    #
    #   Manypack::Path.new("$.a").inspect #=> "#<Manypack::Path $.a>"
    def inspect
      @steps ? "#<#{self.class} #{self}>" : super
    end

    # Returns true for a Path with the same steps and the same max_looks.
    #
    #   Manypack::Path.new("$.a") == Manypack::Path.new("$['a']") #=> true
    def ==(other)
      other.is_a?(Path) && steps == other.steps && max_looks == other.max_looks
    end
    alias eql? ==

    # Returns an Integer, the same for equal Paths.
    #
    #   Manypack::Path.new("$.a").hash == Manypack::Path.new("$['a']").hash #=> true
    def hash
      [Path, steps, max_looks].hash
    end

    # Writes the path to a YAML document as what Path#to_s returns.
    def encode_with(coder) = coder.represent_scalar(nil, to_s)

    private

    def parsed(path, functions, dynamic_patterns)
      Parser.new(path, functions: functions, dynamic_patterns: dynamic_patterns).steps
    end

    # Called by Marshal, which refuses Functions.
    def marshal_dump = [steps, max_looks]

    def marshal_load((steps, max_looks))
      initialize(Steps.new(steps), max_looks: max_looks)
    end

    # Makes the steps shareable, unless a Function in them cannot be: Ruby then leaves some of them unfrozen.
    def frozen(steps)
      Ractor.make_shareable(steps)
    rescue Ractor::Error, ::ArgumentError
      deep_frozen(steps)
    end

    def deep_frozen(node)
      node.each { |part| deep_frozen(part) } if node.is_a?(Array)
      node.freeze
    end

    def checked(functions)
      functions.to_h do |name, function|
        unless name.to_s.match?(/\A[a-z][a-z0-9_]*\z/)
          raise ArgumentError, "invalid name of a function: #{name.inspect}"
        end
        raise ::TypeError, "expected a Path::Function, got #{function.class}" unless function.is_a?(Function)
        raise ArgumentError, "the standard has a function #{name}" if STANDARD.key?(name.to_sym)

        [name.to_sym, function]
      end
    end

    # Returns an Enumerator. Raises the errors of the method for wrong arguments at once.
    def enumerator(method, source, options)
      options_of_its_own(source, options) || view_of(source, options) || Manypack.split(source, as: :view, **options)
      enum_for(method, source, **options)
    end

    # Returns true for a source that has its own options, and raises ArgumentError if it gets others.
    def options_of_its_own(source, options)
      return false unless source.is_a?(View) || source.is_a?(Lenient::Unpacker)
      return true if options.empty?

      raise ArgumentError, "a #{source.class} has its own options"
    end

    # Returns the View of a source that is one message; nil for a stream, and for a source that each_view refuses.
    def view_of(source, options)
      if source.is_a?(View) then source if options_of_its_own(source, options)
      elsif source.respond_to?(:to_str)
        Arguments.check_source(source)
        options.empty? ? View.new(source) : Arguments.at_the_call { View.new(source, **options) }
      end
    end

    def each_view(source, options, &block)
      view = view_of(source, options)
      if view then yield view
      elsif options_of_its_own(source, options) then each_view_of(source, &block)
      else Manypack.split(source, as: :view, **options, &block)
      end
    end

    def each_view_of(unpacker)
      unpacker.each(strict: true) do |view|
        raise ArgumentError, "the Unpacker needs the option as: :view" unless view.is_a?(View)

        yield view
      end
    end
  end
end

require_relative "path/all"
require_relative "path/function"

module Manypack
  lazy = { Text: "#{__dir__}/path/text", Parser: "#{__dir__}/path/parser", Pattern: "#{__dir__}/path/pattern" }
  Path.private_constant(*Library.load_on_first_use(Path, lazy))
end
