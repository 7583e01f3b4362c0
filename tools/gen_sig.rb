# frozen_string_literal: true

# Rewrites the lists of options in sig/ by the rows of base/options.c and core/limit_list.h, so that a new option needs
# a row there and `rake sig`. A list has all options of packing, of unpacking or of both: it is known by
# compatibility_mode and canonical, and by symbolize_keys and max_bytes. Shorter lists stay as they are.
module GenSig
  ROOT = File.expand_path("..", __dir__)
  WIDTH = 118
  NUMBERS = %w[DEPTH SIZE LARGE COUNT BUFFER_SIZE].freeze

  Row = Struct.new(:name, :type, :packs, :unpacks, :buffer)

  def self.read(path) = File.read(File.join(ROOT, path), encoding: "UTF-8")

  LIMITS = read("core/limit_list.h").scan(/^ +M\(X, .*?"(\w+)"/).map { |(name)| Row.new(name, "Integer?", false, true) }
  ROW = /^    \{"(\w+)", (\w+), .*?(MP_\w*S), \d+,\s*(.*?)\},|^    MP_LIMITS_EACH/m

  ROWS = read("ext/manypack/base/options.c").scan(ROW).flat_map { |name, kind, effect, values|
    next LIMITS unless name

    type = if NUMBERS.include?(kind) then "Integer?"
           elsif values.include?('"') then "(#{values.scan(/\w+(?=")/).map { |value| ":#{value}" }.join(" | ")})?"
           else "bool?"
           end
    Row.new(name, type, effect != "MP_UNPACKS", effect != "MP_PACKS", kind == "BUFFER_SIZE")
  }.freeze

  ONE = /\?(?:#{ROWS.map(&:name).join("|")}): (?:\([^)]*\)|\w+)\??/
  LIST = /#{ONE}(?:,\s+#{ONE}){3,}/
  SIGNATURE = /^ *(?:def|\||type) .*(?:\n +\?.*)*/ # and the lines that continue its arguments
  MARKS = [%w[?compatibility_mode: ?canonical:], %w[?symbolize_keys: ?max_bytes:]].freeze

  # Returns the text of a file of signatures, with all lists as they should be.
  def self.text(signatures)
    signatures.gsub(SIGNATURE) do |signature|
      changed = signature.gsub(LIST) { |list| full(list) }
      changed.split == signature.split ? signature : wrapped(changed)
    end
  end

  def self.full(list)
    packs, unpacks = MARKS.map { |marks| marks.all? { |mark| list.include?(mark) } }
    return list unless packs || unpacks

    rows = ROWS.select { |row| (packs && row.packs) || (unpacks && row.unpacks) }
    rows.reject!(&:buffer) unless list.include?("?io_buffer_size:")
    full = rows.map { |row| "?#{row.name}: #{row.type}" }.join(", ")
    list.include?(":first") ? full.sub(":last |", ":last | :first |") : full # where a look takes duplicate_keys: :first
  end

  # Breaks a signature after commas, with its arguments below each other.
  def self.wrapped(signature)
    indent = " " * signature.index(/(?<=[({])[^ ]|(?<=\{ )/)
    words = signature.gsub(/\n +/, " ").split(/(?<=,) (?=\?)|(?<=\)) (?=\{ \()/)
    filled = words.each_with_object([+""]) do |word, lines|
      lines << indent.dup if lines.last.size + word.size >= WIDTH
      lines.last << (lines.last.match?(/\S/) ? " #{word}" : word)
    end
    filled.join("\n")
  end
end

if $PROGRAM_NAME == __FILE__
  Dir[File.join(GenSig::ROOT, "sig/*.rbs")].each do |path|
    File.write(path, GenSig.text(File.read(path, encoding: "UTF-8")))
  end
end
