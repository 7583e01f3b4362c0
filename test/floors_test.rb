# frozen_string_literal: true

# The files of the extension stand on floors: each uses only those below it. A file here is a .c and its .h together.
require "minitest/autorun"

class FloorsTest < Minitest::Test
  EXT = File.expand_path("../ext/manypack", __dir__)
  CORE = File.expand_path("../core", __dir__)

  # Where a machine calls user code, which comes back with an object of a class from above.
  SEAMS = [%w[foreign packer], %w[ext body_unpacker]].freeze

  SOURCES, CORE_SOURCES = [EXT, CORE].map { |dir| Dir["#{dir}/*.{c,h}"].sort.group_by { |path| File.basename(path, ".*") }.freeze }

  # The files in the order in which init.c names them, from the ground up.
  FLOORS = File.read("#{EXT}/init.c", encoding: "UTF-8")[/^ \*   ground .*?^ \*$/m].scan(/\w+/).select { |word| SOURCES.key?(word) }.uniq.freeze

  def test_init_names_every_file
    assert_equal SOURCES.keys.sort, [*FLOORS, "init"].sort
  end

  def test_a_file_uses_only_files_that_init_names_before_it
    SOURCES.each do |file, paths|
      next if file == "init"

      seams = SEAMS.filter_map { |from, to| to if from == file }
      assert_empty seams - used_by(paths), "#{file} does not use it: there is no seam"
      assert_empty used_by(paths) - [file] - seams - FLOORS.take(FLOORS.index(file)), "#{file} uses what stands above it"
    end
  end

  # The files of the core have no order by hand; in one without a circle, some file uses none of those that are left.
  def test_the_core_has_no_circle
    left = CORE_SOURCES.transform_values { |paths| used_by(paths, CORE_SOURCES) }.to_h { |file, used| [file, used - [file]] }
    until left.empty?
      ground = left.select { |_, used| (used & left.keys).empty? }.keys
      refute_empty ground, "a circle among #{left.keys.join(", ")}"
      left = left.except(*ground)
    end
  end

  # Otherwise a call could go where no include does.
  def test_a_function_is_declared_in_the_header_of_its_file_alone
    [SOURCES, CORE_SOURCES].each { |sources| assert_declared_at_home(sources) }
  end

  def test_init_names_every_file_that_has_something_to_set_up_and_both_seams
    init = File.read("#{EXT}/init.c", encoding: "UTF-8")
    SOURCES.each_value do |paths|
      paths.each { |path| File.read(path, encoding: "UTF-8").scan(/^(Init_\w+)\(void\)$/) { |(name)| assert_includes init, name } }
    end
    SEAMS.flatten.each { |file| assert_includes init, file }
  end

  def test_the_core_knows_nothing_of_ruby
    assert_empty Dir["#{CORE}/*.{c,h}"].select { |path| File.read(path, encoding: "UTF-8").match?(/#include\s*[<"]ruby/) }
    own = Dir["#{CORE}/*.h"].map { |path| File.basename(path) }
    Dir["#{CORE}/*.{c,h}"].each { |path| assert_empty included(path) - own, path }
  end

  private

  def assert_declared_at_home(sources)
    sources.each do |file, paths|
      paths.grep(/\.h\z/).each do |header|
        declared(header).each do |function|
          homes = sources.select { |_, all| all.any? { |path| defines?(path, function) } }.keys
          assert_equal [file], homes, "#{function}, declared in #{File.basename(header)}"
        end
      end
      next if file == "init"

      paths.grep(/\.c\z/).each { |path| assert_empty File.read(path, encoding: "UTF-8").scan(/^(?:extern|(?!static)[A-Z_a-z][\w *]* \**mp_\w+\([^;{]*\);).*/), path }
    end
  end

  def included(path)
    File.read(path, encoding: "UTF-8").scan(%r{^\s*#\s*include\s*"(?:[^"]*/)?(\w+\.h)"}).flatten
  end

  def used_by(paths, sources = SOURCES)
    paths.flat_map { |path| included(path) }.map { |name| File.basename(name, ".h") }.uniq & sources.keys
  end

  def declared(header)
    File.read(header, encoding: "UTF-8").gsub(%r{/\*.*?\*/}m, "").scan(/^(?=\S)(?:NORETURN\()?(?!static|MP_INLINE|typedef|extern|#)[\w *]+?(mp_\w+)\([^;{]*\);/m).flatten.uniq
  end

  def defines?(path, function)
    File.read(path, encoding: "UTF-8").match?(/^#{function}\(/)
  end
end
