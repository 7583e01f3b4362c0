# frozen_string_literal: true

# The shape of all values at one place: the types that they have, and the shapes of their elements and fields.
module Manypack
  module Terminal
    class Shape
      # The most keys of a map that looks like an object. With more, the map goes from names to values.
      MOST_FIELDS = 200

      # The Shapes of the values of maps that look like objects, by key.
      attr_reader :fields

      # exts:: the Exts of all Shapes
      def initialize(exts)
        @exts = exts
        @scalars = {}
        @fields = {}
        @seen = Hash.new(0)
        @maps = 0
      end

      # Takes a value into account: a View for an array or a map, whose pairs may have a key twice.
      def add(value)
        return @scalars[type_of(value)] = true unless value.is_a?(View)

        value.type == :map ? add_map(value) : add_array(value)
      end

      # Returns true if some of the maps lack the key.
      def optional?(key) = @seen[key] < @maps
      def record? = @maps.positive? && !@values && !@fields.empty?

      # Returns the type of a Record's member as Ruby code. The block returns the name of a map's Record.
      def to_ruby(&name)
        types = alternatives(&name)
        some = types - ["nil"]
        return types.first || "Object" if some.size < 2 && types.size < 2
        return "Object" if types.include?("Object")
        return "#{some.first}.or(nil)" if some.size == 1 && some.first.match?(/\A[A-Z_0-9]+\z/)

        "Manypack::Type[#{types.join(", ")}]"
      end

      private

      def alternatives(&name)
        types = (@scalars.keys - ["nil"]).sort
        types.map! { |type| type == "Time" && !@exts.times? ? "Object" : type }
        types << list_type(&name) if @items
        types << map_type(&name) if @maps.positive? && !record?
        types << name.call(self) if record?
        types << "nil" if @scalars["nil"]
        types
      end

      # [nil] would be a literal in a type, and not an Array of nil.
      def list_type(&name)
        items = @items.to_ruby(&name)
        items == "nil" ? "[Manypack::Type[nil]]" : "[#{items}]"
      end

      # Returns the type of a map whose keys have one type, if a Type can have such keys; otherwise "Object".
      def map_type(&name)
        return "{String => Object}" unless @values

        key, *others = @keys.keys
        others.empty? && %w[String Integer].include?(key) ? "{#{key} => #{@values.to_ruby(&name)}}" : "Object"
      end

      def add_array(array)
        @items ||= Shape.new(@exts)
        array.each { |element| @items.add(element) }
      end

      # Keeps no more keys of a map than one that looks like an object has.
      def add_map(map)
        @maps += 1
        keys = {}
        map.each_pair do |key, value|
          to_values unless @values || field?(key)
          next add_value(key, value) if @values

          keys[key] = true
          (@fields[key] ||= Shape.new(@exts)).add(value)
        end
        keys.each_key { |key| @seen[key] += 1 } unless @values
      end

      # Returns true for a key that a Record can have: a str, or an ASCII bin, which counts as the same key.
      def field?(key)
        return false unless key.is_a?(String) && (key.encoding == Encoding::UTF_8 || key.ascii_only?)

        @fields.size < MOST_FIELDS || @fields.key?(key)
      end

      # Turns what looked like an object into a map from names to values.
      def to_values
        @values = @fields.each_value.inject(Shape.new(@exts)) { |all, shape| all.merge(shape) }
        @keys = @fields.empty? ? {} : {"String" => true}
        @fields = {}
      end

      def add_value(key, value)
        @keys[type_of(key)] = true
        @values.add(value)
      end

      def type_of(value)
        case value
        when nil then "nil"
        when true, false then "[true, false]"
        when Integer then "Integer"
        when Float, String then value.class.name
        when Array, Hash then "Object"
        else @exts.type_of(value)
        end
      end

      protected

      # Adds the shape of other values at the same place.
      def merge(other)
        @scalars.update(other.scalars)
        (@items ||= Shape.new(@exts)).merge(other.items) if other.items
        merge_maps(other) if other.maps.positive?
        self
      end

      attr_reader :scalars, :items, :maps, :seen, :values, :keys

      private

      def merge_maps(other)
        @maps += other.maps
        to_values if other.values && !@values
        if @values
          other.fields.each_value { |shape| @values.merge(shape) }
          @keys.update(other.keys || (other.fields.empty? ? {} : {"String" => true}))
          @values.merge(other.values) if other.values
        else
          other.fields.each { |key, shape| (@fields[key] ||= Shape.new(@exts)).merge(shape) }
          @seen.update(other.seen) { |_, mine, others| mine + others }
        end
      end
    end
  end
end
