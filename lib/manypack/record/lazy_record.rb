# frozen_string_literal: true

#--
# Manypack::LazyRecord, the half that programs see. The half that reads bytes is lazy_record.c.
#++
module Manypack
  # An object of a lazy Record: it knows where its fields are in the message, and decodes a field each time it is read.
  # It has a method for each member whose name is valid for a method, except to_msgpack and names that begin with two
  # underscores; LazyRecord#[] reads every member. It keeps the whole message alive.
  #
  #   User = Struct.new(:id, :name)
  #   USER = Manypack::Record.new(User, id: Integer, name: String)
  #   user = USER.lazy.load(Manypack.pack({"id" => 1, "name" => "Ada"}))
  #   user.name #=> "Ada"
  #   user.load #=> #<struct User id=1, name="Ada">
  class LazyRecord
    # Decodes the value of a member, a Symbol or a String. Raises NameError if there is no such member, RecordError if
    # the value is not of the member's type, and other DecodeErrors.
    #
    #   user[:name] #=> "Ada"
    def [](member)
      index = __indices__[member] || __indices__[member.to_sym]
      raise NameError, "no member '#{member}' in #{__record__.klass}" unless index

      __field__(index)
    end

    # Decodes all fields into a Hash.
    #
    #   user.to_h #=> {id: 1, name: "Ada"}
    def to_h
      __fields__
    end

    # Decodes the fields that a pattern names.
    #
    #   user => {name: String}
    def deconstruct_keys(names)
      return __fields__ unless names

      names.each_with_object({}) do |name, found|
        index = __indices__[name]
        found[name] = __field__(index) if index
      end
    end

    # Decodes all fields into an object of the Record's class.
    #
    #   user.load #=> #<struct User id=1, name="Ada">
    def load
      __load__
    end

    # Writes its bytes to a Packer as they are, and returns the Packer; without one it returns the bytes. With an io, or
    # options of Manypack.pack, it does what that does.
    #
    #   Manypack.pack([user]) == Manypack.pack([{"id" => 1, "name" => "Ada"}]) #=> true
    def to_msgpack(packer = nil)
      return __bytes__ unless packer
      return Manypack.pack(self, packer) unless packer.respond_to?(:buffer)

      packer.buffer.write(__bytes__)
      packer
    end

    # Returns its bytes as JSON, for JSON.generate, unchecked and with all their keys, even of no member.
    #
    #   JSON.generate(user) #=> "{\"id\":1,\"name\":\"Ada\"}"
    def to_json(state = nil, *)
      Record.const_get(:Attached)::Json.formed(__json__, state)
    end

    # Returns the value of its bytes for ActiveSupport, as in <code>render json: user</code>.
    #
    # subset:: a Hash with keys as +only+ or +except+, which may be Symbols, as for a model
    def as_json(subset = nil)
      Record.const_get(:Attached)::Json.value(__json__, subset)
    end

    # Returns true for a LazyRecord of the same Record that has the same bytes or equal fields.
    #
    #   user == USER.lazy.load(user.bytes) #=> true
    def ==(other)
      LazyRecord === other && __record__ == other.__record__ &&
        (__bytes__ == other.__bytes__ || __fields__ == other.__fields__)
    end

    # Returns true for a LazyRecord of the same Record that has fields of the same classes and values, as Hash#eql?
    # compares them.
    #
    #   user.eql?(USER.lazy.load(user.bytes)) #=> true
    def eql?(other)
      LazyRecord === other && __record__ == other.__record__ &&
        (__bytes__ == other.__bytes__ || __fields__.eql?(other.__fields__))
    end

    # Returns an Integer, the same for LazyRecords that are +eql?+. Decodes all fields.
    #
    #   user.hash == USER.lazy.load(user.bytes).hash #=> true
    def hash
      [__record__, __fields__].hash
    end

    # Returns the LazyRecord itself, which never changes.
    #
    #   user.dup.equal?(user) #=> true
    def dup = self

    # Returns the LazyRecord itself. Raises ArgumentError for <code>freeze: false</code>.
    def clone(freeze: true)
      raise ArgumentError, "can't unfreeze #{__record__.klass}" if freeze == false

      self
    end

    # Writes the fields to a YAML document.
    def encode_with(coder) = coder.represent_object(nil, __fields__.transform_keys(&:name))

    # Shows class and fields, which it decodes.
    #
    #   user.inspect #=> "#<lazy User id=1, name=\"Ada\">"
    def inspect
      "#<lazy #{__record__.klass} #{__fields__.map { |name, value| "#{name}=#{value.inspect}" }.join(", ")}>"
    rescue DecodeError => error
      "#<lazy #{__record__.klass}: #{error.message}>"
    end

    private

    # Called by Marshal.
    def marshal_dump
      raise ::TypeError, "Marshal cannot write a LazyRecord: write its to_msgpack, or what its load returns"
    end

    def __json__
      bytes = __bytes__
      __record__.instance_exec { codec.to_json(bytes, **@json) }
    end

    protected

    def __fields__
      __indices__.transform_values { |index| __field__(index) }
    end
  end

  class Record
    module LazyClass # :nodoc:
      # Returns a class of LazyRecords with a method for each member. A member may have the name of any method above, so
      # those call only methods that no member can replace.
      def self.of(members)
        indices = Ractor.make_shareable(members.each_with_index.to_h)
        Class.new(LazyRecord).tap do |klass|
          klass.define_method(:__indices__, &Ractor.make_shareable(proc { indices }))
          klass.class_exec { private :__indices__ }
          members.each_with_index do |member, index|
            next unless member.match?(/\A(?!__|to_msgpack\z)[[:alpha:]_][[:alnum:]_]*[?!]?\z/)

            # Shareable, so that every Ractor may call the method.
            klass.define_method(member, &Ractor.make_shareable(proc { __field__(index) }))
          end
        end
      end
    end
    private_constant :LazyClass
  end
end
