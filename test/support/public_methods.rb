# frozen_string_literal: true

# What a user may call: the public methods of Manypack and of all modules inside that are public.
require "open3"
require "rbconfig"

module PublicMethods
  # The files that load a library which Manypack does not depend on. It is not needed to see what they define.
  INTEGRATIONS = %w[manypack/active_model manypack/faraday manypack/karafka manypack/rack manypack/rails].freeze
  LOAD_INTEGRATIONS = <<~'RUBY'
    Manypack.const_get(:Library).define_singleton_method(:load) { |*, **| }
    module ActiveSupport # which calls hooks when Rails is loaded
      def self.on_load(*) = nil
      Cache = Module.new.tap { |cache| cache.const_set(:DeserializationError, Class.new(StandardError)) }
    end
    module Faraday # what is needed of it
      Middleware = Class.new
      ParsingError = Class.new(StandardError)
      Request = Response = Module.new { def self.register_middleware(**) = nil }
    end
    module ActiveModel
      Type = Module.new.tap { |type| type.const_set(:Value, Class.new) }
    end
    module Mime
      Type = Class.new { def self.register(*) = nil }
    end
    ARGV.each { |file| require file }
  RUBY

  module_function

  # The names of the modules, methods and constructors, also of those of the integrations.
  def everything = in_new_process(INTEGRATIONS)

  # Those that `require "manypack"` gives.
  def without_integrations = in_new_process([])

  # Other tests of the suite may load or define more in their process.
  def in_new_process(files)
    program = "#{LOAD_INTEGRATIONS}\nprint Marshal.dump(PublicMethods.now)"
    output, status = Open3.capture2(RbConfig.ruby, "-I", File.expand_path("../../lib", __dir__), "-r", "manypack", "-r", __FILE__,
                                    "-e", program, *files, binmode: true)
    raise "#{program} failed" unless status.success?

    Marshal.load(output)
  end

  def now
    { modules: modules_of(Manypack), methods: of(Manypack), constructors: constructors_of(Manypack) }
  end

  # Names such as "Manypack::Packer#write" and "Manypack.pack".
  def of(mod)
    own = definers(mod).flat_map { |definer| definer.public_instance_methods(false) }.map { |name| "#{mod}##{name}" }
    own += definers(mod).flat_map { |definer| definer.singleton_methods(false) }.map { |name| "#{mod}.#{name}" } unless mod.is_a?(Class) && mod < Struct
    own + modules_in(mod).flat_map { |inner| of(inner) }
  end

  # Names such as "Manypack::Packer.new", for classes that do not define new itself.
  def constructors_of(mod)
    made = mod.is_a?(Class) && definers(mod).any? { |definer| definer.private_instance_methods(false).include?(:initialize) }
    own = made ? ["#{mod}.new"] : []
    own + modules_in(mod).flat_map { |inner| constructors_of(inner) }
  end

  # The names of the module and of all that are in it.
  def modules_of(mod)
    [mod.name] + modules_in(mod).flat_map { |inner| modules_of(inner) }
  end

  def modules_in(mod)
    definers(mod).flat_map { |definer| definer.constants(false) }.uniq.map { |name| mod.const_get(name) }.grep(Module)
  end

  # The module itself, and the lenient class of the same name (lib/manypack/codec/lenient.rb) that has its methods.
  def definers(mod)
    mod.is_a?(Class) && mod.superclass&.name == mod.name ? [mod, mod.superclass] : [mod]
  end
end
