# frozen_string_literal: true

# The folders of the extension are floors: each uses only those below it. A file here is a .c and its .h together.
require "minitest/autorun"

class FloorsTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  EXT, CORE = %W[#{ROOT}/ext/manypack #{ROOT}/core].freeze
  INIT = File.read("#{EXT}/init.c", encoding: "UTF-8").freeze

  # Where a machine calls user code, which comes back with an object of a class from above.
  SEAMS = [%w[foreign packer], %w[ext body_unpacker]].freeze

  PATHS = Dir["#{EXT}/**/*.{c,h}"].sort.freeze
  SOURCES, CORE_SOURCES = [PATHS, Dir["#{CORE}/*.{c,h}"].sort].map { |paths| paths.group_by { |path| File.basename(path, ".*") }.freeze }
  FOLDERS = PATHS.map { |path| File.dirname(path) }.uniq.-([EXT]).map { |path| File.basename(path) }.freeze

  # In the drawing of init.c, "name   what it is   what it uses", from the ground up.
  DRAWN = INIT.scan(/^ \*   (\w+) {2,}\S.*? {2,}(\S.*)$/).to_h { |name, uses| [name, uses.split] }.freeze

  def test_init_draws_every_folder_with_all_that_it_uses
    assert_equal FOLDERS.to_h { |folder| [folder, uses_of(folder).sort] }, DRAWN.transform_values(&:sort)
  end

  def test_a_folder_uses_only_folders_that_init_draws_below_it
    DRAWN.each_key.with_index { |folder, floor| assert_empty DRAWN[folder] - ["core", *DRAWN.keys.take(floor)], folder }
  end

  def test_there_is_no_circle_among_files
    [SOURCES.to_h { |file, paths| [file, used_by(paths) - seams_of(file)] }, CORE_SOURCES.transform_values { |paths| used_by(paths, CORE_SOURCES) }].each do |arrows|
      left = arrows.to_h { |file, used| [file, used - [file]] }
      until left.empty?
        ground = left.select { |_, used| (used & left.keys).empty? }.keys
        refute_empty ground, "a circle among #{left.keys.join(", ")}"
        left = left.except(*ground)
      end
    end
  end

  def test_both_seams_are_there_and_init_explains_them
    SEAMS.each do |from, to|
      assert_includes used_by(SOURCES.fetch(from)), to
      assert_match(/^ \*   #{from}\.c calls .*\(#{to}\.h\)$/, INIT)
    end
  end

  # All objects are in one folder, and mkmf finds a source by its name.
  def test_no_two_files_have_one_name
    names = (PATHS + CORE_SOURCES.values.flatten).map { |path| File.basename(path) }
    assert_empty names.tally.select { |_, count| count > 1 }
  end

  def test_an_include_says_the_folder
    PATHS.each do |path|
      File.read(path, encoding: "UTF-8").scan(/^\s*#\s*include\s*"(.+)"/).flatten.each do |name|
        assert File.exist?("#{name.start_with?("core/") ? ROOT : EXT}/#{name}"), "#{path} includes #{name}"
      end
    end
  end

  def test_a_visitor_has_few_files_to_look_at_in_each_folder
    assert_operator Dir["#{EXT}/*.c"].size, :<=, 4
    (PATHS + CORE_SOURCES.values.flatten).group_by { |path| [File.dirname(path), File.extname(path)] }.each { |kind, files| assert_operator files.size, :<=, 20, kind.join(" ") }
  end

  # CONTRIBUTING.md, "Names of files".
  def test_a_file_with_the_name_of_a_doer_is_a_class_or_the_state_of_a_loop
    classes = PATHS.flat_map { |path| File.read(path, encoding: "UTF-8").scan(/rb_define_class_under\(.*, "(\w+)"/) }.flatten.map(&:downcase)
    states = SOURCES.keys.grep(/er\z/).reject { |file| file.end_with?(*classes) }
    assert_equal %w[decoder encoder loader], states.sort
    states.each { |state| refute_empty [state.delete_suffix("r"), state.delete_suffix("er")] & SOURCES.keys, state }
  end

  # Otherwise a call could go where no include does.
  def test_a_function_is_declared_in_the_header_of_its_file_alone
    [SOURCES, CORE_SOURCES].each { |sources| assert_declared_at_home(sources) }
  end

  # Whoever looks for a function finds one.
  def test_the_name_of_a_function_stands_in_one_file
    named = SOURCES.flat_map do |file, paths|
      paths.flat_map { |path| File.read(path, encoding: "UTF-8").scan(/^([a-z]\w*)\(.*\)\n\{/).flatten }.uniq.map { |name| [name, file] }
    end
    assert_operator named.size, :>, 1_500
    assert_empty named.group_by(&:first).select { |_, files| files.size > 1 }
  end

  def test_init_names_every_file_that_has_something_to_set_up
    PATHS.each do |path|
      File.read(path, encoding: "UTF-8").scan(/^(Init_\w+)\(void\)$/) { |(name)| assert_includes INIT, name }
    end
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
          homes = defined_in(sources).select { |_, functions| functions.include?(function) }.keys
          assert_equal [file], homes, "#{function}, declared in #{File.basename(header)}"
        end
      end
      next if file == "init"

      paths.grep(/\.c\z/).each { |path| assert_empty File.read(path, encoding: "UTF-8").scan(/^(?:extern|(?!static)[A-Z_a-z][\w *]* \**mp_\w+\([^;{]*\);).*/), path }
    end
  end

  # The folders of the extension, and core, that files of a folder include headers of, without the seams.
  def uses_of(folder)
    PATHS.select { |path| File.dirname(path) == "#{EXT}/#{folder}" }.flat_map { |path|
      File.read(path, encoding: "UTF-8").scan(%r{^\s*#\s*include\s*"(\w+)/(\w+)\.h"}).reject { |_, name| seams_of(File.basename(path, ".*")).include?(name) }.map(&:first)
    }.uniq - [folder]
  end

  def seams_of(file) = SEAMS.filter_map { |from, to| to if from == file }

  def included(path)
    File.read(path, encoding: "UTF-8").scan(%r{^\s*#\s*include\s*"(?:[^"]*/)?(\w+\.h)"}).flatten
  end

  def used_by(paths, sources = SOURCES)
    paths.flat_map { |path| included(path) }.map { |name| File.basename(name, ".h") }.uniq & sources.keys
  end

  def declared(header)
    File.read(header, encoding: "UTF-8").gsub(%r{/\*.*?\*/}m, "").scan(/^(?=\S)(?:NORETURN\()?(?!static|MP_INLINE|typedef|extern|#)[\w *]+?(mp_\w+)\([^;{]*\);/m).flatten.uniq
  end

  # The functions that the files of each name define.
  def defined_in(sources)
    @defined_in ||= {}
    @defined_in[sources] ||= sources.transform_values do |paths|
      paths.flat_map { |path| File.read(path, encoding: "UTF-8").scan(/^(mp_\w+)\(/).flatten }
    end
  end
end
