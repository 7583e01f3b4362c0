#!/usr/bin/env bash
# Debians of their own under vendor/benchmark/, for what this machine does not have. Needs root and a network.
#   debian.sh languages                              makes the one with the MessagePack of other languages; needs npm
#   debian.sh ruby VERSION RELEASE [OPTIONS of bin/bench]   measures what is committed on another Ruby
# For example: ruby 3.4 experimental. Its results come to benchmark/results, for rake bench:report.
set -euo pipefail
cd "$(dirname "$0")/.."
folder="$PWD/vendor/benchmark"

# Puts a root in its place only when it is complete: make_root ROOT COMMAND..., which gets the unfinished one.
make_root() {
  local root="$1"
  shift
  rm -rf --one-file-system "$root" "$root.new"
  mkdir -p "$folder"
  bash .ci/rootfs.sh create "$root.new" 3
  "$@" "$root.new"
  mv "$root.new" "$root"
}

install_languages() {
  local home="$1/root/manypack"
  bash .ci/rootfs.sh install_packages "$1" forky python3-msgspec python3-msgpack nodejs # the first with msgspec
  mkdir -p "$home/documents" "$home/packed"
  npm install --silent --no-fund --no-audit --prefix "$home" msgpackr >"$1.log" 2>&1 || {
    cat "$1.log" >&2
    exit 1
  }
}

install_ruby() {
  bash .ci/rootfs.sh install_ruby "$3" "$1" "$2"
}

measure_on_ruby() {
  local version="$1" release="$2" root="$folder/ruby-$1"
  shift 2
  [ -e "$root" ] || make_root "$root" install_ruby "$version" "$release"
  # The stamp of the results names this commit.
  [ -e "$root/root/manypack" ] || git clone --quiet --no-checkout . "$root/root/manypack"
  git -C "$root/root/manypack" fetch --quiet "$PWD" HEAD
  git -C "$root/root/manypack" checkout --quiet --detach FETCH_HEAD
  [ ! -d ../shared/data ] || { mkdir -p "$root/root/shared" && cp -r ../shared/data "$root/root/shared/"; }
  bash .ci/rootfs.sh run "$root" bin/bench "$@"
  mkdir -p benchmark/results
  cp "$root"/root/manypack/benchmark/results/*.json benchmark/results/
}

case "${1:-}" in
  languages) make_root "$folder/languages" install_languages ;;
  ruby) measure_on_ruby "${@:2}" ;;
  *) sed -n '2,5s/^# //p' "$0" >&2 && exit 2 ;;
esac
