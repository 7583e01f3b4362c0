# frozen_string_literal: true

require_relative "lib/manypack/version"

Gem::Specification.new do |spec|
  spec.name = "manypack"
  spec.version = Manypack::VERSION
  spec.authors = ["The Manypack maintainers"]
  spec.summary = "Fast MessagePack for Ruby, and a drop-in for the msgpack gem"
  spec.description = "Packs and unpacks MessagePack, with the whole API of the msgpack gem. Works in every Ractor, " \
                     "can unpack straight into shareable objects, and limits what untrusted input can cost."
  spec.license = "MIT"
  spec.homepage = "https://github.com/manypack/manypack"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = {
    "source_code_uri" => "#{spec.homepage}/tree/main",
    "documentation_uri" => "#{spec.homepage}/tree/main/docs",
    "changelog_uri" => "#{spec.homepage}/blob/main/CHANGELOG.md",
    "bug_tracker_uri" => "#{spec.homepage}/issues",
    "rubygems_mfa_required" => "true"
  }

  pages = %w[README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md] + Dir["docs/**/*.md"]
  spec.files = Dir["lib/**/*.rb", "ext/**/*.{rb,c,h}", "core/*.{c,h}", "sig/**/*.rbs", "docs/**/*.{svg,json}",
                   "test/vectors/*.json", "examples/**/*.rb", "exe/*", "man/*", "LICENSE", ".yardopts"] + pages
  spec.bindir = "exe"
  spec.executables = ["manypack"]
  spec.extensions = ["ext/manypack/extconf.rb"]
  spec.extra_rdoc_files = pages
  # The classes behind Parallel and the program at the terminal are private, and extconf.rb is not an API.
  spec.rdoc_options = ["--main", "README.md", "--title", "Manypack", "--exclude", "extconf",
                       "--exclude", "parallel/(?!error)|manypack/terminal"]
end
