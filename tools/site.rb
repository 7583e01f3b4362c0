# frozen_string_literal: true

# Builds the documentation site with RDoc, as static pages in a folder: `ruby tools/site.rb FOLDER`. RDoc gets the pages
# from a copy in which links to sources, which are no pages of the site, lead to the repository. The sidebar lists the
# guides by task, as the README does, under their titles.
require "erb"
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

def read(page) = File.read(File.join(ROOT, page), encoding: "UTF-8")

# The pages of the site by task, from the end of the README: lines such as "- **Start:** [five minutes](docs/start.md)".
module Guides
  README = "README.md" # index.html of the site
  BY_TASK = read(README)[/^## Guides\n.*/m].scan(/^- \*\*(.*?):\*\*(.*?)(?=^- |^$)/m).to_h do |task, links|
    [task, links.scan(/\]\((\S+\.md)\)/).flatten]
  end
  TITLES = BY_TASK.values.flatten.to_h { |page| [page, ERB::Util.h(read(page)[/\A# (.*)/, 1].delete("`"))] }
  DESCRIPTION = /!\[([^\]]*)\]/.freeze # of a picture

  forgotten = PAGES - [README, *TITLES.keys]
  abort "not among the guides of #{README}: #{forgotten.join(", ")}" if forgotten.any?

  module_function

  def path(page) = page.sub(/\.md\z/, "_md.html")

  # Returns HTML.
  #
  # group:: how a task and the list of its pages are written
  # prefix:: the path from the page with the list to the top of the site
  # current:: the path of that page
  def list(group, prefix, current = nil)
    BY_TASK.map do |task, pages|
      items = pages.map do |page|
        here = ' aria-current="page"' if path(page) == current
        %(<li><a href="#{prefix}/#{path(page)}"#{here}>#{TITLES[page]}</a></li>)
      end
      format(group, task, "<ul>#{items.join}</ul>")
    end.join("\n").then { |groups| %(<div class="guides">\n#{groups}\n</div>) }
  end

  # Gives the pages their titles, and the front page the list that a phone shows instead of the sidebar.
  def finish(site)
    TITLES.each do |page, title|
      rewrite(site, path(page), page) do |html|
        html.gsub(/(<title>|og:title" content=")[^<"]*/) { "#{$1}#{title} - Manypack" }
      end
    end
    guides = list("<details><summary>%s</summary>%s</details>", ".")
    rewrite(site, "index.html", README) { |html| html.sub(%r{<main.*?</p>}m) { |intro| "#{intro}\n#{guides}" } }
  end

  # RDoc ends the description of a picture at its first space and prints the rest beside the picture. So it gets one
  # word, which is replaced here.
  def rewrite(site, file, page)
    path = File.join(site, file)
    descriptions = read(page).scan(DESCRIPTION).flatten
    html = File.read(path, encoding: "UTF-8")
    html.gsub!(/(<img [^>]*alt=")picture"/) { %(#{$1}#{ERB::Util.h(descriptions.shift)}") }
    File.write(path, yield(html))
  end
end

# The sidebar has the guides where RDoc lists pages by the names of their files.
module GuidesInTheSidebar
  def render(file)
    return super unless file == "_sidebar_pages.rhtml"

    prefix, page = @context.eval("[rel_prefix, (current if defined?(current))]")
    guides = Guides.list("<h3>%s</h3>%s", prefix, page&.path)
    super.sub(%r{<ul class="nav-list">.*</ul>}m) { guides }.sub(">Pages<", ">Guides<")
  end
end
RDoc::Generator::Darkfish.prepend(GuidesInTheSidebar)

def with_links_to_sources(page)
  read(page).gsub(Guides::DESCRIPTION, "![picture]").gsub(/(?<=\]\()[^)\s:#]+(?=\))/) do |target|
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
Guides.finish(site)
