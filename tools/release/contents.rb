# frozen_string_literal: true

# What is in a gem, beside the list of what should be: tools/release/contents.txt, which `rake release:contents` writes.
require "rubygems/package"

module Release
  # The files of a built gem; #complaints says in sentences how they differ from the list.
  class Contents
    LIST = File.join(__dir__, "contents.txt")
    NATIVE = %r{\Alib/manypack/\d+\.\d+/manypack\.so\z}

    # Reads the list.
    def self.listed = File.readlines(LIST, chomp: true)

    # The names of the files in the gem at path, sorted.
    def self.of(path) = Gem::Package.new(path).contents.sort

    # path:: of a gem
    # listed:: the names of the files that should be in it
    def initialize(path, listed: Contents.listed)
      @name = File.basename(path)
      @files = Contents.of(path)
      @listed = listed
    end

    def complaints
      surplus = @files.grep_v(NATIVE) - @listed
      missing = @listed - @files
      [("#{@name} has files that are not on the list: #{surplus.join(", ")}." if surplus.any?),
       ("#{@name} lacks files of the list: #{missing.join(", ")}." if missing.any?)].compact
    end
  end
end
