# frozen_string_literal: true

# What the house looks like: purposes, generated files, directions of dependency, exported names, signatures.
require "test_helper"
require "open3"
require "rbconfig"
require "rbs"
require "support/public_methods"

class StyleTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  OURS = Dir.glob("{lib,ext,core,test,bin,benchmark,tools,sig,fuzz,examples}/**/*", base: ROOT).select do |path|
    path.match?(/\.(rb|c|h|rbs|sh)\z|Makefile\z|\Abin\//) && File.file?(File.join(ROOT, path)) && !path.include?("/build/")
  end.freeze

  def test_there_are_files_to_look_at
    assert_operator OURS.size, :>, 40
    assert_includes OURS, "core/wire.h"
    assert_includes OURS, "bin/setup"
  end

  def test_every_file_starts_with_its_purpose
    without = OURS.reject { |path| first_words(path).match?(%r{\A(# |/\*( |\n \* ))\S}) }
    assert_empty without, "files without a one-line purpose at the top"
  end

  def test_every_ruby_file_has_frozen_string_literals
    without = OURS.grep(/\.rb\z/).reject { |path| read(path).start_with?("# frozen_string_literal: true\n\n") }
    assert_empty without
  end

  TESTS = Dir.glob("test/**/*", base: ROOT).select { |path| File.file?(File.join(ROOT, path)) }.freeze

  def test_no_test_file_is_longer_than_600_lines
    assert_operator TESTS.size, :>, 100
    assert_empty(TESTS.select { |path| File.foreach(File.join(ROOT, path)).count > 600 })
  end

  def test_no_folder_of_tests_has_more_than_40_files
    assert_empty(TESTS.group_by { |path| File.dirname(path) }.select { |_, files| files.size > 40 }.keys)
  end

  def test_no_line_is_longer_than_120_characters
    long = OURS.grep(%r{\A(core|ext|lib|sig|fuzz|benchmark|examples)/}).flat_map do |path|
      lines = read(path).lines(chomp: true)
      lines.each_index.select { |i| lines[i].size > 120 }.map { |i| "#{path}:#{i + 1}" }
    end
    assert_empty long, "lines longer than 120 characters"
  end

  # It is there to be used in passing, not to be studied.
  def test_the_workshop_is_small
    files = Dir.glob("{benchmark,tools,rakelib}/**/*", base: ROOT).grep_v(%r{\Abenchmark/results/}).map { |path| File.join(ROOT, path) }
    files.select! { |path| File.file?(path) }
    sizes = files.map { |path| File.foreach(path).count }
    assert_operator sizes.size, :>, 30
    assert_operator sizes.sum, :<=, 6_156, "lines of benchmark/, tools/ and rakelib/"
  end

  def test_the_wire_table_is_what_its_generator_writes
    output, status = Open3.capture2(RbConfig.ruby, File.join(ROOT, "tools", "gen_wire_table.rb"))
    assert_predicate status, :success?
    assert_equal output, read("core/wire_table.h")
  end

  # Each signature that has a list of options has all of them.
  def test_the_options_in_sig_are_those_of_options_c
    require_relative "../../tools/gen_sig"
    lists = Dir.glob("sig/*.rbs", base: ROOT).map { |path| [path, read(path)] }
    lists.each { |path, text| assert_equal text, GenSig.text(text), "rake sig writes #{path} anew" }
    assert_operator lists.to_h["sig/manypack.rbs"].scan("?max_bytes:").size, :>, 40
    %w[freeze script_safe].each do |option|
      missing = lists.to_h["sig/manypack.rbs"].gsub("?#{option}: bool?,", "")
      assert_equal lists.to_h["sig/manypack.rbs"].split, GenSig.text(missing).split
    end
  end

  def test_the_core_knows_nothing_of_ruby
    core = OURS.grep(%r{\Acore/.*\.[ch]\z})
    assert_operator core.size, :>, 8
    assert_empty(core.select { |path| read(path).match?(/#\s*include\s*[<"]ruby|\bVALUE\b|\brb_/) })
  end

  def test_only_platform_and_compat_have_conditionals
    conditional = OURS.grep(/\.[ch]\z/).select { |path| read(path).match?(/^#\s*if(?!ndef (\w+_H)$)/) }
    assert_empty conditional - %w[core/platform.h ext/manypack/base/compat.h]
  end

  # A probe can fail for another reason, and then Ruby's header declares the function, too. Names of ours that start with
  # rb_ are Ruby methods of a class or a module.
  def test_nothing_stands_in_for_a_function_of_ruby_under_its_name
    assert_empty(OURS.grep(/\.[ch]\z/).flat_map { |path| read(path).scan(/^#\s*define\s+(?:rb|ruby|RB|RUBY|st|ST)_\w+/).map { |line| "#{path}: #{line}" } })
    assert_empty(read("ext/manypack/base/compat.h").scan(/^(?:rb|ruby|st)_\w+\(.*\)$/))
  end

  # Ruby's headers call their functions pure, so of `1 + (test ? RSTRING_LEN(object) : 0)` GCC 14 makes a product, for which
  # it reads the length of whatever object it is.
  def test_no_sum_reads_an_object_under_a_condition
    conditional = /(?<![\w])(?<part>\((?:[^();]|\g<part>)*\))/
    OURS.grep(%r{\Aext/.*\.[ch]\z}).each do |path|
      read(path).scan(conditional) { assert_no_object_read_for_a_sum($~[0], path) }
    end
    assert_raises(Minitest::Assertion) { assert_no_object_read_for_a_sum("(RB_TYPE_P(key, T_STRING) ? (uint64_t)RSTRING_LEN(key) : 0)", "") }
  end

  def test_the_extension_exports_nothing_but_its_init
    library = $LOADED_FEATURES.grep(%r{manypack/manypack\.}).first
    output, status = Open3.capture2("nm", "-D", "--defined-only", library)
    assert_predicate status, :success?
    assert_equal ["Init_manypack"], output.lines.map { |line| line.split.last } - %w[_init _fini ruby_abi_version]
  end

  # It registers what it finds with the collector, each time anew.
  def test_only_initialization_looks_up_constants
    late = Dir["ext/manypack/**/*.c"].select do |path|
      code = read(path).sub(/^mp_const\(.*?^}$/m, "")
      (code[0...(code.rindex(/^(?:Init_manypack|init_)\w*\(/) || code.size)]).match?(/\bmp_const\("/)
    end
    assert_empty late
  end

  # These call methods that a program has named, and change what a program has defined. Among our own classes, C offers
  # the functions of Manypack::Internal, and everything else is public or protected.
  OF_PROGRAMS = %w[lib/manypack/codec/handler.rb lib/manypack/drop_in.rb lib/manypack/parallel/callable.rb].freeze

  def test_our_classes_call_no_private_methods_of_each_other
    assert_equal OF_PROGRAMS, OURS.grep(%r{\Alib/.*\.rb\z}).select { |path| read(path).match?(/__send__|\.send\(:/) }.sort
  end

  def test_every_public_method_has_a_signature
    assert_operator public_methods_of_manypack.size, :>, 40
    assert_empty public_methods_of_manypack - signed_methods
  end

  # Outside of Manypack, loaded only when asked for, or Struct's.
  ELSEWHERE = %w[Symbol#to_msgpack_ext Symbol.from_msgpack_ext Manypack::CoreExt#to_msgpack
                 Manypack::ExtensionValue.new].freeze

  def test_every_signature_has_a_method
    assert_empty signed_methods.grep_v(/#initialize\z/) - public_methods_of_manypack - ELSEWHERE
  end

  # So that `rescue Manypack::DecodeError => error` has a message for whoever checks types.
  def test_modules_of_errors_have_what_exceptions_have
    modules = %w[Manypack::DecodeError Manypack::EncodeError Manypack::Error Manypack::TypeError Manypack::Parallel::Error]
    of_errors = Manypack.constants.map { |name| Manypack.const_get(name) }.grep(Class).select { |one| one < Exception }
    included = of_errors.flat_map(&:included_modules).uniq.map(&:name).grep(/\AManypack::/)
    assert_empty included - modules - %w[Manypack::Guesses] # which is private, and no name of errors
    assert_equal modules.sort, self_typed("Exception").sort
  end

  private

  def assert_no_object_read_for_a_sum(part, path)
    arms = part[/\?.*/m]
    refute_match(/\bR[A-Z]+_[A-Z_]+\(.*:\s*0\)\z|\?\s*0\s*:.*\bR[A-Z]+_[A-Z_]+\(/m, arms, path) if arms
  end

  def public_methods_of_manypack
    @public_methods_of_manypack ||= PublicMethods.everything[:methods]
  end

  def read(path)
    File.read(File.join(ROOT, path), encoding: "UTF-8")
  end

  def first_words(path)
    read(path).sub(/\A#!.*\n/, "").sub(/\A# frozen_string_literal: true\n\n/, "").sub(/\A#--\n/, "") # #-- hides it from ri
  end

  def signed_methods
    declarations.flat_map { |declaration| signed_in(declaration, "") }
  end

  # The modules whose self is declared to be of a class.
  def self_typed(klass)
    modules = declarations.flat_map { |declaration| modules_in(declaration, "") }
    modules.select { |_, declaration| declaration.self_types.any? { |type| type.name.to_s == klass } }.map(&:first)
  end

  def modules_in(declaration, outer)
    return [] unless declaration.is_a?(RBS::AST::Declarations::Module)

    name = "#{outer}#{declaration.name}"
    [[name, declaration]] + declaration.members.flat_map { |member| modules_in(member, "#{name}::") }
  end

  def declarations
    Dir.glob("sig/**/*.rbs", base: ROOT).flat_map do |path|
      RBS::Parser.parse_signature(RBS::Buffer.new(name: path, content: read(path))).last
    end
  end

  def signed_in(declaration, outer)
    return [] unless declaration.is_a?(RBS::AST::Declarations::Class) || declaration.is_a?(RBS::AST::Declarations::Module)

    name = "#{outer}#{declaration.name}"
    declaration.members.flat_map do |member|
      case member
      when RBS::AST::Members::MethodDefinition then ["#{name}#{member.kind == :instance ? "#" : "."}#{member.name}"]
      when RBS::AST::Members::AttrReader then ["#{name}##{member.name}"]
      when RBS::AST::Members::AttrAccessor then ["#{name}##{member.name}", "#{name}##{member.name}="]
      else signed_in(member, "#{name}::")
      end
    end
  end
end
