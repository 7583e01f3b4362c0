# frozen_string_literal: true

# The files that a page of docs/ shows: each follows a line that has nothing but its name.
require "support/examples"

module Pages
  # Writes the files of a page to a folder, so that a test runs what readers copy. Returns their names.
  def write_files_of(page, folder)
    lines = File.readlines(File.join(Examples::ROOT, page), chomp: true, encoding: "UTF-8")
    starts = lines.each_index.select { |i| lines[i].match?(Examples::FILE) }
    starts.map do |i|
      name = lines[i][Examples::FILE, 1]
      File.write(File.join(folder, name), lines.drop(i + 3).take_while { |line| line != "```" }.join("\n"))
      name
    end
  end
end
