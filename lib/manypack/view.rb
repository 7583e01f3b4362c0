# frozen_string_literal: true

#--
# The half of Manypack::View that is built on the other half, view.c.
#++
module Manypack
  # Packed bytes that you read like a Hash or an Array, without unpacking them. A View of a map or an array finds the
  # value that you ask for in the bytes, and builds only that: a number, a String, or a View of an inner container.
  # Ractors can share a View once it is frozen.
  #
  #   bytes = Manypack.pack({"users" => [{"name" => "Ada", "id" => 1}], "next" => nil})
  #   view = Manypack::View.new(bytes)
  #   view["users"][0]["name"]                        #=> "Ada"
  #   view.dig("users", -1, "id")                     #=> 1
  #   view["users"].map { |user| user["name"] }       #=> ["Ada"]
  #   view => {users: [{name:}]}
  #   name                                            #=> "Ada"
  #
  # Bytes are checked when they are read: an invalid message raises a DecodeError when a search meets the fault, with
  # its offset in the whole message. <code>check: true</code> checks everything first. Bytes after the object are an
  # error for every method that reads to its end, such as View#value, View#each and a search for a key of the outermost
  # map; reading an element of an array does not.
  #
  # Values are what unpacking with the same options would make of them. A View refers to the whole message and keeps it
  # alive; View#detach copies the part.
  class View
    include Guesses
    extend Guesses

    # Tells View#splice to remove a value.
    #
    #   view.splice("password" => Manypack::View::REMOVED)
    module REMOVED
    end

    # Names REMOVED in the error for constants of that meaning. Ruby passes a String for a Symbol of that moment.
    def self.const_missing(name)
      hint = "what View#splice removes is REMOVED" if %i[DELETE DELETED REMOVE].include?(name.to_sym)
      Guesses.no_constant(self, name, hint)
    end
    private_class_method :const_missing

    # Returns true for a View, Hash or Array of an equal value: what a View of a map or an array holds is compared as
    # Ruby compares a Hash or an Array. <code>{"id" => 1} == view</code> is the same. Unpacks unless the bytes and the
    # Codecs are the same, and raises what View#value raises.
    #
    #   view = Manypack::View.new(Manypack.pack({"id" => 1, "tags" => []}))
    #   view == {"tags" => [], "id" => 1} #=> true
    #   view["tags"] == []                #=> true
    def ==(other)
      case other
      when View then eql?(other) || (comparable?(other, other.type) && value == other.value)
      when Hash then type == :map && value == other
      when Array then comparable?(other, :array) && value == other
      else false
      end
    end

    # Returns what View#[] finds. Without such a key or index it returns the default, or what the block returns for the
    # key; otherwise it raises KeyError or IndexError. Raises what View#[] raises.
    #
    #   view = Manypack::View.new(Manypack.pack({"id" => 1}))
    #   view.fetch("id")          #=> 1
    #   view.fetch("name", "?")   #=> "?"
    #   view.fetch("name") { |key| key.upcase } #=> "NAME"
    def fetch(key, default = (no_default = true))
      value = self[key]
      return value unless value.nil? && !key?(key)
      return yield(key) if block_given?
      return default unless no_default
      raise IndexError, "index #{key} outside of the array's #{size} elements" if type == :array

      raise KeyError.new("key not found: #{key.inspect}", receiver: self, key: key)
    end

    alias length size

    # Returns View#value as JSON, for JSON.generate. Raises what View#value raises.
    #
    #   JSON.generate(Manypack::View.new("\x91\x05")) #=> "[5]"
    def to_json(*state)
      value.to_json(*state)
    end

    # Returns View#value for ActiveSupport, as in <code>render json: view</code>.
    def as_json(*arguments) = value.as_json(*arguments)

    # Returns true for a map or an array without elements. Raises what View#size raises.
    #
    #   Manypack::View.new("\x90").empty? #=> true
    def empty?
      size.zero?
    end

    # Yields the pairs of a map, like View#each. Raises ShapeError for a View of anything else.
    #
    #   Manypack::View.new(Manypack.pack({"id" => 1})).each_pair { |key, value| p key, value }
    def each_pair(&block)
      Internal.expect_map(self)

      each(&block)
    end

    # Returns the last element of an array, or nil if it is empty; with a count, an Array of that many last elements.
    # Raises ShapeError for a View of anything else, TypeError for a count that is no number, and ArgumentError for a
    # negative one.
    #
    #   view = Manypack::View.new(Manypack.pack([1, 2, 3]))
    #   view.last    #=> 3
    #   view.last(2) #=> [2, 3]
    def last(*count)
      raise ArgumentError, "wrong number of arguments (given #{count.size}, expected 0..1)" if count.size > 1
      Internal.expect_array(self)
      return self[-1] if count.empty?

      indices = (0...size).last(count[0]) # which raises for what is no count
      self[size - indices.size..]
    end

    # Returns an Array of the elements, or of the pairs, as View#each yields them: containers are Views, which compare
    # with Hashes and Arrays. View#value builds everything.
    #
    # options:: those of View#value, for all values in the Array
    #
    #   view = Manypack::View.new(Manypack.pack([1, {"id" => 2}]))
    #   view.to_a                               #=> [1, #<Manypack::View map of 1 at byte 2>]
    #   view.to_a(symbolize_keys: true) == [1, {id: 2}] #=> true
    def to_a(**options)
      options.empty? ? elements : changed(options).to_a
    end

    # Returns View#to_h for a map, so that Ruby treats the View as the Hash that it stands for, in <code>**view</code>
    # and Hash#merge. Returns nil for a View of anything else.
    #
    #   view = Manypack::View.new(Manypack.pack({"id" => 1}))
    #   {"name" => "Ada"}.merge(view) #=> {"name" => "Ada", "id" => 1}
    def to_hash
      to_h if type == :map
    end

    # Returns View#value as a String, as Hash#to_s, Array#to_s and String#to_s return it.
    #
    #   Manypack::View.new(Manypack.pack([1, 2])).to_s #=> "[1, 2]"
    def to_s
      value.to_s
    end

    # Writes View#value to a YAML document, for +to_yaml+.
    #
    #   Manypack::View.new(Manypack.pack({"id" => 1})).to_yaml #=> "---\nid: 1\n"
    def encode_with(coder)
      coder.represent_object(nil, value)
    end

    # Returns a View of the same part of the same message. It is not frozen, even if this one is.
    #
    #   Manypack::View.new("\x90").freeze.dup.frozen? #=> false
    def dup
      copy
    end

    # Returns a View of the same part of the same message, frozen if this one is or as +freeze+ says.
    #
    #   Manypack::View.new("\x90").freeze.clone.frozen? #=> true
    def clone(freeze: nil)
      (freeze.nil? ? frozen? : freeze) ? copy.freeze : copy
    end

    # Returns the values that the paths find: for each the first value, or nil. A path is a Path, a String such as
    # <code>"a[0].b"</code>, a Symbol that names a key, or an Array of keys as View#dig takes them.
    #
    #   view = Manypack::View.new(Manypack.pack({"id" => 1, "user" => {"name" => "Ada"}}))
    #   view.dig_many("$.id", ["user", "name"]) #=> [1, "Ada"]
    def dig_many(*paths)
      Arguments.refuse_block(self, :dig_many) if block_given?
      paths.map do |path|
        next dig(*path) if path.is_a?(Array)

        path = Path.from(path)
        Internal.search(self, path.steps, path.max_looks, :first)
      end
    end

    # Returns an Array of all values that a path finds; with a block it yields them instead and returns the View. A path
    # is a Path, a String such as <code>"a[*].b"</code>, a Symbol that names a key, or an Array of the steps of a Path.
    # Create a Path yourself if you use it more than once. Raises ArgumentError for a String that is no path, and a
    # DecodeError where the bytes are not valid.
    #
    #   view = Manypack::View.new(Manypack.pack([{"id" => 1}, {"id" => 2}]))
    #   view.query("$[*].id") #=> [1, 2]
    def query(path, &block)
      path = Path.from(path)
      Internal.search(self, path.steps, path.max_looks, block ? :each : :array, &block)
    end

    # Loads the object as a Type, such as a Record, with +collect+ as in Type#load. Raises what Type#load raises, with
    # offsets and paths in the whole message, and TypeError for anything but a Type or a class that has a Record. The
    # options of the Type hold, as in Manypack.unpack with <code>as:</code>, unless the options or the codec of the View
    # say otherwise.
    #
    #   Point = Struct.new(:x, :y)
    #   POINT = Manypack::Record.new(Point, x: Float, y: Float)
    #   view = Manypack::View.new(Manypack.pack({"at" => {"x" => 1.0, "y" => 2.0}}))
    #   view["at"].as(POINT) #=> #<struct Point x=1.0, y=2.0>
    def as(type, collect: false)
      Arguments.refuse_block(self, :as) if block_given?
      known = Arguments.type_of(type)
      raise ::TypeError, "expected a Type or a class that has a Record, got #{type.inspect}" unless known

      Internal.read_view(known, self, collect)
    end

    # Returns the elements of an array, for pattern matching. Other Views do not match array patterns.
    #
    #   case Manypack::View.new(Manypack.pack(["ok", 1]))
    #   in ["ok", Integer => id] then id #=> 1
    #   end
    def deconstruct
      to_a
    end

    # Returns a View of new bytes in which some values are changed and everything else is copied as it is, in one walk.
    #
    # changes:: a Hash of paths and changes
    #
    # A path is what Path.from takes, such as "a.b", <code>"a[0].b"</code> or <code>"$.users[*].name"</code>. All paths
    # refer to the message before any change. The change is
    #
    # any other object:: the new value, which can be a View. If the last key or index of the path does not exist, the
    #                    value is added at the end of the map or array
    # a Proc or a Method:: it is called with the value that is there, as View#[] returns it, and returns the new one
    # REMOVED:: the value and its key are removed; a Proc can return REMOVED, too
    # View.inserted and others:: see View.inserted, View.appended, View.renamed and View.with_parents
    #
    # A path that can find several values, with <code>*</code>, a slice, a condition or <code>..</code>, changes each
    # that it finds, and adds none. Procs, REMOVED and View.renamed have no effect if there is no such value, nor if a
    # parent is missing or nil.
    #
    # Raises TypeError or ArgumentError for an invalid path; ArgumentError for two changes of one value, for a change
    # inside a value that another change replaces, and for a key that its map would have twice; KeyError if there is no
    # map or array to change, for REMOVED only below a value that is neither a map, an array nor nil; IndexError for an
    # index beyond the end of an array; MalformedFormatError for a key that its map has twice; another DecodeError where
    # the bytes are not valid; and the errors of Manypack.pack.
    #
    #   view = Manypack::View.new(Manypack.pack({"user" => {"id" => 1, "password" => "x"}, "hits" => 4}))
    #   view.splice("user.name" => "Ada", "user.password" => Manypack::View::REMOVED, "hits" => :succ.to_proc).value
    #   #=> {"user" => {"id" => 1, "name" => "Ada"}, "hits" => 5}
    def splice(changes)
      Arguments.refuse_block(self, :splice) if block_given?
      Internal.splice(self, changes, REMOVED)
    end

    # For View#splice: puts values in front of the element of an array that the path means, or at the end if it means
    # the index after the last one.
    #
    #   view = Manypack::View.new(Manypack.pack(["a", "d"]))
    #   view.splice("[1]" => Manypack::View.inserted("b", "c")).value #=> ["a", "b", "c", "d"]
    def self.inserted(*values)
      Change.new(:inserted, values.freeze)
    end

    # For View#splice: adds values at the end of the array that the path means. <code>"$"</code> is the View itself.
    #
    #   view = Manypack::View.new(Manypack.pack({"tags" => ["a"]}))
    #   view.splice("tags" => Manypack::View.appended("b", "c")).value #=> {"tags" => ["a", "b", "c"]}
    def self.appended(*values)
      Change.new(:appended, values.freeze)
    end

    # For View#splice: gives the value that the path means another key: a String, Symbol, number, true, false or nil.
    #
    #   view = Manypack::View.new(Manypack.pack({"nmae" => "Ada"}))
    #   view.splice("nmae" => Manypack::View.renamed("name")).value #=> {"name" => "Ada"}
    def self.renamed(key)
      Change.new(:renamed, key)
    end

    # For View#splice: makes the maps and arrays that the path leads through, if they are missing or nil: an array for
    # an Integer, a map for any other step. The change is a new value, View.inserted or View.appended.
    #
    #   view = Manypack::View.new(Manypack.pack({}))
    #   view.splice("user.id" => Manypack::View.with_parents(1)).value #=> {"user" => {"id" => 1}}
    def self.with_parents(change)
      change.is_a?(Change) ? change.with_parents : Change.new(:set, change, true)
    end

    # Writes its bytes to a Packer as they are, and returns the Packer: packing an object with a View in it copies the
    # bytes. Without a Packer it returns the bytes. With an io, or options of Manypack.pack, it does what that does.
    # Raises a DecodeError unless the bytes are whole.
    #
    #   part = Manypack::View.new(Manypack.pack({"a" => [1, 2]}))["a"]
    #   Manypack.pack({"b" => part}) == Manypack.pack({"b" => [1, 2]}) #=> true
    def to_msgpack(packer = nil)
      return bytes unless packer
      return Manypack.pack(self, packer) unless packer.respond_to?(:buffer)

      packer.buffer.write(bytes)
      packer
    end

    # Shows type, size and place.
    #
    #   Manypack::View.new(Manypack.pack({"id" => 1})).inspect #=> "#<Manypack::View map of 1 at byte 0>"
    def inspect
      count = " of #{size}" if %i[map array].include?(type)
      "#<#{self.class} #{type}#{count} at byte #{offset}>"
    rescue DecodeError
      "#<#{self.class} of invalid bytes at byte #{offset}>"
    end

    private

    # A View has the methods of Enumerable, but not all of Hash and Array.
    def guess(name)
      owner, conversion = { map: [Hash, "to_h"], array: [Array, "to_a"] }[type]
      return "view[#{name.name.inspect}] finds the key" if owner == Hash && key?(name)

      hint = super
      return hint if hint || !owner&.method_defined?(name)

      done = "view.#{conversion}.#{name} does it for #{owner == Hash ? "a Hash" : "an Array"}"
      done << ", and Manypack.pack(view.#{conversion}.#{name}(...)) packs that" if %i[slice except].include?(name)
      changed = "splice(path => value) returns a changed View"
      (name == :merge ? [changed, done] : [done, changed]).join("; ")
    rescue DecodeError
      super
    end

    # Returns false for another type, and for an array of another size, without reading its elements. A map may have a
    # key twice, so its size proves nothing.
    def comparable?(other, its_type)
      type == its_type && (type != :array || size == other.size)
    end

    # Called by View#deconstruct_keys for <code>**rest</code>.
    def all_pairs
      pairs.transform_keys { |key| key.is_a?(String) ? key.to_sym : key }
    end

    # Called by View#[] for a key that is not a String, a Symbol, a number, nil, true or false.
    def select_by(key)
      case key
      when Range then type == :array ? elements_in(key) : find_key(key)
      when Path then key.all? ? key.to_a(self) : key.first(self)
      else find_key(key)
      end
    end

    # Builds the elements one by one, because the bytes may declare a larger size than they have.
    def elements_in(range)
      count = size
      from, to = [range.begin || 0, range.end || -1].map do |index|
        raise ::TypeError, "expected a Range of Integers, got #{range.inspect}" unless index.is_a?(Integer)

        index.negative? ? index + count : index
      end
      return if from.negative? || from > count

      to -= 1 if range.exclude_end? && range.end
      (from..[to, count - 1].min).map { |index| find_key(index) }
    end

    # Returns a View of the same object with options changed, as View#value changes them.
    def changed(options)
      given = options[:codec]
      changed = Arguments.codec(given.nil? ? codec : given, options.except(:codec), packs: false)
      read_by(given.nil? ? changed : Internal.codec_overlaid(codec, changed))
    end

    # Called by Marshal.
    def marshal_dump
      raise ::TypeError, "a View cannot be marshalled, because its ext types cannot: marshal View#bytes or View#value"
    end
  end
end

require_relative "view/hashes"
require_relative "view/splice"
