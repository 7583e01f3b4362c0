#!/usr/bin/env bash
# Runs what watches memory while the suite runs, in a copy of the repository that has been compiled:
#   not_moved="TEST..." not_filled="TEST..." in_a_copy.sh   the tests that are left out while objects move, and those that
#                                                           are where spare memory is filled
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/steps.sh

limit=70m # shares the processors with .ci/run, which goes first

main() {
  step "A collection at every allocation, and objects that move"
  WITHOUT="${not_moved?}" suite limited bundle exec rake test:gc test:compact

  step "Accesses and lost memory, by Valgrind"
  if command -v valgrind >/dev/null; then
    suite limited bundle exec rake test:memcheck
  else
    not_run+=("memcheck: no Valgrind could be installed")
  fi

  step "Extension that fills spare and freed memory with canaries"
  EXT_OPTIONS=--enable-canaries bin/setup
  WITHOUT="${not_filled?}" suite limited bundle exec rake test

  say_what_did_not_run
}

main "$@"
