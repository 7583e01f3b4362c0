# frozen_string_literal: true

# Rewrites the lists of options in sig/ by the rows of base/options.c and core/limit_list.h, so that a new option needs
# a row there and `rake sig`. A list has all options of what it packs, unpacks, reads or writes as JSON: it is known by
# two of them. Shorter lists stay as they are.
module GenSig
  ROOT = File.expand_path("..", __dir__)
  WIDTH = 118
  NUMBERS = %w[DEPTH SIZE LARGE COUNT BUFFER_SIZE].freeze

  Row = Struct.new(:name, :type, :effects, :buffer)

  # The effects that a list has, by two options that only lists with this effect have together.
  MARKS = { "MP_PACKS" => %w[?timestamp: ?canonical:], "MP_UNPACKS" => %w[?symbolize_keys: ?max_bytes:],
            "MP_FROM_JSON" => %w[?canonical: ?allow_nan:], "MP_TO_JSON" => %w[?pretty: ?allow_nan:] }.freeze
  SETS = { "READS" => MARKS.keys - ["MP_PACKS"], "BOTH" => %w[MP_PACKS MP_UNPACKS], "MP_CONFIGURES" => MARKS.keys,
           "JSON" => %w[MP_FROM_JSON MP_TO_JSON] }.freeze

  def self.read(path) = File.read(File.join(ROOT, path), encoding: "UTF-8")

  LIMITS = read("core/limit_list.h").scan(/^ +M\(X, .*?"(\w+)"/).map { |(name)| Row.new(name, "Integer?", SETS["READS"]) }
  ROW = /^    \{"(\w+)", (\w+), (?:OF\w*\(.*?\)|SIZE_MAX), [^,]+, [^,]+, ([\w |]+), \w+,\s*(.*?)\},|^    MP_LIMITS_EACH/m

  TABLE = read("ext/manypack/base/options.c").gsub(/JSON_ROW\((".*?, .*?), (\w+), \w+\)/, '{\1, OF(json), 0, 0, \2, 0, }')
  ROWS = TABLE.scan(ROW).flat_map { |name, kind, effect, values|
    next LIMITS unless name

    type = if NUMBERS.include?(kind) then "Integer?"
           elsif kind == "BYTES_AS" then "(:error | :base64 | :hex#{" | :name" if name == "ext"})?"
           elsif kind == "CALLED" then "_Default?"
           elsif values.include?('"') then "(#{values.scan(/\w+(?=")/).map { |value| ":#{value}" }.join(" | ")})?"
           else "bool?"
           end
    Row.new(name, type, effect.split(" | ").flat_map { |one| SETS.fetch(one, [one]) }, kind == "BUFFER_SIZE")
  }.freeze

  ONE = /\?(?:#{ROWS.map(&:name).join("|")}): (?:\([^)]*\)|\w+)\??/
  LIST = /#{ONE}(?:,\s+#{ONE}){3,}/
  SIGNATURE = /^ *(?:def|\||type) .*(?:\n +\?.*)*/ # and the lines that continue its arguments

  # Returns the text of a file of signatures, with all lists as they should be.
  def self.text(signatures)
    signatures.gsub(SIGNATURE) do |signature|
      changed = signature.gsub(LIST) { |list| full(list) }
      changed.split == signature.split ? signature : wrapped(changed)
    end
  end

  def self.full(list)
    effects = MARKS.filter_map { |effect, marks| effect if marks.all? { |mark| list.include?(mark) } }
    return list if effects.empty?

    rows = ROWS.select { |row| row.effects.intersect?(effects) }
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
