#!/bin/sh
# Gets PgBouncer, the pooler that tests put before a PostgreSQL server. Does nothing when it is there, or
# when $PGBOUNCER names another one. Its package is unpacked into the user's cache, not installed:
# installing it would start a service.
set -eu
. "$(dirname "$0")/packages.sh"

by_hand="install PgBouncer (on Debian: apt-get install pgbouncer), or name the program in \$PGBOUNCER"

[ -z "${PGBOUNCER:-}" ] || {
    [ -x "$PGBOUNCER" ] && exit 0
    fail "\$PGBOUNCER names $PGBOUNCER, which is not a program; correct it or unset it"
}
parent=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno
PATH=$PATH:/usr/sbin:/sbin
command -v pgbouncer >/dev/null && exit 0
[ -x "$parent/pgbouncer/bin/pgbouncer" ] && exit 0

make_work "$parent"
unpack_packages PgBouncer "$by_hand" pgbouncer
mkdir "$work/pgbouncer"
mv "$work/tree" "$work/pgbouncer/tree"
mkdir "$work/pgbouncer/bin"
# Its libraries may be among what was unpacked.
cat >"$work/pgbouncer/bin/pgbouncer" <<'RUN'
#!/bin/sh
tree=$(dirname "$(readlink -f "$0")")/../tree
LD_LIBRARY_PATH=$(echo "$tree"/usr/lib/*-linux-*)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$tree/usr/sbin/pgbouncer" "$@"
RUN
chmod 755 "$work/pgbouncer" "$work/pgbouncer/bin/pgbouncer"
"$work/pgbouncer/bin/pgbouncer" --version >"$work/log" 2>&1 ||
    fail "PgBouncer does not run here ($(tail -n 1 "$work/log")); $by_hand"
rm -rf "$parent/pgbouncer"
mv "$work/pgbouncer" "$parent/pgbouncer"
say "PgBouncer is in $parent/pgbouncer/bin"
