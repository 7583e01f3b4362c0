# frozen_string_literal: true

# What a Path finds in an object that was unpacked: the semantics of RFC 9535, word by word, in Ruby.
class PlainQuery
  NOTHING = Object.new.freeze

  # Returns an Array of pairs: a value, and the keys and indices that lead to it.
  def self.find(path, root)
    new(root).nodes(path.steps, [[root, []]])
  end

  def initialize(root)
    @root = root
  end

  def nodes(steps, nodes)
    descended = false
    steps.each do |step|
      descendant = step.is_a?(Array) && step[0] == :descendant
      nodes = nodes.flat_map { |node| below(node) } if descendant
      nodes = nodes.uniq { |_, keys| keys } if descendant && descended # not as in the standard: see docs/paths.md
      descended ||= descendant
      nodes = segment(step, nodes)
    end
    nodes
  end

  private

  def segment(step, nodes)
    selectors = step.is_a?(Array) ? step.drop(1) : [step]
    nodes.flat_map { |node| selectors.flat_map { |selector| selected(selector, node) } }
  end

  def below(node)
    [node, *children(node).flat_map { |child| below(child) }]
  end

  def children((value, keys))
    case value
    when Array then value.each_with_index.map { |part, i| [part, [*keys, i]] }
    when Hash then value.map { |key, part| [part, [*keys, key]] }
    else []
    end
  end

  def selected(selector, node)
    value, keys = node
    return children(node) if selector == :*
    return slice(node, *selector.drop(1)) if selector.is_a?(Array) && selector[0] == :slice
    return children(node).select { |part, _| condition(selector[1], part) } if selector.is_a?(Array)

    if value.is_a?(Hash) then value.key?(selector) ? [[value[selector], [*keys, selector]]] : []
    elsif value.is_a?(Array) && selector.is_a?(Integer) && selector.between?(-value.size, value.size - 1)
      [[value[selector], [*keys, selector % value.size]]]
    else []
    end
  end

  # Section 2.3.4.2.2 of the standard.
  def slice((value, keys), first, last, step)
    return [] unless value.is_a?(Array) && !step.zero?

    n = value.size
    first ||= step.positive? ? 0 : n - 1
    last ||= step.positive? ? n : -n - 1
    first, last = [first, last].map { |i| i.negative? ? i + n : i }
    indices = if step.positive? then (first.clamp(0, n)...last.clamp(0, n)).step(step).to_a
              else first.clamp(-1, n - 1).step(last.clamp(-1, n - 1) + 1, step).to_a
              end
    indices.map { |i| [value[i], [*keys, i]] }
  end

  def condition(node, current)
    case node[0]
    when :or then node.drop(1).any? { |part| condition(part, current) }
    when :and then node.drop(1).all? { |part| condition(part, current) }
    when :not then !condition(node[1], current)
    when :exists then !query(node[1], current).empty?
    when :compare then compare(node[1], operand(node[2], current), operand(node[3], current))
    when :call then match(node, current)
    end
  end

  def query((_, start, steps), current)
    nodes(steps, [[start == :root ? @root : current, []]]).map(&:first)
  end

  def operand(node, current)
    case node[0]
    when :value then node[1]
    when :query then single(query(node, current))
    else function(node[1], node[2][0], current)
    end
  end

  def single(values) = values.size == 1 ? values[0] : NOTHING

  def function(name, argument, current)
    return query(argument, current).size if name == :count
    return single(query(argument, current)) if name == :value

    value = operand(argument, current)
    [String, Array, Hash].any? { |type| value.is_a?(type) } ? value.size : NOTHING
  end

  def match(node, current)
    text, pattern = node[2].map { |part| operand(part, current) }
    return false unless text.is_a?(String) && text.encoding == Encoding::UTF_8 && pattern.is_a?(String)

    text.match?(node[1] == :match ? /\A(?:#{pattern})\z/ : /#{pattern}/)
  end

  def compare(operator, left, right)
    case operator
    when :== then left == right
    when :!= then !(left == right) # rubocop:disable Style/InverseMethods
    when :< then less?(left, right)
    when :> then less?(right, left)
    when :<= then less?(left, right) || left == right
    when :>= then less?(right, left) || left == right
    end
  end

  def less?(left, right)
    return left < right if left.is_a?(Numeric) && right.is_a?(Numeric)

    left.is_a?(String) && right.is_a?(String) && left.encoding == right.encoding && left.b < right.b
  end
end
