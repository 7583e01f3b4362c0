# frozen_string_literal: true

# Turns objects and errors into a form that can be compared.
module Fuzz
  # The outcome of a decode in a comparable form: [:object, text, object], [:error, text, exception] or [:thrown].
  module Outcome
    module_function

    def of
      thrown = true
      object = nil
      catch(:fuzz) do
        object = yield
        thrown = false
      end
      thrown ? [:thrown] : [:object, text(object), object]
    rescue Violation
      raise
    rescue StandardError => e
      raise Violation, "offset #{e.offset} of: #{e.message}" unless placed?(e)

      [:error, error_text(e), e]
    end

    # Returns true if a DecodeError tells its offset, in its message and as a number.
    def placed?(error)
      with_path = error.is_a?(Manypack::RecordError) || error.is_a?(Manypack::ShapeError) ||
                  error.message.start_with?("JSON has no ")
      return error.message.include?(", byte #{error.offset}") if with_path

      return true unless error.is_a?(Manypack::DecodeError)

      error.message.match?(/, at byte #{error.offset}(?:[,;] .+)?\z/)
    end

    def same?(one, other)
      one[0] == other[0] && one[1] == other[1]
    end

    # Shows two outcomes to a person.
    def contrast(outcome, other, whose)
      "\n  #{describe(outcome)}\nbut #{whose}\n  #{describe(other)}"
    end

    def describe(outcome) = "#{outcome[0]} #{outcome[1].to_s[0, 600]}"

    # The class, offset and message of an error.
    def error_text(error)
      return "#{error.class} at #{error.offset}: #{error.message}" if error.is_a?(Manypack::DecodeError)

      # Before Ruby 3.4, #message runs did_you_mean, which is slow.
      message = error.respond_to?(:original_message) ? error.original_message : error.message
      "#{error.class}: #{message}".scrub
    end

    # An object as text, with all classes and encodings and the bits of floats.
    def text(object, into = +"")
      case object
      when nil, true, false, Integer then into << object.inspect
      when Float then into << "f" << [object].pack("G").unpack1("H*")
      when String then into << "s" << object.encoding.name << object.unpack1("H*")
      when Symbol then into << ":" << object.to_s.unpack1("H*")
      when Array then elements(object, into)
      when Hash then pairs(object, into)
      when Plain, Box then text(object.to_a[0], into << "(") << ")"
      when Key then text(object.body, into << "key ")
      else other(object, into)
      end
    end

    def elements(array, into)
      into << "["
      array.each { |element| text(element, into) << "," }
      into << "]"
    end

    def pairs(hash, into)
      into << "{"
      hash.each { |key, value| text(value, text(key, into) << "=>") << "," }
      into << "}"
    end

    def other(object, into)
      case object.class.name.to_s[/\w+\z/]
      when "ExtensionValue" then text(object.payload, into << "ext #{object.type} ")
      when "Timestamp" then into << "ts #{object.sec} #{object.nsec}"
      when "Time" then into << "t #{object.to_r}"
      else object.is_a?(Struct) ? elements(object.to_a, into) : into << object.class.name
      end
    end
  end
end
