#!/usr/bin/env bash
# Runs what watches memory while the suite runs, in a copy of the repository that has been compiled:
#   in_a_copy.sh "TEST..."   the tests that are left out where spare memory is filled
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/steps.sh

main() {
  step "A collection at every allocation" # objects move on a newer Ruby, which moves them at every collection
  suite limited bundle exec rake test:gc

  step "Accesses and lost memory, by Valgrind"
  if command -v valgrind >/dev/null; then
    suite limited bundle exec rake test:memcheck
  else
    not_run+=("memcheck: no Valgrind could be installed")
  fi

  step "Extension that fills spare and freed memory with canaries"
  EXT_OPTIONS=--enable-canaries bin/setup
  WITHOUT="$1" suite limited bundle exec rake test

  say_what_did_not_run
}

main "$@"
