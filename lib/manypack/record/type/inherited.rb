# frozen_string_literal: true

#--
# The options and ext types that a type takes over from the types that it is made of.
#++
module Manypack
  class Type
    module Inherited # :nodoc:
      class << self
        # Returns the Types, Records among them, that a program wrote in a type: only they can have options.
        def parts(type)
          case type
          when Array then type.flat_map { |one| parts(one) }
          when Hash then parts(type.to_a)
          else [*Arguments.type_of(type)]
          end
        end

        # Returns a Codec with the options of all Codecs, and with the ext types of those that a program gave.
        #
        # following:: the Codecs whose ext types are those of DefaultFactory
        # given:: the other Codecs
        def codec(following, given)
          told = [*following.reject { |codec| codec.options.empty? }, *given].uniq
          check_options(told.map(&:options))
          check_types(given)
          told.reduce { |codec, other| Internal.codec_overlaid(codec, other) } || DefaultFactory.codec
        end

        private

        # The options agree, so the order in which Codecs are laid over matters only if their ext types differ.
        def check_types(given)
          same = given.each_cons(2).all? do |one, other|
            Internal.codec_overlaid(one, other) == Internal.codec_overlaid(other, one)
          end
          return if same

          raise ArgumentError, "its parts have Codecs with different ext types: give the whole type the Codec, by " \
                               "with(codec: ...), and not its parts"
        end

        def check_options(options)
          name, told = options.flat_map(&:to_a).uniq.group_by(&:first).find { |_, pairs| pairs.size > 1 }
          return unless told

          values = told.map { |_, value| value.inspect }.join(" and ")
          raise ArgumentError, "its parts have different options, #{name}: #{values}: give them to the whole type, " \
                               "by with(#{name}: ...), and not to its parts"
        end
      end
    end
    private_constant :Inherited
  end
end
