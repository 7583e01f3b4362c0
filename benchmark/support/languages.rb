# frozen_string_literal: true

# The MessagePack of other languages, in a Debian of its own; debian.sh makes it.
require "fileutils"
require_relative "contender_process"
require_relative "workload"

class Languages
  ROOT = File.expand_path("../../vendor/benchmark/languages", __dir__)
  SCRIPTS = File.expand_path("../languages", __dir__)
  ROOTFS = File.expand_path("../../.ci/rootfs.sh", __dir__)

  # Label to command.
  CONTENDERS = {
    "msgspec (Python)" => %w[python3 child.py msgspec],
    "ormsgpack (Python)" => %w[python3 child.py ormsgpack],
    "msgpack (Python)" => %w[python3 child.py msgpack],
    "msgpackr (Node)" => %w[node --expose-gc child.js msgpackr]
  }.freeze

  # The groups of cases that each takes part in. Of these libraries only msgspec reads into objects of classes, and one
  # of each language looks into documents.
  GROUPS = CONTENDERS.transform_values { [Workload::LANGUAGES] }.merge(
    "msgspec (Python)" => [Workload::LANGUAGES, Workload::RECORDS, Workload::LOOKS],
    "msgpackr (Node)" => [Workload::LANGUAGES, Workload::LOOKS]
  ).freeze

  # Folder of the programs, outside of their root.
  HOME = File.join(ROOT, "root/manypack")

  # @return [Boolean]
  def self.available?
    Dir.exist?(ROOT)
  end

  # @return [Array<ContenderProcess>]
  def self.processes
    FileUtils.cp(Dir[File.join(SCRIPTS, "child.*")], HOME)
    malloc = ContenderProcess::SETTLED_MALLOC.map { |name, value| "#{name}=#{value}" }
    CONTENDERS.map do |label, command|
      ContenderProcess.new(label, ["bash", ROOTFS, "run", ROOT, "env", *malloc, *command])
    end
  end

  # @param process [ContenderProcess]
  # @return [Array<String>] the groups of cases that it takes part in
  def self.groups(process)
    GROUPS.fetch(process.label)
  end

  # Gives the documents to the programs.
  #
  # @param cases [Array<Workload::Case>]
  # @param manypack [ContenderProcess] who packs them
  def self.hand_out(cases, manypack)
    return unless available?

    cases.select { |one| GROUPS.values.flatten.include?(one.group) }.each do |one|
      manypack.ask("write", one.id, File.join(HOME, "documents", "#{one.name}.msgpack"))
    end
  end

  # @param check [Hash] a child's answer
  # @return [Boolean] whether what it packed is the document, or the right answer to a look into it
  def self.same?(id, check, manypack)
    manypack.ask("same?", id, File.join(HOME, check.fetch(:file)))
  end
end
