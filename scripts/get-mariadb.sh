#!/bin/sh
# Gets the MariaDB server that the tests start, with the client they ask it by. Does nothing when it is
# there, or when $MYSQL_BIN names another one. As root it is installed with apt-get, otherwise (or with
# DBDYNO_UNPACK=1) its packages are unpacked into the user's cache, where dbdyno looks for it.
set -eu
. "$(dirname "$0")/packages.sh"

by_hand="install MariaDB (on Debian: apt-get install mariadb-server-core mariadb-client-core), or name the directory of its programs in \$MYSQL_BIN"
# The packages of the programs alone: there is no service in them that could be started.
packages="mariadb-server-core mariadb-client-core"

[ -z "${MYSQL_BIN:-}" ] || {
    [ -x "$MYSQL_BIN/mariadbd" ] || [ -x "$MYSQL_BIN/mysqld" ] && exit 0
    fail "\$MYSQL_BIN names $MYSQL_BIN, which does not contain mariadbd; correct it or unset it"
}
parent=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/mariadb
PATH=$PATH:/usr/sbin:/sbin
if [ -z "${DBDYNO_UNPACK:-}" ]; then
    command -v mariadbd >/dev/null && command -v mariadb >/dev/null && exit 0
fi
for found in "$parent"/[0-9]*/usr/sbin/mariadbd; do
    [ -x "$found" ] && exit 0
done

make_work "$parent"
if [ -z "${DBDYNO_UNPACK:-}" ] && can_become_root; then
    # shellcheck disable=SC2086 # a list of packages
    install_packages MariaDB "$by_hand" $packages ||
        fail "apt-get could not install it ($(tail -n 1 "$work/log")); check the network, or $by_hand"
else
    # shellcheck disable=SC2086
    unpack_packages MariaDB "$by_hand" $packages
    release=$(dpkg-deb --field "$work"/packages/mariadb-server-core_*.deb Version | sed 's/^[0-9]*://; s/-.*//')
    mv "$work/tree" "$parent/$release"
    say "MariaDB $release is in $parent/$release"
fi
