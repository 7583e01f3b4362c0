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
  spec.required_ruby_version = ">= 3.1"
  spec.metadata["rubygems_mfa_required"] = "true"

  spec.files = Dir["lib/**/*.rb", "ext/**/*.{rb,c,h}", "core/*.{c,h}", "sig/**/*.rbs", "docs/**/*.md",
                   "README.md", "CHANGELOG.md", "LICENSE"]
  spec.extensions = ["ext/manypack/extconf.rb"]
end
