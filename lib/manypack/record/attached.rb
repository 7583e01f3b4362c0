# frozen_string_literal: true

#--
# The methods that Record#attach gives a class.
#++
module Manypack
  class Record < Type
    # What a class gets from Record#attach.
    module Attached # :nodoc:
      # The methods of the class.
      module Loading # :nodoc:
        # The Record of the class.
        def record
          self::MANYPACK_RECORD
        end

        # Loads an object from packed bytes, as Record#load does.
        def load(bytes, collect: false)
          record.load(bytes, collect: collect)
        end
      end

      # The methods of its objects. A member may be called dump or class, so they do not call those of the object.
      module Dumping # :nodoc:
        # Packs it, as Record#dump does.
        def dump(check: false)
          __manypack_record__.dump(self, check: check)
        end

        # Writes it to a Packer, as Manypack.pack asks for; without one it returns the bytes.
        def to_msgpack(packer = nil)
          bytes = __manypack_record__.dump(self)
          return bytes unless packer

          packer.buffer.write(bytes)
          packer
        end
      end

      class << self
        # Gives a class its Record. The method is made of text, so that every Ractor may call it.
        def install(klass, record)
          klass.const_set(:MANYPACK_RECORD, record)
          klass.class_eval("private def __manypack_record__ = MANYPACK_RECORD", __FILE__, __LINE__)
          klass.extend(Loading)
          klass.include(Dumping)
        end

        # Those of the methods that a class has from elsewhere, and that would be replaced.
        def taken(klass)
          own(klass.singleton_class, Object.singleton_class, Loading) + own(klass, Object, Dumping)
        end

        private

        def own(klass, base, methods)
          methods.instance_methods.select do |name|
            next unless klass.method_defined?(name) || klass.private_method_defined?(name)

            ![*base.ancestors, methods].include?(klass.instance_method(name).owner)
          end
        end
      end
    end
    private_constant :Attached
  end
end
