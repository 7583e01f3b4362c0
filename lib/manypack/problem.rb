# frozen_string_literal: true

#--
# Errors as problem details (RFC 9457), for the files that speak HTTP.
#++
module Manypack
  # Describes an error to the client that caused it, as application/problem+json.
  module Problem # :nodoc:
    TYPE = "application/problem+json"

    # Returns the status of the response to a DecodeError.
    def self.status_of(error)
      case error
      when LimitError then 413
      when RecordError then 422
      else 400
      end
    end

    # Returns the problem as a Hash. An error of a Record has an entry for each of its errors.
    def self.of(error, status, title)
      problem = { "title" => text(title), "status" => status, "detail" => detail(error) }
      return problem unless error.is_a?(RecordError)

      errors = error.details.map do |one|
        pointer = one[:pointer] && "##{one[:pointer]}"
        { "detail" => text(one[:message]), "pointer" => pointer, "code" => one[:code].name }.compact
      end
      problem.merge("errors" => errors)
    end

    # Describes the error without naming a class of the program.
    def self.detail(error)
      text(Excerpt.of(error.is_a?(RecordError) ? error.sentence : error.message))
    end

    # Returns a text in valid UTF-8, for JSON.
    def self.text(text) = String.new(text, encoding: Encoding::UTF_8).scrub
    private_class_method :text

    # Returns the same as a JSON text.
    def self.json(...) = Manypack.to_json(Manypack.pack(of(...)))
  end
  private_constant :Problem
end
