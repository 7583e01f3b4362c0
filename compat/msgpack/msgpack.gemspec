# frozen_string_literal: true

# A gem named msgpack that loads Manypack. With it, Bundler uses Manypack for every gem that depends on msgpack.

Gem::Specification.new do |spec|
  spec.name = "msgpack"
  spec.version = "1.8.99"
  spec.authors = ["The Manypack maintainers"]
  spec.summary = "Manypack under the name of msgpack"
  spec.license = "MIT"
  spec.homepage = "https://github.com/manypack/manypack"
  spec.required_ruby_version = ">= 3.1"
  spec.files = Dir["lib/**/*.rb"]
  spec.add_dependency "manypack"
end
