#!/usr/bin/env bash
# Installs the gems of the integration tests into vendor/integration unless they are there, and runs the given files, by
# default every test, or with --install none.
set -euo pipefail
cd "$(dirname "$0")/../.."

export BUNDLE_GEMFILE="$PWD/test/integration/Gemfile" BUNDLE_PATH="$PWD/vendor/integration" BUNDLE_SILENCE_ROOT_WARNING=1

# RubyGems before 3.4 takes x86_64-linux-gnu for x86_64-linux, a gem that Bundler then looks for in vain. It does not look
# for what is installed. This version is the last for Ruby 3.1, and without it librdkafka would be compiled for minutes.
install_precompiled_librdkafka() {
  ruby -e 'exit Gem::Version.new(Gem::VERSION) < Gem::Version.new("3.4") && Gem::Platform.local.to_s == "x86_64-linux"' ||
    return 0
  gem install --silent --no-document --ignore-dependencies --platform x86_64-linux-gnu --version 0.21.0 \
    --install-dir "$BUNDLE_PATH/ruby/$(ruby -rrbconfig -e 'print RbConfig::CONFIG["ruby_version"]')" karafka-rdkafka
}

if ! bundle check >/dev/null 2>&1; then
  echo "==> installing the gems of the integration tests (about a minute)"
  install_precompiled_librdkafka
  bundle install --quiet
fi
[ "${1:-}" != --install ] || exit 0
[ $# -gt 0 ] || set -- test/integration/*_test.rb
exec bundle exec ruby -Ilib -Itest -r./test/integration/karafka_root -e 'ARGV.each { |path| require File.expand_path(path) }' "$@"
