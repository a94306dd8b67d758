#!/usr/bin/env bash
# What observing costs those who are at work: throughput of pgbench and of sysbench (oltp_read_write) with and without
# `dbdyno observe` beside them, on a PostgreSQL and a MariaDB server of their own, in rounds of both whose order is drawn. Prints for each
# server the ratio with / without, its 95 % interval and whether it is equivalent to 1 within ± 2 %: its 90 % interval, which is two
# one-sided tests at 5 %, lies inside.
#
#   bench/observe.sh [ROUNDS] [SECONDS]       20 rounds of 2 x 10 s without arguments: some fifteen minutes a server
#   DBDYNO=PATH  the command (default bin/dbdyno)     OUT=DIR  where everything goes (default: a new directory, removed at the end)
#   ONLY="postgres mariadb"   CLIENTS=4   BAND=2 (percent)
#   PG=DIR       programs of PostgreSQL (default: Debian's newest)          PG_SETTINGS="-c shared_preload_libraries=pg_stat_statements"
#   MYSQL_BIN=DIR  programs of MariaDB (default: installed or unpacked)     MARIADB_SETTINGS="--performance-schema=ON"
# Servers do not wait for a disk, so that all throughput is processors'. Docs: docs/OBSERVE.md.
set -euo pipefail
rounds=${1:-20} seconds=${2:-10}
dbdyno=$(realpath "${DBDYNO:-$(dirname "${BASH_SOURCE[0]}")/../bin/dbdyno}")
clients=${CLIENTS:-4} band=${BAND:-2} only=${ONLY:-postgres mariadb}
out=${OUT:-$(mktemp -d /var/tmp/dbdyno-bench-observe.XXXXXX)}
mkdir -p "$out"
out=$(realpath "$out")
# The servers' users pass through.
chmod 711 "$out"
archive=$out/runs.dbdyno
# The observer begins some seconds before the clients and ends behind them.
lead=5 tail=7
fail() { echo "bench/observe.sh: $*" >&2; exit 1; }
[ -x "$dbdyno" ] || fail "there is no $dbdyno; build it, or name it in DBDYNO"

# Ended by their own numbers, the observer first.
server= observer=
stop() {
    [ -z "$observer" ] || { kill -INT "$observer" 2>/dev/null || true; wait "$observer" || true; }
    [ -z "$server" ] || { kill -INT "$server" 2>/dev/null || true; kill -TERM "$server" 2>/dev/null || true; wait "$server" || true; }
    server= observer=
}
trap 'stop; [ -n "${OUT:-}" ] || rm -rf "$out"' EXIT
trap 'exit 130' INT TERM

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

postgres_begin() {
    local pg=${PG:-} user as place=$out/postgres
    [ -n "$pg" ] || pg=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1)")
    # Some packages of the server have no clients.
    pgbench=$(ls "$pg/pgbench" /usr/lib/postgresql/*/bin/pgbench 2>/dev/null | head -n 1 || true)
    psql=$(ls "$pg/psql" /usr/lib/postgresql/*/bin/psql 2>/dev/null | head -n 1 || true)
    [ -n "$pgbench" ] && [ -n "$psql" ] || fail "pgbench and psql are not there (on Debian: apt-get install postgresql)"
    as_user postgres
    mkdir -p "$place"
    [ "$(id -u)" != 0 ] || chown "$user" "$place"
    "${as[@]}" "$pg/initdb" -D "$place/data" -U postgres -A trust --no-sync >"$out/initdb.txt" 2>&1
    # shellcheck disable=SC2086 # settings are several words
    "${as[@]}" "$pg/postgres" -D "$place/data" -k "$place" -c listen_addresses= -c shared_buffers=512MB -c fsync=off \
        -c synchronous_commit=off -c autovacuum=off -c max_wal_size=16GB -c checkpoint_timeout=1h ${PG_SETTINGS:-} >"$out/postgres.txt" 2>&1 &
    server=$!
    login=(-h "$place" -U postgres)
    until_so "$server" "$out/postgres.txt" "$psql" "${login[@]}" -c 'SELECT 1' postgres
    "$pgbench" -i -q -s 10 "${login[@]}" postgres >"$out/init.txt" 2>&1
    [[ ${PG_SETTINGS:-} != *pg_stat_statements* ]] || "$psql" "${login[@]}" -qc 'CREATE EXTENSION pg_stat_statements' postgres
    url="postgres://postgres@${place//\//%2F}/postgres"
    title="pgbench -c $clients, PostgreSQL $("$psql" "${login[@]}" -Atc 'SHOW server_version' postgres | cut -d' ' -f1)"
}
postgres_sees_observer() {
    [ "$("$psql" "${login[@]}" -Atc "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'dbdyno observe'" postgres)" = t ]
}
postgres_ready() { "$psql" "${login[@]}" -qc CHECKPOINT postgres; }
# Its vacuum of the small tables comes first, and is not in its rate.
postgres_work() {
    "$pgbench" -c "$clients" -j 1 -T "$seconds" "${login[@]}" postgres >"$out/clients.txt" 2>"$out/clients.err.txt"
    sed -n 's/^tps = \([0-9.]*\) .*/\1/p' "$out/clients.txt" | head -n 1
}

mariadb_begin() {
    command -v sysbench >/dev/null || fail "sysbench is not there (on Debian: apt-get install sysbench)"
    local user as place=$out/mariadb bin=${MYSQL_BIN:-} tree
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
    # shellcheck disable=SC2086
    "${as[@]}" mariadbd --no-defaults "${base[@]}" --datadir="$place/data" --socket="$place/socket" --pid-file="$place/pid" \
        --skip-networking --innodb-buffer-pool-size=512M --innodb-log-file-size=2G --innodb-flush-log-at-trx-commit=0 \
        ${MARIADB_SETTINGS:-} >"$out/mariadb.txt" 2>&1 &
    server=$!
    client=(mariadb --no-defaults -BN -u root -S "$place/socket")
    until_so "$server" "$out/mariadb.txt" "${client[@]}" -e 'SELECT 1'
    "${client[@]}" -e 'CREATE DATABASE sbtest'
    sysbench=(sysbench oltp_read_write --mysql-socket="$place/socket" --mysql-user=root --mysql-db=sbtest --tables=4
        --table-size=50000 --rand-type=uniform --threads="$clients")
    "${sysbench[@]}" prepare >"$out/prepare.txt"
    url="mysql://root@localhost/sbtest?socket=$place/socket"
    title="sysbench, $clients threads, MariaDB $("${client[@]}" -e 'SELECT VERSION()' | cut -d- -f1)"
}
mariadb_sees_observer() { [ "$("${client[@]}" -e 'SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND USER = "root"')" = 1 ]; }
mariadb_ready() { "${client[@]}" -e 'SET GLOBAL innodb_log_checkpoint_now = ON' >"$out/checkpoint.txt" 2>&1 || true; }
mariadb_work() {
    "${sysbench[@]}" --time="$seconds" run >"$out/clients.txt" 2>"$out/clients.err.txt"
    sed -n 's/^ *transactions: *[0-9]* *(\([0-9.]*\) per sec.*/\1/p' "$out/clients.txt"
}

# block NAME SIDE: sets `rate` to the clients' transactions per second, and of the side `with` what the observer says of itself. Both sides
# have the same times: the clients begin `lead` seconds behind the begin, and the block ends `tail` seconds behind their end.
block() {
    local name=$1 side=$2 begin=$SECONDS status=0
    "${name}_ready"
    if [ "$side" = with ]; then
        rm -f "$archive"*
        "$dbdyno" observe --target "$url" --for "$((lead + seconds))s" --archive "$archive" >"$out/observe.txt" 2>&1 &
        observer=$!
        until_so "$observer" "$out/observe.txt" "${name}_sees_observer"
    fi
    wait_for_second "$((begin + lead))"
    "${name}_work" >"$out/rate.txt"
    rate=$(cat "$out/rate.txt")
    [ -n "$rate" ] || { cat "$out/clients"*.txt >&2; fail "the clients did not tell their rate"; }
    if [ "$side" = with ]; then
        kill -0 "$observer" 2>/dev/null || { cat "$out/observe.txt" >&2; fail "the observer ended before the clients did"; }
        wait "$observer" || status=$?
        observer=
        # 3: a check of the machine failed, which is in the archive.
        case $status in 0 | 3) ;; *) cat "$out/observe.txt" >&2; fail "the observer ended with status $status" ;; esac
        "$dbdyno" export last --archive "$archive" --format json >"$out/observed.json"
        cost=$(grep -o '"cost_pct": *[0-9.]*' "$out/observed.json" | head -n 1 | grep -o '[0-9.]*$' || true)
        looks=$(grep -o '"looks_per_s": *[0-9.]*' "$out/observed.json" | head -n 1 | grep -o '[0-9.]*$' || true)
    fi
    wait_for_second "$((begin + lead + seconds + tail))"
}
wait_for_second() { while ((SECONDS < $1)); do sleep 0.05; done; }

# verdict TITLE: of the lines round,first,without,with.
verdict() {
    awk -F, -v title="$1" -v band="$band" '
    # Student: distribution for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4), and where it is p.
    function between(t, v,    x, c, s, sum, term, n) {
        x = atan2(t, sqrt(v)); c = cos(x); s = sin(x)
        if (v % 2) {
            sum = 0; term = c
            for (n = 1; n <= v - 2; n += 2) { sum += term; term *= c * c * (n + 1) / (n + 2) }
            return 2 / 3.14159265358979 * (x + s * sum)
        }
        sum = 0; term = 1
        for (n = 0; n <= v - 2; n += 2) { sum += term; term *= c * c * (n + 1) / (n + 2) }
        return s * sum
    }
    function student(p, v,    low, high, n) {
        low = 0; high = 1000
        for (n = 0; n < 80; n++) { if (between((low + high) / 2, v) < p) low = (low + high) / 2; else high = (low + high) / 2 }
        return (low + high) / 2
    }
    { n++; l = log($4 / $3); sum += l; squares += l * l }
    END {
        if (n < 2) { print title ": " n " round is too few for an interval"; exit }
        v = n - 1; mean = sum / n; s = (squares - n * mean * mean) / v
        error = sqrt((s > 0 ? s : 0) / n); wide = student(0.95, v) * error; narrow = student(0.90, v) * error
        is = exp(mean - narrow) > 1 - band / 100 && exp(mean + narrow) < 1 + band / 100
        printf "%s: with / without %.4f, 95 %% [%.4f, %.4f], 90 %% [%.4f, %.4f], %d rounds: %s\n", title, exp(mean), exp(mean - wide),
            exp(mean + wide), exp(mean - narrow), exp(mean + narrow), n,
            is ? "equivalent within ± " band " %" : "equivalence within ± " band " % is not shown"
    }' "$2"
}

for name in $only; do
    "${name}_begin"
    echo "# $title, rounds of 2 x $seconds s"
    echo "round,first,without_per_s,with_per_s,cost_pct_of_a_core,looks_per_s,load_average"
    # The first work warms the caches.
    block "$name" without
    for ((round = 1; round <= rounds; round++)); do
        first=with second=without
        ((RANDOM % 2)) || first=without second=with
        block "$name" "$first"
        first_rate=$rate
        block "$name" "$second"
        if [ "$first" = with ]; then rates=$rate,$first_rate; else rates=$first_rate,$rate; fi
        echo "$round,$first,$rates,$cost,$looks,$(cut -d' ' -f1 /proc/loadavg)" | tee -a "$out/$name.csv"
    done
    stop
    verdict "$title" "$out/$name.csv" | tee -a "$out/verdicts.txt"
done
