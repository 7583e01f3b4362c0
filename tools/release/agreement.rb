# frozen_string_literal: true

# What a release must agree about: the version, the head of the CHANGELOG, the man page, the tag and the working tree.
require "date"

module Release
  # A release as the repository describes it; #complaints says in sentences what keeps it from being published.
  class Agreement
    # version:: of lib/manypack/version.rb
    # changelog:: the text of CHANGELOG.md
    # manual:: the text of man/manypack.1
    # tags:: the names of the tags at HEAD
    # changes:: the files that are not committed
    # today:: a Date
    def initialize(version:, changelog:, manual:, tags:, changes:, today:)
      @version = version
      @heading = changelog[/^## (.+)/, 1].to_s
      @manual = manual
      @tags = tags
      @changes = changes
      @today = today
    end

    def complaints
      [about_heading, about_manual, about_tag, about_changes].compact
    end

    private

    def about_heading
      wanted = "#{@version} - YYYY-MM-DD"
      version, date = @heading.split(" - ", 2)
      return "CHANGELOG.md begins with \"## #{@heading}\", not with \"## #{wanted}\"." unless version == @version
      return "CHANGELOG.md dates #{@version} \"#{date}\", which is no date of the form YYYY-MM-DD." unless date?(date)

      "CHANGELOG.md dates #{@version} #{date}, which is in the future." if Date.iso8601(date) > @today
    end

    def date?(text) = text.to_s.match?(/\A\d{4}-\d\d-\d\d\z/) && Date.valid_date?(*text.split("-").map(&:to_i))

    def about_manual
      "man/manypack.1 is not of version #{@version}; run rake man." unless @manual.include?("\"manypack #{@version}\"")
    end

    def about_tag
      return if @tags.include?("v#{@version}")

      "HEAD has no tag v#{@version}#{"; it has #{@tags.join(", ")}" if @tags.any?}."
    end

    def about_changes
      "These files are not committed: #{@changes.join(", ")}." if @changes.any?
    end
  end
end
