# frozen_string_literal: true

# The files of the extension stand on floors: each uses only those below it. A file here is a .c and its .h together.
require "minitest/autorun"

class FloorsTest < Minitest::Test
  EXT = File.expand_path("../ext/manypack", __dir__)
  CORE = File.expand_path("../core", __dir__)

  # Where a machine calls user code, which comes back with an object of a class from above.
  SEAMS = [%w[foreign packer], %w[ext unpacker]].freeze

  SOURCES = Dir["#{EXT}/*.{c,h}"].sort.group_by { |path| File.basename(path, ".*") }.freeze

  def test_no_file_uses_one_that_uses_it
    uses = SOURCES.to_h { |file, paths| [file, used_by(paths) - [file]] }
    SEAMS.each { |from, to| assert uses[from].delete(to), "#{from} does not use #{to}: there is no seam" }
    until uses.empty?
      grounded = uses.keys.select { |file| uses[file].empty? }
      flunk "in a circle, or above one: #{uses.inspect}" if grounded.empty?
      grounded.each { |file| uses.delete(file) }
      uses.each_value { |used| used.reject! { |file| grounded.include?(file) } }
    end
  end

  # Otherwise a call could go where no include does.
  def test_a_function_is_declared_in_the_header_of_its_file_alone
    SOURCES.each do |file, paths|
      paths.grep(/\.h\z/).each do |header|
        declared(header).each do |function|
          homes = SOURCES.select { |_, all| all.any? { |path| defines?(path, function) } }.keys
          assert_equal [file], homes, "#{function}, declared in #{File.basename(header)}"
        end
      end
      next if file == "init"

      paths.grep(/\.c\z/).each { |path| assert_empty File.read(path).scan(/^extern .*/), path }
    end
  end

  def test_init_names_every_file_that_has_something_to_set_up_and_both_seams
    init = File.read("#{EXT}/init.c")
    SOURCES.each_value do |paths|
      paths.each { |path| File.read(path).scan(/^(Init_\w+)\(void\)$/) { |(name)| assert_includes init, name } }
    end
    SEAMS.flatten.each { |file| assert_includes init, file }
  end

  def test_the_core_knows_nothing_of_ruby
    assert_empty Dir["#{CORE}/*.{c,h}"].select { |path| File.read(path).match?(/#include\s*[<"]ruby/) }
    own = Dir["#{CORE}/*.h"].map { |path| File.basename(path) }
    Dir["#{CORE}/*.{c,h}"].each { |path| assert_empty included(path) - own, path }
  end

  private

  def included(path)
    File.read(path).scan(/^#include "(\w+\.h)"/).flatten
  end

  def used_by(paths)
    paths.flat_map { |path| included(path) }.map { |name| File.basename(name, ".h") }.uniq & SOURCES.keys
  end

  def declared(header)
    File.read(header).gsub(%r{/\*.*?\*/}m, "").scan(/^(?=\S)(?:NORETURN\()?(?!static|MP_INLINE|typedef|extern|#)[\w *]+?(mp_\w+)\([^;{]*\);/m).flatten.uniq
  end

  def defines?(path, function)
    File.read(path).match?(/^#{function}\(/)
  end
end
