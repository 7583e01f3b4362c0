# frozen_string_literal: true

# The documentation site: it builds without a warning, and every link of it leads to a page and a place that is there.
require "minitest/autorun"
require "cgi/escape"
require "open3"
require "rbconfig"
require "tmpdir"
require "uri"

class SiteLinksTest < Minitest::Test
  ROOT = File.expand_path("../..", __dir__)
  SITE = Dir.mktmpdir
  Minitest.after_run { FileUtils.rm_rf(SITE) }

  BUILT, STATUS = Open3.capture2e(RbConfig.ruby, "-W0", "#{ROOT}/tools/site.rb", SITE)
  PAGES = Dir.glob("**/*.html", base: SITE).to_h { |page| [page, File.read("#{SITE}/#{page}", encoding: "UTF-8")] }
  ANCHORS = PAGES.transform_values { |html| html.scan(/\s(?:id|name)="([^"]*)"/).flatten }

  def test_it_builds_without_a_warning
    assert_predicate STATUS, :success?, BUILT
    assert_empty BUILT.scrub.lines.grep(/can't be resolved|warning|error:/i)
  end

  def test_it_has_every_page_and_every_class
    pages = Dir.chdir(ROOT) { Gem::Specification.load("manypack.gemspec") }.extra_rdoc_files - %w[README.md] # is index.html
    assert_empty pages.map { |path| path.sub(/\.md\z/, "_md.html") } - PAGES.keys
    assert_includes PAGES, "index.html"
    assert_includes PAGES, "Manypack/Record.html"
  end

  # Under the tasks of the README, which names all of them.
  def test_the_front_page_and_the_sidebar_list_the_guides_by_their_titles
    assert_includes PAGES["index.html"], "<summary>Start</summary>"
    pages = { "index.html" => "./docs/", "docs/views_md.html" => "../docs/", "Manypack/View.html" => "../docs/" }
    pages.each do |page, folder|
      assert_includes PAGES[page], %(<h3>Start</h3><ul><li><a href="#{folder}getting-started_md.html">Getting started in five)
    end
    assert_includes PAGES["docs/views_md.html"], "<title>Views: look into packed bytes - Manypack</title>"
  end

  def test_a_picture_has_its_whole_description
    assert_match(/<img [^>]*alt="Unpacking: json takes [^"]* times as long as Manypack, [^"]*\. Packing: [^"]*"><\/p>/, PAGES["index.html"].delete("\n"))
  end

  def test_every_link_leads_somewhere
    assert_operator links.size, :>, 1_000
    assert_empty(links.reject { |_, target, anchor| there?(target, anchor) })
  end

  # Whatever a page needs comes with the site.
  def test_nothing_is_loaded_from_elsewhere
    loaded = PAGES.values.flat_map { |html| html.scan(/<(?:script|img|link|iframe)\s[^>]*?(?:src|href)="([^"]*)"/m).flatten }
    assert_operator loaded.size, :>, 100
    assert_empty loaded.grep(%r{\A(\w+:)?//})
  end

  private

  # Each link within the site as [page, file, anchor].
  def links
    @links ||= PAGES.flat_map do |page, html|
      targets = html.scan(/\s(?:href|src)="([^"]*)"/).flatten.uniq.map { |target| CGI.unescapeHTML(target) }
      targets.grep_v(/\A(https?|mailto):/).map { |target| [page, *file_and_anchor(page, target)] }
    end
  end

  def file_and_anchor(page, target)
    path, anchor = target.split("#", 2)
    file = path.empty? ? page : File.expand_path(URI.decode_www_form_component(path.sub(/\?.*/, "")), "/#{File.dirname(page)}").delete_prefix("/")
    [file, anchor]
  end

  def there?(file, anchor)
    return false unless File.file?("#{SITE}/#{file}")

    anchor.to_s.empty? || ANCHORS.fetch(file).include?(URI.decode_www_form_component(anchor))
  end
end
