# frozen_string_literal: true

require_relative "lib/manypack/version"

Gem::Specification.new do |spec|
  spec.name = "manypack"
  spec.version = Manypack::VERSION
  spec.authors = ["The Manypack maintainers"]
  spec.summary = "MessagePack for the Ruby of many cores"
  spec.description = "A drop-in for the msgpack gem that works in every Ractor, decodes trees that are born shareable, " \
                     "and bounds what bytes from strangers can cost."
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
                   "LICENSE", ".yardopts"] + pages
  spec.extensions = ["ext/manypack/extconf.rb"]
  spec.extra_rdoc_files = pages
  # The classes that Parallel is made of are private, and extconf.rb is nobody's API.
  spec.rdoc_options = ["--main", "README.md", "--title", "Manypack", "--exclude", "extconf",
                       "--exclude", "parallel/(?!error)"]
end
