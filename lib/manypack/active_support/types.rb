# frozen_string_literal: true

#--
# The ext types of ActiveSupport's own classes, with the numbers and bytes of ActiveSupport::MessagePack.
#++
module Manypack
  module ActiveSupport
    # Handlers are methods of this module, so that they can be called in every Ractor.
    module Types # :nodoc:
      extend self

      # The parts of a Duration in the order in which they are written.
      PARTS = %i[years months weeks days hours minutes seconds].freeze

      # Returns the arguments of Factory#register_type for each type, and loads the classes.
      def registrations
        require "active_support/time"
        require "active_support/core_ext/string/output_safety"
        require "active_support/core_ext/hash/indifferent_access"
        [
          [8, ::ActiveSupport::TimeWithZone, handlers(:time_with_zone, recursive: true)],
          [9, ::ActiveSupport::TimeZone, handlers(:time_zone)],
          [10, ::ActiveSupport::Duration, handlers(:duration, recursive: true)],
          [17, ::ActiveSupport::HashWithIndifferentAccess, handlers(:indifferent_hash, recursive: true)],
          [18, ::ActiveSupport::SafeBuffer, handlers(:safe_buffer, recursive: true)]
        ]
      end

      # The seconds are in UTC, so the offset is always 0.
      def write_time_with_zone(time, packer)
        packer.write(time.tv_sec)
        packer.write(time.tv_nsec)
        packer.write(0)
        packer.write(time.time_zone.name)
      end

      def read_time_with_zone(unpacker)
        seconds, nanoseconds, = Array.new(3) { CommonTypes.read_integer(unpacker, "TimeWithZone") }
        zone(unpacker.read).at(seconds, nanoseconds, :nanosecond)
      end

      def write_time_zone(zone) = zone.name
      def read_time_zone(name) = zone(name.dup.force_encoding(Encoding::UTF_8))

      def write_duration(duration, packer)
        packer.write(duration.value)
        packer.write(duration.parts.values_at(*PARTS))
      end

      # The value is not always the sum of the parts: 5.minutes / 7 has no parts.
      def read_duration(unpacker)
        value = unpacker.read
        amounts = unpacker.read
        unless value.is_a?(Numeric) && amounts.is_a?(Array) &&
               amounts.all? { |amount| amount.nil? || amount.is_a?(Numeric) }
          raise MalformedFormatError, "not the body of a Duration"
        end

        ::ActiveSupport::Duration.new(value, PARTS.zip(amounts).to_h.compact)
      end

      def write_indifferent_hash(hash, packer)
        form = Internal.canonical_bytes(packer, hash.to_h)
        form ? packer.buffer.write(form) : packer.write(hash.to_h)
      end

      def read_indifferent_hash(unpacker)
        hash = unpacker.read
        return hash.with_indifferent_access if hash.is_a?(Hash)

        raise MalformedFormatError, "the body of a HashWithIndifferentAccess is a map, not #{hash.class}"
      end

      # Writes a plain String: a SafeBuffer would be packed by this method again.
      def write_safe_buffer(buffer, packer) = packer.write(String.new(buffer))

      def read_safe_buffer(unpacker)
        text = unpacker.read
        return text.html_safe if text.is_a?(String)

        raise MalformedFormatError, "the body of a SafeBuffer is a str, not #{text.class}"
      end

      private

      def handlers(name, **options)
        { packer: method(:"write_#{name}"), unpacker: method(:"read_#{name}"), **options }
      end

      def zone(name)
        zone = ::ActiveSupport::TimeZone[name] if name.is_a?(String)
        zone || raise(MalformedFormatError, "unknown time zone #{Excerpt.of(name.inspect)}")
      end
    end
    private_constant :Types
  end
end
