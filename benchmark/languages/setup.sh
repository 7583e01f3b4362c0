#!/usr/bin/env bash
# Makes a Debian root file system with the MessagePack of other languages in it: setup.sh ROOT.
# Needs root, npm and a network.
set -euo pipefail
root="$1"
here="$(cd "$(dirname "$0")" && pwd)"
rootfs="$here/../../.ci/rootfs.sh"
release=forky # the first Debian with msgspec
packages=(python3-msgspec python3-msgpack nodejs)

rm -rf --one-file-system "$root" "$root.new"
mkdir -p "$(dirname "$root")"
bash "$rootfs" create "$root.new" 3
bash "$rootfs" install_packages "$root.new" "$release" "${packages[@]}"
home="$root.new/root/manypack"
mkdir -p "$home/documents" "$home/packed"
npm install --silent --no-fund --no-audit --prefix "$home" msgpackr >"$root.log" 2>&1 || {
  cat "$root.log" >&2
  exit 1
}
mv "$root.new" "$root" # only when it is complete
