# frozen_string_literal: true

#--
# Manypack::Record: the Type of objects of one class, and unions of Records.
#
# This file names the classes that autoload expects of it before another file or C does: if a program requires this file
# itself, they would call autoload, which would load this file again.
#++
module Manypack
  class Type; end
  class LazyRecord; end
end

require_relative "record/type"

module Manypack
  # The Type of a Struct, a Data or another class: it knows the members and their types. It loads a map straight into an
  # object, without a Hash in between, and dumps it as a map.
  #
  #   User = Struct.new(:id, :name)
  #   USER = Manypack::Record.new(User, id: Integer, name: String)
  #
  #   USER.load(Manypack.pack({"id" => 1, "name" => "Ada"}))   #=> #<struct User id=1, name="Ada">
  #   USER.load(Manypack.pack({"id" => "1", "name" => "Ada"}))
  #   # raises RecordError: expected Integer, got str "1", at $.id, byte 4 (User#id)
  #
  # The keywords of Record.new are members, which may have any name, even +keys+ or +defaults+. Options are arguments of
  # Record#with, or of +with+, as in <code>Manypack::Record.new(User, id: Integer, with: {unknown: :raise})</code>.
  class Record < Type
    class << self
      alias create new # Record.new takes members
      private :create
    end

    # Returns the Record of a class. Every member of a Struct or a Data needs a type; docs/records.md lists the types,
    # and <code>Object</code> accepts anything. The members are keywords or a Hash, and their names Symbols or Strings.
    #
    # Any other class will do, too, such as a plain one, an ActiveModel or a dry-struct. Its +new+ gets the members, and
    # dump reads them by public methods of their names. Positional parameters must have the names of members; a single
    # parameter with another name, or a <code>*</code>, gets a Hash.
    #
    # with:: a Hash of what Record#with takes, with Symbols as keys. Anything else is the type of a member named +with+
    #
    # Instead of a Hash, +types+ may be another Record, or a class that has one, to extend: the new Record has its
    # members first, with their types, then the new ones, and the options of both. A member that is given again has its
    # new type. In the types of the other Record, <code>:self</code> and the name of its class still mean that Record.
    #
    # If a class has an +initialize+ or a +new+ of its own, that method makes the objects, even if it is defined after
    # the Record is made; but a +new+ that takes any number of arguments must be there before the first object is
    # loaded. It gets the members by position or as keywords, depending on its parameters: those with names of members
    # must stand at the places of these members. A member may be missing if its parameter has a default, a positional
    # one only if all members after it are missing, too; +defaults+ of Record#with take precedence, and
    # <code>*rest</code> and <code>**options</code> make no member optional. Missing members are reported before code of
    # the class runs. A StandardError that it raises becomes a RecordError with that +cause+; other exceptions pass
    # through. The call is Ruby code, and takes longer than filling in members.
    #
    # The Record has the options of the Types of its members, as in Type[].
    #
    # Raises ArgumentError for members that the class does not have, for members without a type, for a constructor that
    # cannot take the members, and for anything that is no type.
    #
    #   Point = Struct.new(:x, :y)
    #   POINT = Manypack::Record.new(Point, x: Float, y: Float)
    #   Place = Struct.new(:x, :y, :name)
    #   PLACE = Manypack::Record.new(Place, POINT, name: String, with: {keys: :camel})
    def self.new(klass, types = nil, **members)
      Arguments.refuse_block(self, :new) if block_given?
      Arguments.at_the_call { made(klass, types, members, nil) }
    end

    # Returns the Record of any class. Loading sets the instance variables and does not call +initialize+. The members
    # are those of Record.new. Raises ArgumentError for anything but a class, for a class such as Integer or Proc, which
    # has no empty objects, and for one whose readers need what +initialize+ sets.
    #
    #   class Account
    #     attr_reader :id
    #   end
    #   ACCOUNT = Manypack::Record.ivars(Account, id: Integer)
    #   ACCOUNT.load(Manypack.pack({"id" => 1})).id #=> 1
    def self.ivars(klass, types = nil, **members)
      Arguments.refuse_block(self, :ivars) if block_given?
      Arguments.at_the_call { made(klass, types, members, Build.ivars(klass)) }
    end

    def self.made(klass, types, members, build)
      base, members, options = Members.given(types, members)
      own, others = options.to_h.partition { |name, _| Options::NAMES.include?(name) }.map(&:to_h)
      record = create(klass, members, build, base, own)
      others.empty? ? record : record.with(**others)
    end
    private_class_method :made

    # Returns a new class of immutable objects with these members, which knows its Record: <code>Data.define</code>, or
    # on Ruby 3.1 a Struct with +keyword_init+, whose +new+ takes keywords and fills missing members with nil. The
    # members are those of Record.new. The block is evaluated in the class, and may call +check+ like Type#check. The
    # class has the methods that Record#attach describes, unless a member or the block has one of that name. Raises
    # ArgumentError for a member +to_msgpack+, because Manypack.pack calls the method of that name, for an option such
    # as <code>check: true</code>, and for anything that is no type.
    #
    #   Circle = Manypack::Record.define(radius: Float) do
    #     check("must have a radius above 0") { |circle| circle.radius > 0 }
    #     def area = 3.14 * radius**2
    #   end
    #   Circle.load(Circle.new(radius: 1.0).dump).area #=> 3.14
    #   Ring = Manypack::Record.define(Circle, inner_radius: Float, with: {keys: :camel})
    #
    # <code>Circle.record</code> is its Record.
    def self.define(types = nil, **members, &block)
      base, members, options = Arguments.at_the_call { Members.given(types, members) }
      raise ArgumentError, "no member can be to_msgpack: that packs the object" if members.key?(:to_msgpack)

      Arguments.at_the_call { Members.refuse_options(members) }

      names = [*base&.members, *members.keys].uniq
      klass = defined?(Data) ? Data.define(*names) : Struct.new(*names, keyword_init: true)
      klass.singleton_class.prepend(Nameless)
      checks = block ? evaluate(klass, &block) : [] # first, because it may override initialize
      record = new(klass, base, **members, **(options ? { with: options } : {}))
      Attached.install(klass, checks.reduce(record) { |one, (message, check)| one.check(message, &check) })
      klass
    end

    # Evaluates the block of Record.define, and returns the checks in it.
    def self.evaluate(klass, &block)
      checks = []
      methods = Module.new { define_method(:check) { |message = nil, &check| checks << [message, check] } }
      klass.extend(methods)
      klass.class_eval(&block)
      checks
    ensure
      methods.remove_method(:check)
    end
    private_class_method :evaluate

    # Returns the Type of objects of several Records. The value of one key of each map, the tag, says which Record the
    # object belongs to. Objects with an unknown tag or none are loaded as +else+; without +else+ they are refused.
    # Dumping writes the tag first.
    #
    # tag_key:: the key whose value is the tag: a String, a Symbol that stands for one, or an Integer
    # types:: a Hash of tags and types. A tag, too, may be a Symbol that stands for a String. The pairs may be keywords
    # else:: a type for all other objects (default: none)
    # untagged:: a type for maps without the tag; +else+ is then for unknown tags only
    #
    #   Circle = Struct.new(:radius)
    #   Square = Struct.new(:side)
    #   SHAPE = Manypack::Record.union("type", "circle" => Manypack::Record.new(Circle, radius: Float),
    #                                          "square" => Manypack::Record.new(Square, side: Float))
    #   SHAPE.load(Manypack.pack({"type" => "square", "side" => 2.0})) #=> #<struct Square side=2.0>
    #   SHAPE.load(SHAPE.dump(Circle.new(1.0)))                        #=> #<struct Circle radius=1.0>
    #
    # The tag key 0 is for Records as arrays, whose first element is the tag:
    # <code>Record.union(0, "circle" => CIRCLE.array)</code>.
    #
    # The chosen Record accepts the tag key even with <code>unknown: :raise</code>; Records nested in it do not. If a
    # map has the tag key twice, the first one counts. An object is dumped with the tag of its class. A subclass without
    # a tag of its own goes to +else+, or is refused with TypeError. A LazyRecord whose bytes have another tag, or none,
    # is refused with ArgumentError.
    #
    # Raises ArgumentError for a tag key that cannot be a key; for tags that are the same in a message, such as "a" and
    # <code>:a</code>; for anything that is no type; for a type that is no map, because it has no tag key; for another
    # union, except in +else+ and +untagged+, because an object has one tag; and for a class that has several tags, or a
    # tag and a place in +else+ or +untagged+.
    def self.union(tag_key = nil, types = nil, *others, **options)
      Arguments.refuse_block(self, :union) if block_given?
      check_union(tag_key, types, others)
      others = [options.delete(:else), options.delete(:untagged)]
      Arguments.at_the_call { tagged_union(tag_key, { **(types || {}), **options }, *others) }
    end

    def self.tagged_union(tag_key, types, other, untagged)
      raise ArgumentError, "expected tags and types, as in \"circle\" => CIRCLE" if types.empty?

      raise ArgumentError, "expected one tag key, got #{tag_key.inspect}" if tag_key.is_a?(Array)

      tag_key, = Options.checked_keys(tag_key)
      tag_key = :first if tag_key == 0 && types.each_value.any? { |type| array?(Spec.of(type)) }
      specs = types.to_h { |value, type| [Options.text(value), tagged(type, tag_key)] }
      raise ArgumentError, "two of the tags #{types.keys.inspect} are the same in a message" if specs.size < types.size

      spec = [:tagged, tag_key, specs, other && Spec.of(other)]
      spec << Spec.of(untagged) if untagged
      Spec.made_of(spec, [*types.values, other, untagged])
    end

    def self.check_union(tag_key, types, others)
      tagless = [NilClass, Hash, Module, Type].any? { |one| one === tag_key }
      return if !tagless && others.empty? && (types.nil? || types.is_a?(Hash))

      message = "a union is Record.union(\"type\", \"circle\" => CIRCLE, \"square\" => SQUARE): the key of the tag, " \
                "and a Hash of tags and types"
      Arguments.refuse(ArgumentError.new(message))
    end
    private_class_method :check_union, :tagged_union

    def self.tagged(type, tag_key)
      spec = Spec.of(type)
      parts = Spec.alternatives(Spec.inner(spec))
      if parts.any? { |part| Spec.inner(part)[0] == :tagged } || parts.count { |part| part[0] == :record } > 1
        raise ArgumentError, "#{type.inspect} is a union: its types need tags in this union"
      end
      return spec if tag_key == :first ? array?(spec) || spec[0] == :name : !NO_MAPS.include?(spec[0]) && !array?(spec)

      raise ArgumentError, "#{type.inspect} #{needed_for(tag_key)}"
    end

    def self.array?(spec) = spec[0] == :record && spec[1].form == :array

    def self.needed_for(tag_key)
      return "is no Record as an array, such as CIRCLE.array, whose first element would be the tag" if tag_key == :first

      "is no map, and has no key for the tag (the tag of Records as arrays is their element 0: Record.union(0, ...))"
    end
    private_class_method :tagged, :array?, :needed_for

    NO_MAPS = %i[nil true false integer float string symbol enum list].freeze
    private_constant :NO_MAPS

    def initialize(klass, members, build, extended = nil, options = {}) # :nodoc:
      members, again = { **extended&.types_outside.to_h, **members }, members.keys
      build, arguments = build ? [build, members.keys] : Build.of(klass, members.keys)
      types = Members.check(klass, members, build)
      codec, base = inherited([*types.values, *extended])
      options = (extended&.options || Options::NONE).with(klass, types, **options, again: again)
      set(klass: klass, types: types, build: build, arguments: arguments, options: options, codec: codec, base: base,
          form: extended&.form || :map, check: extended&.check? || false, rules: extended&.rules || [].freeze)
    end

    # Returns the class of the objects.
    #
    #   POINT.klass #=> Point
    def klass
      @klass || uninitialized
    end

    # Returns how objects are packed: +:map+, +:array+, or +:lazy+ for a map that is loaded as a LazyRecord.
    #
    #   POINT.form #=> :map
    def form
      @form || uninitialized
    end

    # Returns how load makes the objects at the moment: +:struct+ or +:data+ fills in the members, +:new+ calls the
    # class's own constructor with the members by position, +:keywords+ calls it with keywords, and +:ivars+ sets
    # instance variables. Raises ArgumentError if the class now has a constructor that cannot take the members.
    #
    #   POINT.build #=> :struct
    def build
      constructor[0]
    end

    # Returns the class of the LazyRecords that a lazy Record loads; nil for any other Record.
    #
    #   POINT.lazy.lazy_class.superclass #=> Manypack::LazyRecord
    #   POINT.lazy_class                 #=> nil
    def lazy_class
      form == :lazy ? @lazy_class : nil
    end

    # Returns the members, an Array of Symbols, in the order in which they were given.
    #
    #   POINT.members #=> [:x, :y]
    def members
      types.keys
    end

    # Returns the Types of the members, a Hash.
    #
    #   POINT.types[:x] #=> #<Manypack::Type Float>
    def types
      @types || uninitialized
    end

    # Returns the keys of the members, a Hash of Arrays: the first key is written, all are read.
    #
    #   POINT.keys #=> {x: ["x"], y: ["y"]}
    def keys
      members.to_h { |member| [member, options.keys_of(member)] }
    end

    # Returns the default values of missing members, a Hash.
    #
    #   POINT.with(defaults: {y: 0.0}).defaults #=> {y: 0.0}
    def defaults
      options.defaults
    end

    # Returns true if a message may lack the member: it has a default value, or its parameter in the class's own
    # constructor has one.
    #
    #   POINT.with(defaults: {y: 0.0}).optional?(:y) #=> true
    def optional?(member)
      member = member.to_sym
      default(member) ? true : constructor[1].include?(member)
    end

    # Returns true if each object that lacks the member gets its own copy of the default value, because that is a
    # String, an Array or a Hash that was not frozen.
    #
    #   USER.with(defaults: {tags: []}).copies?(:tags) #=> true
    def copies?(member)
      options.copied.include?(member.to_sym)
    end

    # Returns what happens to keys that no member has: +:skip+, +:raise+, or <code>{into: member}</code>.
    #
    #   POINT.unknown #=> :skip
    def unknown
      options.unknown
    end

    # Returns a copy of the Record with the given options changed.
    #
    # keys:: a Hash of members and their keys: a String, an Integer or an Array of them: the first is written, all are
    #        read. Or a style, by which all members get their keys: +:camel+ (<code>first_name</code> is "firstName"),
    #        +:pascal+, +:kebab+, +:screaming+, or a Proc that returns the key of a member, a Symbol. Or both, as in
    #        <code>[:camel, {html_url: "htmlURL"}]</code>. Underscores at the start of a name are kept, and a
    #        <code>?</code> at its end is dropped
    # aliases:: a Hash of members and further keys that are read and never written
    # defaults:: a Hash of members and the default values of missing ones; all other members are required. Each loaded
    #            object gets its own copy of a String, an Array or a Hash that is not frozen; other default values are
    #            frozen, and all loaded objects share them. A Proc, or anything with +call+, is called for each loaded
    #            object instead, and returns the default value. Ractors can share the Record only if they can share the
    #            Proc. They can if it is in the body of a class or module and uses no local variables from outside; on
    #            Ruby 3.1 to 4.0 they cannot if it is at the top level of a program
    # unknown:: what to do with keys that no member has: <code>:skip</code> skips them (default), <code>:raise</code>
    #           refuses them, and <code>{into: :member}</code> loads their pairs into that member, a Hash of its
    #           type; dumping writes its pairs again
    # omit:: +:nil+ makes dump leave out members that are nil, unless loading would restore another value; a member
    #        whose type takes nil may then be missing, and is nil. +:defaults+ leaves out members that equal their
    #        default value. A member whose default is ABSENT is always left out while it has that value. An array gets
    #        shorter if its last members are left out
    # load_only:: an Array of members that are read and never written, such as a password
    # dump_only:: an Array of members that are written and never read, such as an id: their keys are unknown ones in a
    #             message, and the members get their defaults, or nil
    # options:: those of Type#with
    #
    # Options that a member already has stay unless they are given again; a new style does not change keys from a Hash.
    #
    # Raises ArgumentError for members that the class does not have; for a key of two members; for a member that
    # collects unknown keys but cannot be a Hash; for a default value that the member's type refuses or that objects
    # cannot share, unless it is nil or a Proc; and for +load_only+ and +dump_only+ in an array or a lazy Record.
    #
    #   USER.with(keys: {name: ["name", "full_name"]}, defaults: {name: "?"}, unknown: :raise)
    def with(keys: nil, aliases: nil, defaults: nil, unknown: nil, omit: nil, load_only: nil, dump_only: nil,
             codec: nil, check: @check, **options)
      Arguments.refuse_block(self, :with) if block_given?
      Arguments.check_flag(check, :checks)
      changed = changed_codec(codec, options, *options_of_its_own)
      own = { keys: keys, aliases: aliases, defaults: defaults, unknown: unknown, omit: omit, load_only: load_only,
              dump_only: dump_only }.compact
      options = own.empty? ? @options : Arguments.at_the_call { @options.with(klass, types, **own) }
      copy(codec: changed, base: codec ? nil : base, check: check ? true : false, options: options,
           lazy_class: own.empty? ? @lazy_class : nil)
    end

    # Returns the Record of the same class as an array: the members in their order, without keys. A loaded array may be
    # shorter if the missing members have defaults, and longer: further elements are skipped. So you can add members at
    # the end, with a default, and old and new programs understand each other. Raises ArgumentError for a lazy Record.
    #
    #   POINT.array.dump(Point.new(1.0, 2.0)).bytesize #=> 19
    def array
      raise ArgumentError, "a lazy Record is a map: call array without lazy" if form == :lazy

      copy(form: :array)
    end

    # Returns a Record that loads LazyRecords: a field is decoded, and checked, when it is read. Raises ArgumentError
    # for a Record as an array, and for one that loads unknown keys into a member.
    #
    # Keep it in a constant: each call compiles a Record anew, which takes longer than loading many messages.
    #
    #   LAZY_POINT = POINT.lazy
    #   LAZY_POINT.load(POINT.dump(Point.new(1.0, 2.0))).x #=> 1.0
    def lazy
      raise ArgumentError, "a lazy Record is a map: call lazy without array" if form == :array

      copy(form: :lazy, lazy_class: nil)
    end

    # Returns the Record of a subclass of klass, with the same members and options. Raises ArgumentError for any other
    # class, and for one whose constructor cannot take the members.
    #
    #   class Place < Point
    #   end
    #   POINT.inherited_by(Place).load(POINT.dump(Point.new(1.0, 2.0))) #=> #<struct Place x=1.0, y=2.0>
    def inherited_by(subclass)
      unless subclass.is_a?(Class) && subclass < klass
        raise ArgumentError, "#{subclass.inspect} is no subclass of #{klass.inspect}"
      end

      build, arguments = @build == :ivars ? [:ivars, @arguments] : Build.of(subclass, members)
      copy(klass: subclass, inherited: @inherited || klass, build: build, arguments: arguments, lazy_class: nil)
    end

    # Adds methods that use this Record to the class and its objects, and returns the Record: <code>klass.record</code>,
    # <code>klass.load(bytes)</code>, <code>klass.load_json(text)</code>, <code>klass.foreach_json(io)</code>,
    # <code>object.dump</code>, <code>object.dump_json</code>, and <code>object.to_msgpack</code>, by which
    # Manypack.pack packs it anywhere. Raises ArgumentError if the class has one of these methods already, of its own or
    # from a superclass or a module, or as a member. It also gets +foreach+, <code>valid?</code>, +lazy+, +array+ and
    # +json_schema+, unless it has a method of that name. As a rule, methods that make, check or describe objects are on
    # the class, too; methods that change a Record, such as +with+ and +or+, are only on <code>klass.record</code>.
    #
    # Raises Ractor::IsolationError for a class of another Ractor, which Ruby 4.1 does not let this one change. Unless
    # the class has +to_json+ or +as_json+, its objects get both: their JSON is that of their bytes. The options and ext
    # types of a Packer, a Factory or a call of Manypack.pack hold in the objects, too; otherwise those of the Record
    # hold.
    #
    # A subclass gets a Record of its own, made from this one on first use, unless another one is attached to it.
    #
    #   POINT.attach
    #   Manypack.pack([Point.new(1.0, 2.0)])
    def attach
      if klass.const_defined?(:MANYPACK_RECORD, false)
        raise ArgumentError, "#{@klass} has a Record already: keep this one in a constant, and call its load and dump"
      end

      Attached.check_methods(klass)
      Attached.install(@klass, self)
      self
    end

    # Shows the class, the members and their types, and the options that were set.
    #
    #   POINT.inspect #=> "#<Manypack::Record Point x: Float, y: Float>"
    #   POINT.with(defaults: {y: 0.0}).inspect
    #   #=> "#<Manypack::Record Point x: Float, y: Float with defaults: {:y=>0.0}>"
    def inspect
      return super unless @types

      form = " as #{@form}" unless @form == :map
      types = @types.map { |name, type| "#{name}: #{Spec.notation(type.spec)}" }
      "#<#{self.class} #{@klass.inspect}#{form} #{types.join(", ")}#{changes(**@options.to_h)}>"
    end

    # Returns true if this Symbol, used as a type, means the Record: it names the class, with or without the modules
    # around it.
    #
    #   POINT.named?(:Point) #=> true
    def named?(name)
      klass.ancestors.grep(Class).take_while { |one| one <= (@inherited || klass) }.any? do |one|
        full = one.name.to_s
        full == name.to_s || full.end_with?("::#{name}")
      end
    end

    protected

    attr_reader :rules

    def state
      [@klass, @types.transform_values(&:spec), @options.state, @form, @build, @check, @tag_key, @rules]
    end

    # The instance variables that a copy has, too. +inherited+ is the class whose Record it had, and +arguments+ are the
    # members in the order of the places that +build+ gives them.
    PARTS = %i[klass types build arguments options form check inherited tag_key rules lazy_class]
            .to_h { |name| [name, :"@#{name}"] }.freeze
    private_constant :PARTS

    # +base+ is the codec of DefaultFactory if the Record follows that; +parts+ has the names of PARTS.
    def set(codec:, base:, **parts)
      check_form(*parts.values_at(:form, :options))
      parts.each { |name, value| instance_variable_set(PARTS.fetch(name), value) }
      @spec = [:record, self].freeze
      @lazy_class = form == :lazy ? @lazy_class || LazyClass.of(types.keys) : nil
      @body = Body.new(self)
      finish(codec, base, types.values)
    end

    def options = @options || uninitialized

    # Returns the types of the members for a Record that extends this one: replaces names of this Record, which would
    # mean the other one there.
    def types_outside
      types_renamed { |name| @spec if Spec.named?(self, name) }
    end

    private

    def types_renamed(&block)
      types.transform_values do |type|
        spec = Spec.renamed(type.spec, &block)
        spec == type.spec ? type : Spec.made_of(spec, [type])
      end
    end

    # Returns the types of the members for a Record that is used alone: replaces names of the recursive type around it.
    def types_within(type)
      types_renamed { |name| type.spec if type.spec[0] == :recursive && name == type.spec[1] }
    end

    # Returns a hint for a method that only the class of the Record has.
    def guess(name)
      hint = super
      return hint if hint || !@klass.respond_to?(name) || (name != :new && Object.respond_to?(name))

      "it is a method of the class: #{@klass}.#{name}"
    end

    def options_of_its_own = [*Options::NAMES, :check]

    # Returns the default value of a missing member, in an Array, or nil. That of the class's own constructor comes
    # before the nil of +omit+ and +dump_only+.
    def default(member)
      return [defaults[member]] if defaults.key?(member)

      [nil] if @options.implies_nil?(member, types[member]) && !constructor[1].include?(member)
    end

    def check_form(form, options)
      if form == :lazy && options.unknown.is_a?(Hash)
        raise ArgumentError, "a lazy Record cannot collect unknown keys: leave out unknown: {into: ...}"
      end
      return unless form != :map && options.one_way?

      why = form == :lazy ? "a lazy Record writes its bytes as they came" : "an array has a place for each"
      raise ArgumentError, "members that are load_only or dump_only need a map that is read and written: #{why}"
    end

    # Returns the result of +build+, and the members that may be missing because the class has defaults for them. Called
    # by the extension, too.
    def constructor
      uninitialized unless @build
      @build == :ivars ? [:ivars, []] : Build.constructor(@klass, @arguments)
    end

    # Leaves out the defaults: on Ruby 3.1 the hash of a Proc changes when the heap is compacted.
    def hashed_state = [@klass, @types.transform_values(&:spec), @form, @build, @check]

    def copy(codec: self.codec, base: self.base, **changes)
      now = PARTS.transform_values { |name| instance_variable_get(name) }
      self.class.allocate.tap { |record| record.set(**now, codec: codec, base: base, **changes) }
    end

    def checked(rule) = copy(rules: [*@rules, rule].freeze)
    def shareable_options? = Ractor.shareable?(@options) && Spec.shareable?(@rules)
  end
end

require_relative "record/build"
require_relative "record/maker"
require_relative "record/readers"
require_relative "record/options"
require_relative "record/members"
require_relative "record/key_names"
require_relative "record/attached"
require_relative "record/body"
require_relative "record/schemas"
require_relative "record/lazy_record"
