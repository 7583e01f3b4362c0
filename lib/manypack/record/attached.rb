# frozen_string_literal: true

#--
# The methods that Record#attach gives a class.
#++
module Manypack
  class Record < Type
    # What a class gets from Record#attach.
    module Attached # :nodoc:
      # The methods of the class.
      module Loading
        # The Record of the class.
        def record
          self::MANYPACK_RECORD
        end

        # Loads an object from packed bytes, as Record#load does.
        def load(bytes, collect: false)
          record.load(bytes, collect: collect)
        end
      end

      # The methods of its objects.
      module Dumping
        # Packs it, as Record#dump does.
        def dump(check: false)
          self.class.record.dump(self, check: check)
        end

        # Writes it to a Packer, as Manypack.pack asks for; without one it returns the bytes.
        def to_msgpack(packer = nil)
          return dump unless packer

          packer.buffer.write(dump)
          packer
        end
      end
    end
    private_constant :Attached
  end
end
