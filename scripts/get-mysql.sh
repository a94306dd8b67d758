#!/bin/sh
# Gets the MySQL server that the tests start, with its client and mysqldump. Does nothing when one is there, or when $MYSQL_BIN names one.
#
# Only Debian's unstable suite has MySQL, in whichever version it has today. Its packages are unpacked into the user's cache, where
# dbdyno looks for it, with the C library that they need. If it cannot be had, or does not run here, the reason is written to `missing`
# there, and the tests of MySQL are skipped with it. Nothing else depends on it.
set -eu
. "$(dirname "$0")/packages.sh"

parent=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/mysql
suite=${DBDYNO_MYSQL_SUITE:-sid}
PATH=$PATH:/usr/sbin:/sbin

[ -z "${MYSQL_BIN:-}" ] || {
    [ -x "$MYSQL_BIN/mysqld" ] && exit 0
    fail "\$MYSQL_BIN names $MYSQL_BIN, which does not contain mysqld; correct it or unset it"
}
# MariaDB's program bears this name, too.
mysqld --version 2>/dev/null | grep -qv MariaDB && exit 0
for found in "$parent"/[0-9]*; do
    [ -x "$found/usr/sbin/mysqld" ] && exit 0
done

fail() {
    mkdir -p "$parent"
    echo "$*" >"$parent/missing"
    say "$*; the tests of MySQL will be skipped"
    exit 0
}

# The programs with what they need to run, in $work/mysql.
take() {
    libraries=$(echo "$work/tree/usr/lib/"*-linux-gnu)
    loader=$(echo "$libraries"/ld-linux-*.so.?)
    [ -x "$loader" ] || fail "the packages of MySQL $version have no loader"
    mkdir -p "$work/mysql/usr/bin" "$work/mysql/usr/sbin" "$work/mysql/usr/lib/loader" "$work/mysql/usr/libexec" "$work/mysql/usr/share/mysql"
    mv "$work/tree/usr/share/mysql/english" "$work/tree/usr/share/mysql/charsets" "$work/mysql/usr/share/mysql"
    for path in sbin/mysqld bin/mysql bin/mysqldump bin/mysqladmin bin/innochecksum; do
        wrap "$path" "${path##*/}"
    done
    rm -rf "$libraries/gconv" "$work/tree/usr/lib/mysql/plugin/"*_client.so
    mv "$work/tree/usr/lib/mysql" "$libraries" "$work/mysql/usr/lib"
}

# A program is started by its own C library's loader, which takes the libraries beside it: the system's are older. The loader is a file
# of the program's name, because that is what the kernel calls the process.
wrap() {
    mv "$work/tree/usr/$1" "$work/mysql/usr/libexec/$2"
    ln "$loader" "$work/mysql/usr/lib/loader/$2"
    cat >"$work/mysql/usr/$1" <<WRAPPER
#!/bin/sh
usr=\${0%/*/*}
exec "\$usr/lib/loader/$2" --argv0 "\$0" --library-path "\$usr/lib/${libraries##*/}" "\$usr/libexec/$2" "\$@"
WRAPPER
    chmod 755 "$work/mysql/usr/$1"
}

# A data directory is made with it, which takes most of what a server does.
try() {
    mkdir "$work/run"
    "$work/mysql/usr/sbin/mysqld" --no-defaults --initialize-insecure --user="$(id -un)" --basedir="$work/mysql/usr" --datadir="$work/run/data" \
        --lc-messages-dir="$work/mysql/usr/share/mysql" --secure-file-priv=NULL --innodb-redo-log-capacity=8M >"$work/log" 2>&1 ||
        fail "MySQL $version of Debian's suite $suite does not run here ($(tail -n 1 "$work/log" | cut -c1-200))"
}

make_work "$parent"
unpack_suite "$suite" mysql-server-core mysql-client-core
version=$(unpacked_version mysql-server-core)
take
try
mv "$work/mysql" "$parent/$version"
rm -f "$parent/missing"
say "MySQL $version is in $parent/$version"
