# frozen_string_literal: true

# The public methods by their signatures in sig/.
require "rbs"

module Signatures
  PATH = File.expand_path("../../sig/manypack.rbs", __dir__)

  module_function

  # Returns the names, such as "Manypack::Unpacker#feed", of the methods with an overload for which the block is true.
  def methods(&block)
    _, _, declarations = RBS::Parser.parse_signature(RBS::Buffer.new(name: "manypack.rbs", content: File.read(PATH, encoding: "UTF-8")))
    declarations.flat_map { |declaration| methods_of(declaration, "", &block) }
  end

  def methods_of(declaration, outer, &block)
    return [] unless declaration.respond_to?(:members)

    name = "#{outer}#{declaration.name}"
    declaration.members.flat_map do |member|
      next methods_of(member, "#{name}::", &block) unless member.is_a?(RBS::AST::Members::MethodDefinition)
      next [] unless member.overloads.any? { |overload| block.call(overload.method_type.to_s) }

      "#{name}#{member.kind == :instance ? "#" : "."}#{member.name}"
    end
  end
end
