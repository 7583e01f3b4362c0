# frozen_string_literal: true

# rake test:interop     compares Manypack with libraries of other languages, those that are installed; OBJECTS=10000
# rake interop:install  installs all that Debian and the npm registry have; INSTALL=1 rake test:interop does so first
# rake interop:table    prints the table of docs/ext-types.md anew

namespace :interop do
  desc "Install the libraries of other languages that Debian and the npm registry have"
  task(:install) do
    require_relative "../test/interop/languages/peers"
    mkdir_p Peer::WORK
    sh "apt-get", "install", "-y", "--no-install-recommends", *Peer::ALL.flat_map { |peer| peer.from[:debian] }.uniq
    sh "npm", "install", "--no-audit", "--no-fund", "--prefix", Peer::WORK, "msgpack-test-suite",
       *Peer::ALL.flat_map { |peer| peer.from.fetch(:npm, []) }.uniq
  end

  desc "Print what libraries of other languages do differently, as a table"
  task(table: :compile) { ruby "-w", "-Ilib", "test/interop/languages/table.rb" }
end

namespace :test do
  desc "Compare with libraries of other languages, those that are installed, with OBJECTS=10000 random objects"
  task(interop: :compile) do
    Rake::Task["interop:install"].invoke if ENV["INSTALL"] == "1"
    ruby "-w", "-Ilib", "-Itest", "test/interop/languages/languages_test.rb", *ENV.fetch("TESTOPTS", "").split
  end
end
