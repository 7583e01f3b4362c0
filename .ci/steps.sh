# shellcheck shell=bash
# How .ci/run tells where it is, runs a suite, and ends.

limit=45m # a deadlock must not take all of CI's time; three suites share two processors
step_name="start"
summary=""
not_run=()
scratch="$(mktemp -d)"
base_job=""
copy_job=""
others_job=""
trap 'finish $?' EXIT

# Tests of a process's memory, time and stacks, which are not its own under a sanitizer or while objects move.
# shellcheck disable=SC2034
figures="test/hostile/leak_test.rb test/hostile/memory_and_time_test.rb test/hostile/depth_test.rb
  test/hostile/every_stack_test.rb test/stream/stream_time_test.rb test/view/view_time_test.rb test/whole/linear_time_test.rb"

# Tests of programs that they start: what these have in memory does not move.
# shellcheck disable=SC2034
programs="$(grep -lE '^require "(support/(program|terminal)|open3|pty)"' test/{terminal,repository,drop_in,interop}/*_test.rb)"
programs+=" test/whole/memory_benchmark_test.rb"

# Tests that read the repository, or start programs by the hundred, which do to memory what other tests do in this process.
# shellcheck disable=SC2034
around="test/repository/*_test.rb test/terminal/terminal*_test.rb test/whole/memory_benchmark_test.rb"

# Prints a heading with the time since the start.
step() {
  step_name="$1"
  printf '\n=== [%d:%02d] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$step_name"
}

# Runs a program, but not for ever. All that it started ends with it, unless a person is there: Ctrl-C has to reach it.
limited() {
  local -a how=(--kill-after=10s)
  [ ! -t 0 ] || how+=(--foreground)
  timeout "${how[@]}" "$limit" "$@" && return
  local status=$?
  [ "$status" != 124 ] || echo "stopped: not done within $limit" >&2
  return "$status"
}

# Runs a command that runs the Ruby suite, and keeps the suite's closing line in $summary. Tests that passed are not
# shown; those that never ended are, since -v names a test when it starts. "NOT RUN" lines of the suite are repeated at
# the end.
suite() {
  local line
  TESTOPTS=-v "$@" 2>&1 | tee "$scratch/suite.log" | sed -u '/ = \([0-9]*\.[0-9]* s = \.\)\?$/d' || {
    never_ended "$scratch/suite.log"
    return 1
  }
  while read -r line; do not_run+=("${line#NOT RUN: }"); done < <(grep '^NOT RUN: ' "$scratch/suite.log")
  # shellcheck disable=SC2034
  summary="$(grep -E '^[1-9][0-9]* runs, [1-9][0-9]* assertions, ' "$scratch/suite.log" | tail -n 1)" && return
  echo "no test ran" >&2
  return 1
}

# Prints the tests that began and did not end.
never_ended() {
  awk -F ' = ' '/ = $/ { begun[$1] } / s = .$/ { delete begun[$1] } END { for (test in begun) print "never ended: " test }' "$1"
}

# Starts .ci/in_a_copy.sh in a copy of the repository as it stands, in the background and in a process group of its own.
# $1 are the tests that are left out under sanitizers.
start_copy() {
  cp -a . "$scratch/copy"
  setsid "$scratch/copy/.ci/in_a_copy.sh" "$1" </dev/null >"$scratch/copy.log" 2>&1 &
  copy_job=$!
}

end_copy() {
  local job="$copy_job"
  copy_job=""
  join "$job" "$scratch/copy.log"
}

# Makes a bare Debian for the other Rubies in the background, in a process group of its own so that it can be stopped
# whole.
start_base() {
  setsid bash .ci/rootfs.sh create "$scratch/base" 3 </dev/null >"$scratch/base.log" 2>&1 &
  base_job=$!
}

# Starts the suite on the other Rubies, in the background like that: $1 are the tests that cannot run while objects move.
start_other_rubies() {
  local status=0
  wait "$base_job" || status=$?
  base_job=""
  if [ "$status" = 0 ]; then
    not_moved="$1" setsid .ci/other_rubies.sh "$scratch/base" </dev/null >"$scratch/others.log" 2>&1 &
    others_job=$!
  else
    cat "$scratch/base.log"
    not_run+=("the suite on other Rubies: no Debian base could be made")
  fi
}

end_other_rubies() {
  local job="$others_job"
  others_job=""
  [ -z "$job" ] || join "$job" "$scratch/others.log"
}

# Waits for a job of the background and shows what it printed.
join() {
  local status=0 line
  wait "$1" || status=$?
  cat "$2"
  while read -r line; do not_run+=("${line#NOT RUN: }"); done < <(grep '^NOT RUN: ' "$2")
  return "$status"
}

# Stops a job of the background whole.
stop_job() {
  [ -n "$1" ] || return 0
  kill -- "-$1" 2>/dev/null || true
  wait "$1" 2>/dev/null || true
}

# What a fuzzer left behind, so that it can be replayed elsewhere.
show_crashes() {
  local file
  git ls-files --others fuzz/crashes core/fuzz/crashes | while read -r file; do
    echo "$file, in base64: $(base64 -w 0 "$file")"
  done
  return 1
}

say_what_did_not_run() {
  [ "${#not_run[@]}" = 0 ] || printf 'NOT RUN: %s\n' "${not_run[@]}" | sort -u
}

# At every exit: stops what still runs, removes the scratch, and names the step that failed.
finish() {
  trap - EXIT
  stop_job "$base_job"
  stop_job "$copy_job"
  stop_job "$others_job"
  rm -rf --one-file-system "$scratch"
  if [ "$1" != 0 ]; then
    say_what_did_not_run
    echo "CI FAILED in step: $step_name" >&2
  fi
  exit "$1"
}
