#!/bin/sh
# Gets the MariaDB server that the tests start, with the client they ask it by. Does nothing when it is
# there, or when $MYSQL_BIN names another one. As root it is installed with apt-get, otherwise (or with
# DBDYNO_UNPACK=1) its packages are unpacked into the user's cache, where dbdyno looks for it.
set -eu

fail() {
    echo "get-mariadb: $*" >&2
    exit 1
}

by_hand="install MariaDB (on Debian: apt-get install mariadb-server-core mariadb-client-core), or name the directory of its programs in \$MYSQL_BIN"
# The packages of the programs alone: there is no service in them that could be started.
packages="mariadb-server-core mariadb-client-core"

[ -z "${MYSQL_BIN:-}" ] || {
    [ -x "$MYSQL_BIN/mariadbd" ] || [ -x "$MYSQL_BIN/mysqld" ] && exit 0
    fail "\$MYSQL_BIN names $MYSQL_BIN, where the program mariadbd is not; correct it or unset it"
}
parent=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/mariadb
PATH=$PATH:/usr/sbin:/sbin
if [ -z "${DBDYNO_UNPACK:-}" ]; then
    command -v mariadbd >/dev/null && command -v mariadb >/dev/null && exit 0
fi
for found in "$parent"/[0-9]*/usr/sbin/mariadbd; do
    [ -x "$found" ] && exit 0
done
command -v apt-get >/dev/null || fail "there is no MariaDB and no apt-get; $by_hand"

mkdir -p "$parent" || fail "$parent cannot be created; make it writable or set XDG_CACHE_HOME"
work=$(mktemp -d "$parent/.get.XXXXXX") || fail "$parent cannot be written; make it writable or set XDG_CACHE_HOME"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

install_system() {
    # shellcheck disable=SC2086 # a list of packages
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --no-install-recommends $packages >"$work/log" 2>&1
}

# What the packages need and the system does not have, as apt-get would install it.
unpack() {
    # shellcheck disable=SC2086
    apt-get install --simulate --no-install-recommends $packages >"$work/log" 2>&1 || return 1
    missing=$(sed -n 's/^Inst \([^ ]*\) .*/\1/p' "$work/log")
    # shellcheck disable=SC2086
    (cd "$work" && apt-get download $missing) >"$work/log" 2>&1 || return 1
    for package in "$work"/*.deb; do
        dpkg-deb --extract "$package" "$work/tree" || return 1
    done
    release=$(dpkg-deb --field "$work"/mariadb-server-core_*.deb Version | sed 's/^[0-9]*://; s/-.*//')
    mv "$work/tree" "$parent/$release"
    echo "get-mariadb: MariaDB $release is in $parent/$release" >&2
}

if [ "$(id -u)" -eq 0 ] && [ -z "${DBDYNO_UNPACK:-}" ]; then
    as_root=
elif [ -z "${DBDYNO_UNPACK:-}" ] && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    echo "get-mariadb: unpacking MariaDB's packages into $parent" >&2
    unpack || fail "apt-get could not fetch them ($(tail -n 1 "$work/log")); check the network and the package lists, or $by_hand"
    exit 0
fi
echo "get-mariadb: installing MariaDB with apt-get" >&2
install_system || { $as_root apt-get update >"$work/log" 2>&1 && install_system; } ||
    fail "apt-get could not install it ($(tail -n 1 "$work/log")); check the network, or $by_hand"
