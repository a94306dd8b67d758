#!/bin/sh
# Gets the programs that build XFS and Btrfs, for the tests of layouts. They need root, and so do layouts: without it there is
# nothing to do.
set -eu
. "$(dirname "$0")/packages.sh"

by_hand="install them (on Debian: apt-get install xfsprogs btrfs-progs)"
PATH=$PATH:/usr/sbin:/sbin

[ "$(id -u)" -eq 0 ] || exit 0
command -v mkfs.xfs >/dev/null && command -v mkfs.btrfs >/dev/null && exit 0
make_work "${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno"
install_packages "programs that build XFS and Btrfs" "$by_hand" xfsprogs btrfs-progs ||
    fail "apt-get could not install them ($(tail -n 1 "$work/log")); check the network, or $by_hand"
