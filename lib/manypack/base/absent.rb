# frozen_string_literal: true

#--
# Manypack::ABSENT.
#++
module Manypack
  # The class of ABSENT.
  class Absent # :nodoc:
    def self._load(_) = ABSENT
    def inspect = "Manypack::ABSENT"
    alias to_s inspect

    def dup = self
    def clone(freeze: true) = self

    # Called by Manypack.pack. Raises TypeError, because ABSENT is no value.
    def to_msgpack(*)
      Internal.raise_type_error("Manypack::ABSENT is no value: dump leaves it out only as a member of a Record whose " \
                                "default it is")
    end
    alias to_json to_msgpack
    alias as_json to_msgpack

    private

    def _dump(_) = ""
  end
  private_constant :Absent

  # The value of a member that a message lacks, where nil has another meaning: use it as a default of Record#with. Dump
  # leaves such a member out. It is one object, also after Marshal and in every Ractor.
  #
  #   Change = Struct.new(:email)
  #   CHANGE = Manypack::Record.new(Change, email: Manypack::Type[String, nil])
  #                            .with(defaults: {email: Manypack::ABSENT})
  #   CHANGE.load(Manypack.pack({})).email               #=> Manypack::ABSENT
  #   CHANGE.load(Manypack.pack({"email" => nil})).email #=> nil
  ABSENT = Ractor.make_shareable(Absent.new)
  Absent.private_class_method :new
end
