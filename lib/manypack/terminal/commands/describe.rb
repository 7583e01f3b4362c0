# frozen_string_literal: true

# manypack describe: the Records of a program as data, which `manypack compatible` compares.
module Manypack
  module Terminal
    class Describe < Command
      ARGUMENTS = "-r LIB"
      ABOUT = <<~TEXT.chomp
        Writes a message for each Record, Type and class with a Record that a constant of the loaded libraries has: its
        name, and Type#description. Keep the file beside the program, and let `manypack compatible` compare it in CI.
      TEXT
      EXAMPLES = <<~TEXT
        manypack describe -r ./app/records.rb > records.msgpack
        manypack describe -r ./config/environment | manypack cat --path .name
      TEXT

      private

      def reads_messages? = false
      def writes_messages? = true

      def check(paths)
        raise ArgumentError, "takes no file; -r LIB loads the program" unless paths.empty?
      end

      def work
        found = types
        raise UsageError, "describe: no constant has a Record or a Type; -r LIB loads the program" if found.empty?

        found.sort.each do |name, type|
          output.write(Manypack.pack({"name" => name, "type" => type.description}))
        end
      end

      def types
        modules = ObjectSpace.each_object(Module).select { |one| one == Object || program?(name_of(one)) }
        modules.flat_map { |one| constants(one) }.to_h
      end

      def name_of(place) = Module.instance_method(:name).bind_call(place)
      def program?(name) = name && !name.match?(/\A(?:Manypack\z|Manypack::|#<)/)

      # Leaves out constants that would have to be loaded first, and the one in which a class keeps its Record.
      def constants(place)
        names = place.constants(false).reject { |name| name == :MANYPACK_RECORD || place.autoload?(name, false) }
        Terminal.quietly { names.map { |name| [name, place.const_get(name, false)] } }.filter_map do |name, value|
          path = place == Object ? name.to_s : "#{name_of(place)}::#{name}"
          type = value if value.is_a?(Type)
          type ||= Arguments.type_of(value) if value.is_a?(Class) && name_of(value) == path
          [path, type] if type && program?(path)
        end
      end
    end
  end
end
