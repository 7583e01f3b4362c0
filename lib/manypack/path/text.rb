# frozen_string_literal: true

#--
# Manypack::Path::Text: writes the parts of a path as the parser reads them.
#++
require_relative "../base/hidden"

module Manypack
  class Path
    # Writes steps, selectors and conditions so that the parser reads the same again.
    module Text # :nodoc:
      # A name that needs no quotes after the dot, as the standard has it. The parser reads more.
      NAME = /\A[a-zA-Z_\u0080-\u{10ffff}][a-zA-Z0-9_\u0080-\u{10ffff}]*\z/

      class << self
        def path(steps) = "$#{steps.map { |step| step(step) }.join}"

        def step(step)
          case step
          when Array then segment(step)
          when Symbol then step == ALL ? "[*]" : step(step.name)
          when String then plain?(step) ? ".#{step}" : "[#{quote(step)}]"
          else "[#{key(step)}]"
          end
        end

        # A key or index in brackets.
        def key(key)
          case key
          when Integer, Float, true, false then key.to_s
          when nil then "nil"
          when String then quote(key)
          else raise ::TypeError, "a step of a path is a String, number, true, false, nil or ALL, got #{key.class}"
          end
        end

        # Returns the name as the parser does, as a new String: text in UTF-8, other bytes as they are.
        def text_of(name) = text?(name) ? name.encode(Encoding::UTF_8) : name.b

        # The place of a value as the standard writes it. Keys are objects; those that no path can name show their type.
        def normalized(steps) = "$#{steps.map { |step| "[#{normalized_key(step)}]" }.join}"

        def quote(name)
          return %("#{name.b.gsub(/["\\]|[^ -~]/n) { |byte| escape(byte) }}").encode(Encoding::UTF_8) unless text?(name)

          %("#{name.encode(Encoding::UTF_8).gsub(/["\\]|#{HIDDEN}/o) { |char| escape(char) }}")
        end

        private

        def segment((kind, *selectors))
          inner = selectors.map { |selector| selector(selector) }.join(", ")
          "#{".." if kind == :descendant}[#{inner}]"
        end

        def selector(selector)
          return selector == ALL ? "*" : key(selector) unless selector.is_a?(Array)

          selector[0] == :slice ? slice(*selector.drop(1)) : "?#{condition(selector[1])}"
        end

        def slice(first, last, step)
          "#{first}:#{last}#{":#{step}" unless step == 1}"
        end

        def condition(node)
          case node[0]
          when :or then node.drop(1).map { |part| condition(part) }.join(" || ")
          when :and then node.drop(1).map { |part| conjunct(part) }.join(" && ")
          when :not then "!#{%i[exists call].include?(node[1][0]) ? condition(node[1]) : "(#{condition(node[1])})"}"
          when :compare then "#{operand(node[2])} #{node[1]} #{operand(node[3])}"
          when :exists then operand(node[1])
          else operand(node)
          end
        end

        def conjunct(node) = node[0] == :or ? "(#{condition(node)})" : condition(node)

        def operand(node)
          case node[0]
          when :value then literal(node[1])
          when :query then "#{node[1] == :root ? "$" : "@"}#{node[2].map { |step| step(step) }.join}"
          when :call then "#{node[1]}(#{node[2].map { |part| operand(part) }.join(", ")})"
          else condition(node)
          end
        end

        def literal(value)
          case value
          when String then quote(value)
          when nil then "null"
          else value.to_s
          end
        end

        def normalized_key(key)
          case key
          when Symbol then normalized_key(key.name)
          when String then text?(key) ? single_quoted(key) : quote(key)
          when Integer, true, false, nil then key(key)
          when Float then key.nan? ? "float64" : key(key)
          when View then key.type.to_s
          when Array then "array"
          when Hash then "map"
          else "ext"
          end
        end

        def single_quoted(name)
          "'#{name.encode(Encoding::UTF_8).gsub(/['\\\u0000-\u001f]/) { |char| escape(char) }}'"
        end

        def plain?(name) = text?(name) && name.match?(NAME) && !name.match?(HIDDEN)

        def text?(name)
          name.encoding == Encoding::BINARY ? name.ascii_only? : name.valid_encoding?
        end

        def escape(char)
          return format("\\x%02X", char.ord) if char.encoding == Encoding::BINARY && char.ord >= 0x7f

          Parser::ESCAPES.key(char)&.then { |letter| "\\#{letter}" } || format("\\u%04x", char.ord)
        end
      end
    end
  end
end
