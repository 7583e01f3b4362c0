# frozen_string_literal: true

# Where source can be changed, and into what.
require "ripper"
require "strscan"

# A change of some bytes of a file.
Place = Struct.new(:path, :from, :to, :text) do
  def source
    @source ||= File.binread(path)
  end

  def changed
    source.byteslice(0, from) + text + source.byteslice(to..)
  end

  def to_s
    line = source.byteslice(0, from).count("\n") + 1
    was = source.byteslice(from...to).strip
    "#{path}:#{line}: #{text.empty? ? "without #{was}" : "#{was} becomes #{text}: #{source.lines[line - 1].strip}"}"
  end
end

module Places
  OTHERS = {
    "<" => "<=", "<=" => "<", ">" => ">=", ">=" => ">", "==" => "!=", "!=" => "==", "&&" => "||", "||" => "&&",
    "+" => "-", "-" => "+", "/" => "*", "%" => "/", "<<" => ">>", ">>" => "<<", "|" => "&", "&" => "|",
    "+=" => "-=", "-=" => "+=", "++" => "--", "--" => "++", "true" => "false", "false" => "true"
  }.freeze

  module_function

  def in(path)
    source = File.binread(path)
    tokens = path.end_with?(".rb") ? ruby_tokens(source) : c_tokens(source)
    tokens.filter_map { |at, text| changed(path, at, text) } + lines(path, source, tokens)
  end

  # Another operator, or a number that is larger by one.
  def changed(path, at, text)
    other = text.match?(/\A\d+\z/) ? (Integer(text, 10) + 1).to_s : OTHERS[text]
    other && Place.new(path, at, at + text.bytesize, other)
  rescue ArgumentError # octal
  end

  # Statements of one line that can be left out.
  def lines(path, source, tokens)
    code = tokens.map { |at, _| source.byteslice(0, at).count("\n") }.uniq
    at = 0
    source.lines.each_with_index.filter_map do |line, number|
      from = at
      at += line.bytesize
      next unless code.include?(number) && statement?(path, line)

      Place.new(path, from, at - 1, "")
    end
  end

  def statement?(path, line)
    return line.match?(/\A {4,}(?!return\b|break\b|continue\b|case\b|else\b|do\b).*;\s*\z/) if path.match?(/[ch]\z/)

    line.match?(/\A {4,}(?!(?:end|else|elsif|when|in|rescue|ensure|def|class|module|private|protected|begin|#)\b)\S/)
  end

  # Offset and text of operators, numbers and words, outside of comments, texts, and what the preprocessor reads.
  def c_tokens(source)
    scanner = StringScanner.new(source)
    found = []
    until scanner.eos?
      next if scanner.skip(%r{/\*.*?\*/}m) || scanner.skip(/^[ \t]*#(?:.*\\\n)*.*\n/) || scanner.skip(/"(?:\\.|[^"\\])*"/) ||
              scanner.skip(/'(?:\\.|[^'\\])*'/) || scanner.skip(/0[xX]\h+\w*/) || scanner.skip(/->|\s+/)

      at = scanner.pos
      text = scanner.scan(/\w+|<<=|>>=|[-+<>=!&|*\/%]=|&&|\|\||<<|>>|\+\+|--|./)
      found << [at, text]
    end
    found
  end

  def ruby_tokens(source)
    starts = source.lines.each_with_object([0]) { |line, all| all << (all.last + line.bytesize) }
    Ripper.lex(source.dup.force_encoding(Encoding::UTF_8)).filter_map do |(line, column), kind, text|
      [starts[line - 1] + column, text] unless %i[on_comment on_sp on_nl on_ignored_nl on_tstring_content on_embdoc].include?(kind)
    end
  end
end
