# frozen_string_literal: true

# What is in a gem, beside what should be: the files that git tracks in the folders that users get.
require "rubygems/package"

module Release
  # The files of a built gem; #complaints says in sentences how they differ from the list.
  class Contents
    SHIPPED = %w[.yardopts LICENSE {CHANGELOG,CONTRIBUTING,README,SECURITY}.md core/*.{c,h} docs/*.md docs/*/*.{json,svg}
                 examples/*/*.rb exe/manypack ext/manypack/extconf.rb ext/manypack/**/*.{c,h} lib/**/*.rb
                 man/manypack.1 sig/**/*.rbs test/vectors/*.json].freeze
    NATIVE = %r{\Alib/manypack/\d+\.\d+/manypack\.so\z}

    # Of the names of files, those that a gem should hold.
    def self.shipped(names)
      flags = File::FNM_PATHNAME | File::FNM_EXTGLOB
      names.select { |name| SHIPPED.any? { |pattern| File.fnmatch(pattern, name, flags) } }.sort
    end

    # What a gem of that commit should hold.
    def self.listed(commit = "HEAD")
      shipped(IO.popen(["git", "ls-tree", "-r", "--name-only", "--full-tree", commit], chdir: __dir__, &:readlines).map(&:chomp))
    end

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
