# frozen_string_literal: true

#--
# Manypack::Path::All: several Paths that are searched for in one walk.
#++
module Manypack
  class Path
    # Several Paths with names, which find their values in one walk over a message. Path.all makes it; it is frozen, and
    # shareable between Ractors if its Paths and names are.
    class All
      include Value

      # The Paths, a Hash of names and Paths.
      #
      #   Manypack::Path.all(id: "$.id").to_h #=> {id: Manypack::Path.new("$.id")}
      def to_h
        @paths || raise(ArgumentError, "uninitialized #{self.class}")
      end

      # paths:: a Hash of names and what Path.from takes
      #
      # Raises what Path.from raises.
      def initialize(paths)
        @paths = paths.to_h { |name, path| [name, Path.from(path)] }.freeze
        freeze
      end

      # Returns a Hash of the names, each with an Array of the values that its Path finds, as from Path#to_a.
      #
      # source:: a message, as a String of packed bytes or as a View
      #
      # The options are those of View.new; a View has its own. Raises what Path#each raises.
      #
      #   bytes = Manypack.pack([{"id" => 1, "name" => "Ada"}, {"id" => 2}])
      #   Manypack::Path.all(ids: "$[*].id", names: "$[*].name").read(bytes) #=> {ids: [1, 2], names: ["Ada"]}
      def read(source, **options)
        raise ArgumentError, "a View has its own options" if source.is_a?(View) && !options.empty?

        view = source.is_a?(View) ? source : Arguments.at_the_call { View.new(source, **options) }
        found = to_h.values.each_slice(Internal.several_max).flat_map do |paths|
          Internal.search_several(view, paths.map { |path| [path.steps, path.max_looks] })
        end
        to_h.keys.zip(found).to_h
      end

      # Returns true for an All of equal Paths with the same names, in any order.
      #
      #   Manypack::Path.all(id: "$.id") == Manypack::Path.all(id: "id") #=> true
      def ==(other)
        other.is_a?(All) && to_h == other.to_h
      end
      alias eql? ==

      # Returns an Integer, the same for equal Alls.
      #
      #   Manypack::Path.all(id: "$.id").hash == Manypack::Path.all(id: "id").hash #=> true
      def hash
        [All, to_h].hash
      end

      # Shows the names and the Paths.
      #
      #   Manypack::Path.all(id: "$.id").inspect #=> "#<Manypack::Path::All id: $.id>"
      def inspect
        return super unless @paths

        "#<#{self.class} #{@paths.map { |name, path| "#{name}: #{path}" }.join(", ")}>"
      end

      private

      # Called by Marshal.
      def marshal_dump = to_h
      def marshal_load(paths) = initialize(paths)
    end
  end
end
