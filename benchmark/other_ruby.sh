#!/usr/bin/env bash
# Measures what is committed on another Ruby, in a Debian of its own under vendor/:
#   other_ruby.sh VERSION RELEASE [OPTIONS of bin/bench]
# For example 3.4 experimental. Needs root and a network. Results come to benchmark/results, for rake bench:report.
set -euo pipefail
cd "$(dirname "$0")/.."
version="$1" release="$2"
shift 2
root="$PWD/vendor/benchmark/ruby-$version"

if [ ! -e "$root" ]; then
  rm -rf --one-file-system "$root.new"
  mkdir -p vendor/benchmark
  bash .ci/rootfs.sh create "$root.new" 3
  bash .ci/rootfs.sh install_ruby "$root.new" "$version" "$release"
  mv "$root.new" "$root" # only when it is complete
fi
# The stamp of the results names this commit.
[ -e "$root/root/manypack" ] || git clone --quiet --no-checkout . "$root/root/manypack"
git -C "$root/root/manypack" fetch --quiet "$PWD" HEAD
git -C "$root/root/manypack" checkout --quiet --detach FETCH_HEAD
[ ! -d ../shared/data ] || { mkdir -p "$root/root/shared" && cp -r ../shared/data "$root/root/shared/"; }
bash .ci/rootfs.sh run "$root" bin/bench "$@"
mkdir -p benchmark/results
cp "$root"/root/manypack/benchmark/results/*.json benchmark/results/
