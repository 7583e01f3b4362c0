# frozen_string_literal: true

# Builds the documentation site with RDoc, as static pages in a folder: `ruby tools/site.rb FOLDER`. RDoc gets the pages
# from a copy in which links to sources, which are no pages of the site, lead to the repository.
require "fileutils"
require "rdoc"
require "tmpdir"

ROOT = File.expand_path("..", __dir__)
SPEC = Dir.chdir(ROOT) { Gem::Specification.load("manypack.gemspec") }
PAGES = SPEC.extra_rdoc_files
PICTURES = Dir.glob("docs/**/*.svg", base: ROOT)

# Names in Manypack that mostly mean something else where they are written: Ruby's classes, and other libraries.
NO_LINKS = %w[Manypack Object Symbol Time TypeError ActiveSupport Faraday Karafka Rack Rails WaterDrop].freeze

# RDoc links the name of a source, such as init.c, to a page that it does not make.
module NoLinksToSources
  # Before its version 8, RDoc passes a text to return where there is nothing to link to.
  def resolve(name, *text)
    found = super
    found.is_a?(RDoc::TopLevel) && !found.text? ? text.first : found
  end
end
RDoc::CrossReference.prepend(NoLinksToSources)

def with_links_to_sources(page)
  File.read(File.join(ROOT, page), encoding: "UTF-8").gsub(/(?<=\]\()[^)\s:#]+(?=\))/) do |target|
    path = File.expand_path(target, "/#{File.dirname(page)}").delete_prefix("/")
    source = File.file?(File.join(ROOT, path)) && !(PAGES + PICTURES).include?(path)
    source ? "#{SPEC.homepage}/blob/main/#{path}" : target
  end
end

def lay_out(folder)
  SPEC.source_paths.each { |path| File.symlink(File.join(ROOT, path), File.join(folder, path)) }
  PAGES.each do |page|
    FileUtils.mkdir_p(File.join(folder, File.dirname(page)))
    File.write(File.join(folder, page), with_links_to_sources(page))
  end
end

def copy_pictures(site)
  PICTURES.each do |picture|
    FileUtils.mkdir_p(File.join(site, File.dirname(picture)))
    FileUtils.cp(File.join(ROOT, picture), File.join(site, picture))
  end
end

site = File.expand_path(ARGV.fetch(0))
FileUtils.rm_rf(site)
Dir.mktmpdir do |folder|
  lay_out(folder)
  Dir.chdir(folder) do
    RDoc::RDoc.new.document([*SPEC.rdoc_options, "--op", site, "--warn-missing-rdoc-ref",
                             "--template-stylesheets", File.join(ROOT, "tools/site.css"),
                             "--autolink-excluded-words", NO_LINKS.join(","), *SPEC.source_paths, *PAGES])
  end
end
copy_pictures(site)
