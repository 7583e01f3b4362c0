#!/usr/bin/env bash
# Runs what watches memory while tests run, in a copy of the repository that has been compiled:
#   in_a_copy.sh "TEST..."   the tests that are left out under sanitizers
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

  step "Extension under AddressSanitizer and UndefinedBehaviorSanitizer, with canaries in spare and freed memory"
  EXT_OPTIONS="--enable-sanitizers --enable-canaries --enable-reached" bin/setup
  # AddressSanitizer of gcc 12 does not take the lock of its allocator around fork: a process that is forked while a Thread
  # ends may wait for it forever.
  forking="test/parallel/parallel_processes*_test.rb test/parallel/parallel_control_test.rb"
  MANYPACK_FORK=no WITHOUT="$1 $forking" suite under_sanitizers bundle exec rake test test:sweeps

  step "Ruby face fuzzed, under the same sanitizers"
  under_sanitizers bundle exec ruby -w -Ilib fuzz/run.rb --seconds 60 || show_crashes

  say_what_did_not_run
}

# Ruby itself is not instrumented: it frees nothing at its end and runs Fibers on stacks of its own. The quarantine of
# freed memory is kept small because tests look at what the process has in memory.
under_sanitizers() {
  LD_PRELOAD="$(cc -print-file-name=libasan.so)" \
    ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0:detect_stack_use_after_return=0:quarantine_size_mb=16 \
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
    limited "$@"
}

main "$@"
