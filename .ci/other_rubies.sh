#!/usr/bin/env bash
# Runs the suite on the Rubies which this machine does not have, each in a Debian of its own:
#   not_moved="TEST..." other_rubies.sh BASE   BASE is a bare one, which rootfs.sh has made; it is used up. not_moved are
#                                              the tests that cannot run while objects move
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/steps.sh

newest_release=experimental # where Debian has a new Ruby first
tries=3

main() {
  cp -a "$1" "$scratch/newest"

  step "A newcomer on a bare Debian: bin/demo, bin/console, bin/test"
  in_debian "a newcomer on a bare Debian" newcomer "$1"

  step "The newest Ruby of Debian: the suite, most of it while objects move"
  in_debian "the suite on the newest Ruby of Debian" on_newest_ruby "$scratch/newest"

  say_what_did_not_run
}

# Runs a function on a root file system. What fails while the network is down says nothing about Manypack: it is tried
# again, and in the end not counted.
in_debian() {
  local what="$1" function="$2" root="$3" try
  for ((try = 1; try <= tries; try++)); do
    "$function" "$root" && return
    ! bash .ci/rootfs.sh online "$root" || return 1
    echo "the network is down (try $try of $tries)"
    sleep $((try * 10))
  done
  not_run+=("$what: the network was down $tries times")
}

# What the README tells to type, where nothing is installed.
newcomer() {
  clone_into "$1" && first_look "$1" && suite limited bash .ci/rootfs.sh run "$1" bin/test
}

# Help comes before anything is set up; then the demo, also of a file, and a console that answers.
first_look() {
  bash .ci/rootfs.sh run "$1" bin/demo --help &&
    limited bash .ci/rootfs.sh run "$1" bin/demo &&
    limited bash .ci/rootfs.sh run "$1" bin/demo --time 1 docs/performance/results.json &&
    echo 'puts "a console that #{Manypack.unpack(Manypack.pack("answers"))}"' |
    limited bash .ci/rootfs.sh run "$1" bin/console | tee "$scratch/console.log" &&
    grep -q "^a console that answers" "$scratch/console.log"
}

on_newest_ruby() {
  clone_into "$1" && bash .ci/rootfs.sh install_newest_ruby "$1" "$newest_release" &&
    bash .ci/rootfs.sh run "$1" ruby --version &&
    suite limited bash .ci/rootfs.sh run "$1" bin/test "TEST=$(xargs <<<"${not_moved?}" | tr ' ' ',')" &&
    suite limited bash .ci/rootfs.sh run "$1" env WITHOUT="$not_moved" bundle exec rake test:compact && # by every collection
    limited bash .ci/rootfs.sh run "$1" bundle exec rake "test:denied[together]" # it has more to deny than the Ruby of this machine
}

clone_into() {
  rm -rf "$1/root/manypack" && git clone --quiet . "$1/root/manypack"
}

main "$@"
