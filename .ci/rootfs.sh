#!/usr/bin/env bash
# Debian root file systems to throw away.
#   rootfs.sh create ROOT TRIES [ARCH]            makes a bare one, with this machine's ways to the network; for another
#                                                 CPU if it is told Debian's name for one, such as s390x; DEBIAN names
#                                                 another release than trixie
#   rootfs.sh run ROOT COMMAND...                 runs a command of the repository's clone in it
#   rootfs.sh install_packages ROOT RELEASE PACKAGE...   installs packages of that release
#   rootfs.sh install_newest_ruby ROOT RELEASE    installs the newest Ruby of that release and makes it the first in PATH
#   rootfs.sh online ROOT                         tells whether packages and gems can be had
# Mounts live in a mount namespace that ends with the command, so that none can be left behind but the kernel's list of
# emulators.
set -euo pipefail

release="${DEBIAN:-trixie}"

create() {
  local root="$1" tries="$2" arch="${3:-$(dpkg --print-architecture)}" try
  command -v debootstrap >/dev/null || install_here debootstrap
  command -v arch-test >/dev/null || install_here arch-test
  runs "$arch" || install_here qemu-user-static binfmt-support
  runs "$arch" || enable_emulator "$arch"
  for ((try = 1; try <= tries; try++)); do
    rm -rf --one-file-system "$root"
    if isolated debootstrap --arch="$arch" --variant=minbase "$release" "$root" "$(mirror)" >"$root.log" 2>&1; then
      rm -f "$root"/var/cache/apt/archives/*.deb
      take_along "$root"
      return
    fi
    tail -n 5 "$root.log"
    sleep $((try * 5))
  done
  return 1
}

install_here() {
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null
}

# Tells whether this machine runs programs for that CPU, if need be by an emulator that its kernel knows.
runs() {
  case "$(dpkg --print-architecture) $1" in
    "$1 $1") ;;
    "amd64 i386") arch-test i386 >/dev/null ;; # not every kernel does
    *) grep -qs enabled "/proc/sys/fs/binfmt_misc/qemu-$(emulated "$1")" ;;
  esac
}

# Where packages may not start services, as in many containers, installing them does not tell the kernel.
enable_emulator() {
  mountpoint -q /proc/sys/fs/binfmt_misc || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
  [ "$(dpkg --print-architecture) $1" != "amd64 i386" ] || register_i386
  update-binfmts --enable "qemu-$(emulated "$1")"
}

# Debian's package registers no emulator for i386 on amd64, because most kernels run such programs. The magic is the head
# of their ELF files.
register_i386() {
  update-binfmts --install qemu-i386 /usr/bin/qemu-i386-static --offset 0 --fix-binary yes \
    --magic '\x7f\x45\x4c\x46\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x03\x00' \
    --mask '\xff\xff\xff\xff\xff\xfe\xfe\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
}

# What qemu calls a CPU of Debian.
emulated() {
  case "$1" in
    arm64) echo aarch64 ;;
    armhf | armel) echo arm ;;
    ppc64el) echo ppc64le ;;
    *) echo "$1" ;;
  esac
}

# Where this machine gets its own Debian from; other sources it may have, such as vendors', do not have a whole Debian.
# Ubuntu's have none of it, so debootstrap takes its default there.
mirror() {
  local codename
  codename="$(. /etc/os-release && echo "$VERSION_CODENAME")"
  [ "$(. /etc/os-release && echo "$ID")" != ubuntu ] || return 0
  # shellcheck disable=SC2016 # apt expands
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(SITE)' 'Created-By: Packages' |
    awk -v codename="$codename" '($1 == codename || $1 == "stable") && $2 == "main" { print $3; exit }'
}

# How this machine reaches the network, and nothing else of it.
take_along() {
  local root="$1" file
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  apt-config dump | grep -E '^Acquire::(http|https|Retries|Check)' >"$root/etc/apt/apt.conf.d/00host" || true
  take_certificates "$root"
  for file in /etc/gemrc "$HOME/.gemrc" "$HOME/.bundle/config"; do
    [ ! -e "$file" ] || install -D -m 600 "$file" "$root/${file/#$HOME/root}"
  done
}

# To where Debian's ca-certificates collects them when it is installed, as a newcomer's set-up has to bring about.
take_certificates() {
  local bundle="${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}" folder="$1/usr/local/share/ca-certificates"
  [ -e "$bundle" ] || return 0
  mkdir -p "$folder"
  awk -v folder="$folder" '/BEGIN CERTIFICATE/ { file = folder "/host" ++n ".crt" } file { print > file }
    /END CERTIFICATE/ { close(file); file = "" }' "$bundle"
  cp "$bundle" "$1/etc/apt/host.crt"
  echo 'Acquire::https::CAInfo "/etc/apt/host.crt";' >>"$1/etc/apt/apt.conf.d/00host"
}

run() {
  local root="$1"
  shift
  in_root "$root" sh -c 'cd /root/manypack && exec "$@"' sh "$@"
}

install_packages() {
  local root="$1" from="$2"
  shift 2
  sed "s/$release/$from/" "$root/etc/apt/sources.list" >"$root/etc/apt/sources.list.d/$from.list"
  in_root "$root" env DEBIAN_FRONTEND=noninteractive sh -ec "
    apt-get update -qq -o Acquire::Check-Valid-Until=false
    apt-get install -y -qq --no-install-recommends -t $from $* >/dev/null
  "
}

# It comes beside Debian's default Ruby, which the packages insist on.
install_newest_ruby() {
  local root="$1" from="$2" version tool
  install_packages "$root" "$from"
  version="$(in_root "$root" apt-cache search --names-only '^ruby[0-9.]+-dev$' | sort -V | sed -n '$s/^ruby\([0-9.]*\)-dev .*/\1/p')"
  install_packages "$root" "$from" "ruby$version" "ruby$version-dev"
  for tool in ruby gem bundle; do
    ln -sf "/usr/bin/$tool$version" "$root/usr/local/bin/$tool"
  done
}

online() {
  in_root "$1" sh -ec '
    apt-get update -qq -o Acquire::Check-Valid-Until=false -o APT::Update::Error-Mode=any
    ! command -v gem >/dev/null || gem specification --remote rake version >/dev/null
  '
}

in_root() {
  local root="$1"
  shift
  # shellcheck disable=SC2016 # the inner shell expands
  isolated bash -euc '
    root="$1"; shift
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    [ -e "$root/dev/pts/ptmx" ] || mount -t devpts devpts "$root/dev/pts" || true # for the tests of terminals
    exec chroot "$root" "$@"
  ' bash "$root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    "${network_variables[@]}" "$@"
}

# In namespaces of its own: whatever it mounts or starts ends with it.
isolated() {
  unshare --mount-proc --pid --fork --kill-child "$@"
}

# The variables that name proxies and mirrors, as NAME=VALUE.
network_variables=()
while read -r name; do
  network_variables+=("$name=${!name}")
done < <(compgen -e | grep -Ei '^((https?|ftp|all|no)_proxy|BUNDLE_MIRROR.*)$' || true)

"$@"
