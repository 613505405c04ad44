# Copyright 2026 The softrobot_dynamics authors. Apache-2.0.
#
# Functions for checks in a bare Debian; other scripts source them. They need root, and Debian's
# packages debootstrap and, for another processor, qemu-user-static and binfmt-support.

# make_debian FOLDER SUITE [ARCHITECTURE]: install Debian with Python, pip and venv, and no more but
# the library that Pinocchio's wheel, which the tests compare with, takes for granted (libgomp1).
make_debian() {
  [ "${3:-$(dpkg --print-architecture)}" = "$(dpkg --print-architecture)" ] || _emulate "$3"
  if [ ! -e "$1/complete" ]; then
    DEBIAN_FRONTEND=noninteractive debootstrap --variant=minbase ${3:+"--arch=$3"} --include=python3,python3-venv,libgomp1,ca-certificates \
      "$2" "$1" > "$1.log" 2>&1 || { tail -5 "$1.log"; return 1; }
    touch "$1/complete"
  fi
  # the network is that of this machine, and so are the authorities that it trusts
  cp --dereference /etc/resolv.conf "$1/etc/resolv.conf"
  cp --dereference /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/ca-certificates.crt"
}

# inside FOLDER COMMAND: run a shell command there, in the folder /sources. An emulated arm64 is that
# of a Raspberry Pi 4: on the processor that QEMU 7.2 else imitates, which has more, OpenBLAS finds
# wrong products of matrices.
inside() {
  unshare --mount --pid --fork bash -euc '
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    exec env -i HOME=/root LANG=C.UTF-8 QEMU_CPU=cortex-a72 PATH=/usr/bin:/bin:/usr/sbin:/sbin \
      PIP_CERT=/etc/ssl/certs/ca-certificates.crt chroot "$1" bash -euc "cd /sources; $2"
  ' bash "$1" "$2"
}

_emulate() {
  local kinds=/proc/sys/fs/binfmt_misc name=qemu-$1
  [ "$1" != arm64 ] || name=qemu-aarch64
  [ -e "$kinds/register" ] || mount -t binfmt_misc binfmt_misc "$kinds"
  [ -e "$kinds/$name" ] || update-binfmts --enable "$name"
}
