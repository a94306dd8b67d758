#!/bin/sh
# Gets the MariaDB server that the tests start, with the client they ask it by, its backup tools, sysbench and a plugin of the server. Does
# nothing when they are there, or when $MARIADB_BIN names another one. As root it is installed with apt-get, otherwise (or with
# DBDYNO_UNPACK=1) its packages are unpacked into the user's cache, where dbdyno looks for it.
set -eu
. "$(dirname "$0")/packages.sh"

by_hand="install MariaDB (on Debian: apt-get install mariadb-server-core mariadb-client-core mariadb-backup mydumper sysbench), or name the directory of its programs in \$MARIADB_BIN"
# The packages of the programs alone: there is no service in them that could be started.
packages="mariadb-server-core mariadb-client-core mariadb-backup mydumper sysbench"

[ -z "${MARIADB_BIN:-}" ] || {
    [ -x "$MARIADB_BIN/mariadbd" ] || [ -x "$MARIADB_BIN/mysqld" ] && exit 0
    fail "\$MARIADB_BIN names $MARIADB_BIN, which does not contain mariadbd; correct it or unset it"
}
parent=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/mariadb
PATH=$PATH:/usr/sbin:/sbin

get_server() {
    if [ -z "${DBDYNO_UNPACK:-}" ]; then
        command -v mariadbd >/dev/null && command -v mariadb >/dev/null && command -v mariadb-backup >/dev/null &&
            command -v mydumper >/dev/null && command -v sysbench >/dev/null && return
    fi
    for found in "$parent"/[0-9]*; do
        [ -x "$found/usr/sbin/mariadbd" ] && [ -x "$found/usr/bin/mariadb-backup" ] && [ -x "$found/usr/bin/mydumper" ] && return
    done
    if [ -z "${DBDYNO_UNPACK:-}" ] && can_become_root; then
        # shellcheck disable=SC2086 # a list of packages
        install_packages MariaDB "$by_hand" $packages ||
            fail "apt-get could not install it ($(tail -n 1 "$work/log")); check the network, or $by_hand"
    else
        # shellcheck disable=SC2086
        unpack_packages MariaDB "$by_hand" $packages
        release=$(dpkg-deb --field "$work"/packages/mariadb-server-core_*.deb Version | sed 's/^[0-9]*://; s/-.*//')
        # One without the backup tools, of an earlier dbdyno.
        rm -rf "${parent:?}/$release"
        mv "$work/tree" "$parent/$release"
        say "MariaDB $release is in $parent/$release"
    fi
}

# The server's part of logins with ed25519, for one test. Its package has a service, so it is only unpacked.
get_plugin() {
    plugin=usr/lib/mysql/plugin/auth_ed25519.so
    for found in "/$plugin" "$parent/plugins/auth_ed25519.so"; do
        [ -e "$found" ] && return
    done
    command -v apt-get >/dev/null || return 0
    with_package_lists download_plugin ||
        fail "apt-get could not fetch the package mariadb-server ($(tail -n 1 "$work/log")); check the network"
    dpkg-deb --extract "$work"/plugin/mariadb-server_*.deb "$work/plugin/tree" || fail "the package mariadb-server cannot be unpacked"
    mkdir -p "$parent/plugins"
    mv "$work/plugin/tree/$plugin" "$parent/plugins/auth_ed25519.so"
    say "the plugin auth_ed25519 is in $parent/plugins"
}

download_plugin() {
    rm -rf "$work/plugin"
    mkdir "$work/plugin"
    # apt-get reads the package as a user of its own.
    chmod 755 "$work" "$work/plugin"
    as_root=
    (cd "$work/plugin" && apt_get download mariadb-server)
}

make_work "$parent"
get_server
get_plugin
