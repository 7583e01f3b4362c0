# frozen_string_literal: true

# What a user has of the gem besides its code: documentation that ri finds, and every page and picture that it links to.
require "test_helper"
require "support/program"
require "support/public_methods"
require "tmpdir"

class GemTest < Minitest::Test
  include ProgramHelper

  ROOT = File.expand_path("../..", __dir__)
  SPEC = Dir.chdir(ROOT) { Gem::Specification.load("manypack.gemspec") }
  PAGES = Dir.glob("{*.md,docs/**/*.md}", base: ROOT).sort.freeze

  # Answers with what ri has to say about each name: nil if nothing.
  ASK_RI = <<~'RUBY'
    require "rdoc/rdoc"
    require "rdoc/ri/driver"

    folder, arguments, names = Marshal.load($stdin.binmode)
    RDoc::RDoc.new.document(["--ri", "--quiet", "--op", folder, *arguments])
    ri = RDoc::RI::Driver.new(extra_doc_dirs: [folder], use_cache: false, use_gems: false, use_home: false,
                              use_site: false, use_system: false)
    texts = names.to_h do |name|
      methods = ri.load_methods_matching(name).flat_map(&:last) if name.match?(/[#.]/)
      found = methods || ri.classes_and_includes_and_extends_for(name)[1]
      known = found.select { |code| code.documented? || code.is_alias_for }
      documents = known.map { |code| code.comment.is_a?(RDoc::Comment) ? code.comment.parse : code.comment } # by version
      [name, (documents.map { |document| document.accept(RDoc::Markup::ToRdoc.new) }.join if known.any?)]
    end
    $stdout.binmode.write(Marshal.dump(texts))
  RUBY

  def test_ri_knows_every_public_module_and_method
    assert_operator ri.size, :>, 140
    assert_empty(ri.select { |_, text| text.nil? }.keys)
  end

  def test_ri_shows_no_tags
    assert_empty(ri.compact.select { |_, text| text.match?(/(^|\s)@!?\w/) }.keys, "tags are for YARD alone")
  end

  # Not the purpose of each file, which is a comment above the same module.
  def test_ri_describes_the_module_by_its_doc_comment_alone
    assert_empty ri.fetch("Manypack").split - File.read(File.join(ROOT, "lib/manypack.rb")).split
  end

  def test_every_link_of_the_documentation_leads_to_a_file
    assert_operator links_of(PAGES).size, :>, 20
    assert_empty(links_of(PAGES).reject { |_, target| File.exist?(File.join(ROOT, target)) })
  end

  def test_the_gem_has_what_its_documentation_links_to
    pages = SPEC.files.grep(/\.md\z/)
    assert_includes pages, "SECURITY.md"
    assert_empty(links_of(pages).reject { |_, target| SPEC.files.include?(target) })
  end

  private

  # Each relative link and picture as [page, file], both from the root.
  def links_of(pages)
    pages.flat_map do |page|
      text = File.read(File.join(ROOT, page), encoding: "UTF-8").gsub(/^```.*?^```$/m, "")
      targets = text.scan(/\]\(([^)\s]+)\)/).flatten.grep_v(/\A(\w+:|#)/)
      targets.map { |target| [page, File.expand_path(target.sub(/#.*/, ""), "/#{File.dirname(page)}").delete_prefix("/")] }
    end
  end

  RI = {} # generated once for all tests
  private_constant :RI

  # Every public module and method with what ri says about it.
  def ri
    RI[:texts] ||= begin
      names = PublicMethods.everything.values.flatten
      ask_ri(names.map { |name| name.sub(/(?<=\w)=\z/, "") }.uniq) # reader and writer are one to ri
    end
  end

  # Generates ri as RubyGems does when it installs the gem, with the RDoc of the bundle: not every Ruby includes one.
  def ask_ri(names)
    Dir.mktmpdir do |folder|
      arguments = [*SPEC.rdoc_options, *SPEC.source_paths, *SPEC.extra_rdoc_files]
      input = Marshal.dump([File.join(folder, "ri"), arguments, names])
      Marshal.load(output_of(RbConfig.ruby, "-W0", "-e", ASK_RI, chdir: ROOT, stdin_data: input, binmode: true))
    end
  end
end
