# Servers of their own for benches, to be sourced. It needs `fail`, `out` (a directory that the servers' users pass through), `clients`
# (sessions of sysbench), and takes PG, PG_SETTINGS, MARIADB_BIN and MARIADB_SETTINGS from who runs the bench. `rows` is large or small: few
# rows, for whose locks clients wait. `commits` is free, without waiting for a disk, or slow: each waits for a disk that takes 5 ms more.
rows=large commits=free

# as_user NAME: sets `as`, which runs programs as that user where the script runs as root, and `user`. No function runs a server, or its
# number would be that of a shell around it.
as_user() {
    user=$(id -un) as=()
    [ "$(id -u)" = 0 ] || return 0
    user=$1
    id -u "$user" >/dev/null 2>&1 || user=nobody
    as=(setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups)
}

# until_so PID FILE COMMAND…: waits until the command succeeds, a minute at most; FILE has what the process PID said, if that ends before.
until_so() {
    local n
    for ((n = 0; n < 600; n++)); do
        "${@:3}" >"$out/wait.txt" 2>&1 && return
        kill -0 "$1" 2>/dev/null || break
        sleep 0.1
    done
    tail -n 20 "$2" >&2
    fail "waited in vain for: ${*:3}"
}

# slowly: sets `env`, which runs a server whose syncs take 5 ms more where commits are slow.
slowly() {
    local here
    env=(env)
    [ "$commits" = slow ] || return 0
    here=$(dirname "${BASH_SOURCE[0]}")
    cc -O2 -shared -fPIC -DSYNC_US=5000 -o "$out/slow-sync.so" "$here/../scripts/slow-sync.c" -ldl || fail "scripts/slow-sync.c cannot be compiled"
    chmod 755 "$out/slow-sync.so"
    env=(env "LD_PRELOAD=$out/slow-sync.so")
}

postgres_begin() {
    local pg=${PG:-} user as env scale=10 place=$out/postgres
    [ -n "$pg" ] || pg=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1)")
    # Some packages of the server have no clients.
    pgbench=$(ls "$pg/pgbench" /usr/lib/postgresql/*/bin/pgbench 2>/dev/null | head -n 1 || true)
    psql=$(ls "$pg/psql" /usr/lib/postgresql/*/bin/psql 2>/dev/null | head -n 1 || true)
    [ -n "$pgbench" ] && [ -n "$psql" ] || fail "pgbench and psql are not there (on Debian: apt-get install postgresql)"
    as_user postgres
    mkdir -p "$place"
    [ "$(id -u)" != 0 ] || chown "$user" "$place"
    "${as[@]}" "$pg/initdb" -D "$place/data" -U postgres -A trust --no-sync >"$out/initdb.txt" 2>&1 ||
        fail "initdb: $(tail -n 1 "$out/initdb.txt")"
    slowly
    local durable=off
    [ "$commits" = free ] || durable=on
    # shellcheck disable=SC2086 # settings are several words
    "${as[@]}" "${env[@]}" "$pg/postgres" -D "$place/data" -k "$place" -c listen_addresses= -c shared_buffers=512MB -c fsync=$durable \
        -c synchronous_commit=$durable -c autovacuum=off -c max_wal_size=16GB -c checkpoint_timeout=1h ${PG_SETTINGS:-} >"$out/postgres.txt" 2>&1 &
    server=$!
    login=(-h "$place" -U postgres)
    until_so "$server" "$out/postgres.txt" "$psql" "${login[@]}" -c 'SELECT 1' postgres
    [ "$rows" = large ] || scale=1
    "$pgbench" -i -q -s "$scale" "${login[@]}" postgres >"$out/init.txt" 2>&1
    [[ ${PG_SETTINGS:-} != *pg_stat_statements* ]] || "$psql" "${login[@]}" -qc 'CREATE EXTENSION pg_stat_statements' postgres
    url="postgres://postgres@${place//\//%2F}/postgres"
    title="pgbench, $clients clients, PostgreSQL $("$psql" "${login[@]}" -Atc 'SHOW server_version' postgres | cut -d' ' -f1)"
}

mariadb_begin() {
    command -v sysbench >/dev/null || fail "sysbench is not there (on Debian: apt-get install sysbench)"
    local user as env size=50000 tables=4 durable=0 place=$out/mariadb bin=${MARIADB_BIN:-} tree
    if [ -z "$bin" ]; then
        PATH=$PATH:/usr/sbin
        tree=$(ls -d "${XDG_CACHE_HOME:-$HOME/.cache}"/dbdyno/mariadb/[0-9]* 2>/dev/null | sort -V | tail -n 1 || true)
        [ -z "$tree" ] || PATH=$PATH:$tree/usr/sbin:$tree/usr/bin
    else
        PATH=$bin:$PATH
    fi
    command -v mariadbd >/dev/null || fail "mariadbd is not there (make mariadb gets it)"
    as_user mysql
    mkdir -p "$place"
    [ "$(id -u)" != 0 ] || chown "$user" "$place"
    local base=()
    [ -z "${tree:-}" ] || base=(--basedir="$tree/usr")
    "${as[@]}" mariadb-install-db --no-defaults "${base[@]}" --datadir="$place/data" --auth-root-authentication-method=normal \
        --skip-test-db >"$out/install.txt" 2>&1
    slowly
    [ "$commits" = free ] || durable=1
    # shellcheck disable=SC2086
    "${as[@]}" "${env[@]}" mariadbd --no-defaults "${base[@]}" --datadir="$place/data" --socket="$place/socket" --pid-file="$place/pid" \
        --skip-networking --innodb-buffer-pool-size=512M --innodb-log-file-size=2G --innodb-flush-log-at-trx-commit=$durable \
        ${MARIADB_SETTINGS:-} >"$out/mariadb.txt" 2>&1 &
    server=$!
    client=(mariadb --no-defaults -BN -u root -S "$place/socket")
    until_so "$server" "$out/mariadb.txt" "${client[@]}" -e 'SELECT 1'
    "${client[@]}" -e 'CREATE DATABASE sbtest'
    [ "$rows" = large ] || size=20 tables=1
    sysbench=(sysbench --mysql-socket="$place/socket" --mysql-user=root --mysql-db=sbtest --tables="$tables"
        --table-size="$size" --rand-type=uniform --threads="$clients")
    "${sysbench[@]}" oltp_read_write prepare >"$out/prepare.txt"
    url="mysql://root@localhost/sbtest?socket=$place/socket"
    title="sysbench, $clients threads, MariaDB $("${client[@]}" -e 'SELECT VERSION()' | cut -d- -f1)"
}
