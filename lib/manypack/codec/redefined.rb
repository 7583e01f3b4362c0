# frozen_string_literal: true

#--
# Notices that a program redefines methods of MessagePack's classes: the Ruby half of redefined.c.
#++
module Manypack
  # Prepended to the singleton classes of MessagePack's Factory, Packer and Unpacker. As long as their methods and
  # DefaultFactory are Manypack's own, MessagePack.pack and its like take a shortcut past them. redefined.c notices that
  # a Factory has a singleton class or is of a subclass.
  module Redefined # :nodoc:
    CLASSES = [Lenient::Factory, Lenient::Packer, Lenient::Unpacker].freeze

    # The methods that the msgpack gem calls.
    METHODS = %i[packer unpacker write full_pack feed feed_reference full_unpack reset].freeze
    private_constant :CLASSES, :METHODS

    def self.watch(front)
      Internal.watch(front::DefaultFactory, front)
      front.singleton_class.prepend(Constant)
      CLASSES.each { |klass| klass.singleton_class.prepend(self) }
    end

    def self.notice
      Internal.redefined
      Lenient::Factory::Pool.prepend(Lending)
    end

    # Always notices: the module may get its methods later.
    def prepend(...)
      super.tap { Redefined.notice if CLASSES.include?(self) }
    end

    private

    %i[method_added method_removed method_undefined].each do |hook|
      class_eval <<~RUBY, __FILE__, __LINE__ + 1
        def #{hook}(name)
          super
          Redefined.notice if METHODS.include?(name) && CLASSES.include?(self)
        end
      RUBY
    end

    # Comes before the methods of MessagePack. Ruby 3.1 calls no const_added: there the constant is looked up each time.
    module Constant # :nodoc:
      private

      def const_added(name)
        super if defined?(super)
        Internal.default_replaced if name == :DefaultFactory
      end

      def remove_const(name)
        super.tap { Internal.default_replaced if name.to_sym == :DefaultFactory }
      end
    end

    # Prepended to Pool, or extends one Pool, so that its Packers and Unpackers come from its Factory.
    module Lending # :nodoc:
      private

      def codec = @factory ? Calls.new(@factory, @options) : super
      def borrow_packer(codec) = @factory ? codec.packer : super
      def give_back_packer(packer) = @factory ? packer.reset : super
      def borrow_unpacker(codec) = @factory ? codec.unpacker : super
      def give_back_unpacker(unpacker) = @factory ? unpacker.reset : super
    end

    # Dumps and loads as a Pool of the msgpack gem does, method by method.
    Calls = Struct.new(:factory, :options) do # :nodoc:
      def packer = factory.packer(options).freeze
      def unpacker = factory.unpacker(options).freeze

      def dump(object)
        member = packer
        member.write(object)
        member.full_pack
      ensure
        member&.reset
      end

      def unpack(data, as: nil, collect: nil)
        return factory.codec(**options.to_h).unpack(data, as: as, collect: collect) unless as.nil? && collect.nil?

        member = unpacker
        member.feed(data)
        member.full_unpack
      ensure
        member&.reset
      end
    end
  end
  private_constant :Redefined
end
