# frozen_string_literal: true

# What a user may call: the public methods of Manypack and of all modules inside that are public.
module PublicMethods
  module_function

  # @return [Array<String>] such as "Manypack::Packer#write" and "Manypack.pack"
  def of(mod)
    own = mod.public_instance_methods(false).map { |name| "#{mod}##{name}" }
    own += mod.singleton_methods(false).map { |name| "#{mod}.#{name}" } unless mod.is_a?(Class) && mod < Struct
    own + modules_in(mod).flat_map { |inner| of(inner) }
  end

  # @return [Array<String>] such as "Manypack::Packer.new", for classes that do not define new itself
  def constructors_of(mod)
    own = mod.is_a?(Class) && mod.private_instance_methods(false).include?(:initialize) ? ["#{mod}.new"] : []
    own + modules_in(mod).flat_map { |inner| constructors_of(inner) }
  end

  # @return [Array<String>] the module and all that are in it
  def modules_of(mod)
    [mod.name] + modules_in(mod).flat_map { |inner| modules_of(inner) }
  end

  # @return [Array<Module>]
  def modules_in(mod)
    mod.constants(false).map { |name| mod.const_get(name) }.grep(Module)
  end
end
