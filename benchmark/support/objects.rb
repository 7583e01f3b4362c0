# frozen_string_literal: true

# Counts what serializers go through: values and keys.
module Objects
  # @param payload [Object]
  # @return [Integer]
  def self.count(payload)
    case payload
    when Hash then payload.sum(1) { |key, value| count(key) + count(value) }
    when Array then payload.sum(1) { |value| count(value) }
    when Struct then payload.to_a.sum(1) { |value| count(value) }
    when Payloads::Stream then payload.sum { |message| count(message) } / payload.count
    else 1
    end
  end
end
