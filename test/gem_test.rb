# frozen_string_literal: true

# What a user has of the gem besides its code: every page and picture that it links to.
require "test_helper"

class GemTest < Minitest::Test
  ROOT = File.expand_path("..", __dir__)
  SPEC = Dir.chdir(ROOT) { Gem::Specification.load("manypack.gemspec") }
  PAGES = Dir.glob("{*.md,docs/**/*.md}", base: ROOT).sort.freeze

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
end
