# frozen_string_literal: true

# Steep, a type checker, finds misspelt options by sig/ (test/steep).

namespace :rbs do
  desc "Check by Steep, which is installed in vendor/steep, that sig/ finds misspelt options"
  task :steep do
    environment = { "BUNDLE_GEMFILE" => File.expand_path("test/steep/Gemfile"), "BUNDLE_PATH" => File.expand_path("vendor/steep") }
    found = Bundler.with_unbundled_env do
      system(environment, "bundle", "check", out: File::NULL, err: File::NULL) || sh(environment, "bundle", "install", "--quiet")
      IO.popen([environment, "bundle", "exec", "steep", "check", "--jobs=1", "--severity-level=error", { chdir: "test/steep", in: File::NULL }], &:read)
    end
    wrong = File.readlines("test/steep/misspelt.rb").each_index.map { |i| i + 1 }.drop(3)
    lines = found.scan(/^misspelt\.rb:(\d+)/).flatten.map(&:to_i).uniq
    abort "#{found}\nSteep finds mistakes in test/steep/spelt.rb" if found.match?(/^spelt\.rb:/)
    abort "#{found}\nSteep does not find those in lines #{wrong - lines} of test/steep/misspelt.rb" unless (wrong - lines).empty?

    puts "Steep finds each of #{wrong.size} misspelt options"
  end
end
