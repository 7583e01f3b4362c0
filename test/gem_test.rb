# frozen_string_literal: true

# What a user has of the gem besides its code: documentation that ri finds, and every page and picture that it links to.
require "test_helper"
require "support/program"
require "support/public_methods"
require "bundler"
require "tmpdir"

class GemTest < Minitest::Test
  include ProgramHelper

  ROOT = File.expand_path("..", __dir__)
  SPEC = Dir.chdir(ROOT) { Gem::Specification.load("manypack.gemspec") }
  PAGES = Dir.glob("{*.md,docs/**/*.md}", base: ROOT).sort.freeze

  # Prints the names that ri has no words for.
  ASK_RI = <<~'RUBY'
    require "rdoc/rdoc"
    require "rdoc/ri/driver"

    folder, arguments, names = Marshal.load($stdin.binmode)
    RDoc::RDoc.new.document(["--ri", "--quiet", "--op", folder, *arguments])
    ri = RDoc::RI::Driver.new(extra_doc_dirs: [folder], use_cache: false, use_gems: false, use_home: false,
                              use_site: false, use_system: false)
    puts(names.reject do |name|
      methods = ri.load_methods_matching(name).flat_map(&:last) if name.match?(/[#.]/)
      found = methods || ri.classes_and_includes_and_extends_for(name)[1]
      found.any? { |code| code.documented? || code.is_alias_for }
    end)
  RUBY

  def test_ri_knows_every_public_module_and_method
    names = PublicMethods.modules_of(Manypack) + PublicMethods.of(Manypack) + PublicMethods.constructors_of(Manypack)
    assert_operator names.size, :>, 140
    accessors = names.map { |name| name.sub(/(?<=\w)=\z/, "") } # reader and writer are one to ri
    assert_empty unknown_to_ri(accessors.uniq)
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

  # As RubyGems has it written when it installs the gem, in a process that Bundler does not keep from Ruby's own gems.
  def unknown_to_ri(names)
    Dir.mktmpdir do |folder|
      arguments = [*SPEC.rdoc_options, *SPEC.source_paths, *SPEC.extra_rdoc_files]
      input = Marshal.dump([File.join(folder, "ri"), arguments, names])
      Bundler.with_unbundled_env do
        output_of(RbConfig.ruby, "-W0", "-e", ASK_RI, chdir: ROOT, stdin_data: input, binmode: true).lines(chomp: true)
      end
    end
  end
end
