# frozen_string_literal: true

#--
# Symbols as types: each is the name of a Record around it.
#++
module Manypack
  class Type
    # Checks names that no Record around them has, at the first use of their Type: before that, classes may be missing.
    module Names # :nodoc:
      class << self
        # Raises ArgumentError for a name that no class has, or that the Record's own class got too late. In another
        # place, a Record around may have the name of any other class.
        def check(name, record, member)
          late = record.named?(name)
          return if !late && places(record.klass).any? { |place| there?(place, name) }

          advice = late ? ", and its class got that name after the Record was made: write :self" : misspelt(name)
          klass = record.klass.name || record.klass.inspect
          Arguments.refuse(ArgumentError.new("#{klass}##{member} has the type #{name.inspect}#{advice}"))
        end

        private

        def places(klass)
          names = klass.name.to_s.split("::")[0...-1]
          [Object, *names.each_index.map { |last| Object.const_get(names[0..last].join("::")) }]
        rescue NameError
          [Object]
        end

        def there?(place, name)
          place.const_defined?(name)
        rescue NameError
          false
        end

        def misspelt(name)
          classes = [Struct, *(Data if defined?(Data))].flat_map { |klass| below(klass) }
          similar = Guesses.similar(name, classes.filter_map { |klass| klass.name&.split("::")&.last }.uniq)
          guess = ", did you mean #{similar.to_sym.inspect}?" if similar
          ", which is the name of no class#{guess} (a Symbol means the Record around it whose class has that name; " \
            "the literal alone is the type [#{name.inspect}, #{name.inspect}])"
        end

        def below(klass)
          klass.subclasses.flat_map { |one| [one, *below(one)] }
        end
      end
    end
    private_constant :Names
  end
end
