# frozen_string_literal: true

# Makes MessagePack mean Manypack for every gem in the process. Require it before those gems: their own `require
# "msgpack"` then does nothing.

# Another library may have defined the module: msgpack-rpc opens `module MessagePack; module RPC`, and so do the version
# files of other gems, which Bundler reads first. Only the msgpack gem itself has a Packer.
there = defined?(MessagePack) && !Object.autoload?(:MessagePack)
feature = $LOADED_FEATURES.grep(%r{/msgpack-[^/]+/lib/msgpack\.rb\z|/msgpack/msgpack\.(?:so|bundle|jar)\z}).first
if there && (feature || defined?(MessagePack::Packer))
  raise LoadError, "manypack/drop_in: MessagePack is already loaded (#{feature || "by other means"}): " \
                   "require manypack/drop_in first, " \
                   "and have no msgpack gem in the bundle except Manypack's"
end
unless !there || MessagePack.instance_of?(Module)
  raise LoadError, "manypack/drop_in: MessagePack is already defined, and is not a module"
end

require "manypack"
require "manypack/core_ext"
require "manypack/codec/redefined"

module Manypack
  # MessagePack has only the constants that the msgpack gem has, because programs define their own there. Its Packer,
  # Unpacker, Buffer and Factory are those that accept what the msgpack gem accepts. It is a module of its own, so that
  # wrapping MessagePack.dump does not wrap Manypack.dump, and its VERSION is one that the msgpack gem could have.
  module DropIn # :nodoc:
    CONSTANTS = %i[Bigint Buffer CoreExt DefaultFactory ExtensionValue Factory MalformedFormatError Packer StackError
                   Time Timestamp TypeError UnexpectedTypeError UnknownExtTypeError UnpackError Unpacker].freeze

    # Methods that only Manypack has and that take a Codec.
    module Functions # :nodoc:
      %i[dump_file foreach load_file split].each do |name|
        class_eval <<~RUBY, __FILE__, __LINE__ + 1
          def #{name}(*arguments, **options, &block)
            Manypack.#{name}(*arguments, **Lenient.options(options), &block)
          end
        RUBY
      end
    end

    class << self
      def install(there)
        Object.const_set(:MessagePack, Module.new) unless there
        name_classes
        fill(::MessagePack)
        define_functions(::MessagePack)
        ::MessagePack.__send__(:remove_const, :VERSION) if ::MessagePack.const_defined?(:VERSION, false)
        ::MessagePack.const_set(:VERSION, "1.8.99")
        CoreExt.__send__(:remove_const, :Front)
        CoreExt.const_set(:Front, ::MessagePack)
        CoreExt.private_constant(:Front)
        Redefined.watch(::MessagePack)
      end

      private

      # Renames the classes, so that inspect, Marshal and YAML say MessagePack. Then processes with Manypack and with
      # the msgpack gem can load each other's objects.
      def name_classes
        (CONSTANTS - [:DefaultFactory]).each { |name| Internal.rename(of_the_gem(name), ::MessagePack, name.name) }
        Internal.rename(Lenient::Factory::Pool, Lenient::Factory, "Pool")
        Timestamp.__send__(:undef_method, :marshal_dump) # Marshal writes its instance variables, as there
      end

      # Sets the constants, and replaces classes that have the name of one in the msgpack gem.
      def fill(target)
        there = CONSTANTS.select { |name| target.const_defined?(name, false) }
        warn("manypack/drop_in replaces #{there.map { |name| "#{target}::#{name}" }.join(", ")}") if there.any?
        there.each { |name| target.__send__(:remove_const, name) }
        CONSTANTS.each { |name| target.const_set(name, of_the_gem(name)) }
      end

      # MessagePack's DefaultFactory is lenient, and has the types of Manypack's: there is one list of them.
      def of_the_gem(name)
        return Internal.default_factory(Lenient::Factory) if name == :DefaultFactory

        (Lenient::NAMES.include?(name) ? Lenient : Manypack).const_get(name)
      end

      # The module functions accept whatever the msgpack gem accepts, unless they are called on Manypack. The msgpack
      # gem does not have the other methods, so those are delegated.
      def define_functions(target)
        functions = Manypack.private_instance_methods(false)
        functions.each { |name| target.define_method(name, Manypack.instance_method(name)) }
        target.__send__(:module_function, *functions)
        target.extend(Functions)
        (Manypack.singleton_methods(false) - functions - Functions.instance_methods).each do |name|
          target.module_eval("def self.#{name}(...) = Manypack.#{name}(...)", __FILE__, __LINE__)
        end
      end
    end
  end
  private_constant :DropIn

  DropIn.install(defined?(::MessagePack) && !Object.autoload?(:MessagePack))
end

# The files of the msgpack gem that others require. Entries without a directory match with any load path. Bootsnap needs
# absolute paths that are spelled as the load path is: __FILE__ is, __dir__ not always.
files = %w[
  msgpack.rb msgpack/bigint.rb msgpack/buffer.rb msgpack/core_ext.rb msgpack/factory.rb msgpack/msgpack.so
  msgpack/packer.rb msgpack/symbol.rb msgpack/time.rb msgpack/timestamp.rb msgpack/unpacker.rb msgpack/version.rb
]
files += files.map { |file| File.join(File.dirname(__FILE__, 2), file) }
$LOADED_FEATURES.concat(files - $LOADED_FEATURES)
