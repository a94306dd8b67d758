#!/usr/bin/env bash
# dbdyno as a driver against pgbench: the same prepared statements on the same local server, the same clients.
# Blocks of 2 s in pairs, whose order is drawn; 95 % intervals of the ratios dbdyno/pgbench of
#   throughput               (meant: at least 1.0)
#   client CPU/transaction   (meant: at most 0.8), pgbench's from getrusage of its process without what starting and
#                            connecting take, dbdyno's from the clocks of its driver's and its samplers' threads
# and the system calls of both for each transaction, counted once by strace.
# Usage: bench/driver.sh [PAIRS]     (default 20; a quarter of an hour)
#   DBDYNO=PATH  the command (default bin/dbdyno)     AGAINST=PATH  another build of it in the place of pgbench
#       OUT=DIR  where everything goes (default: a new directory)
#   CLIENTS="1 8 32"     SCRIPTS="select-only simple-update"     ONLY=strace leaves the pairs out
#   TLS=1        both over 127.0.0.1 with TLS (sslmode=require) instead of the Unix socket; meant: CPU at most 1.0
#   REALTIME=1   server and clients in the kernel's real-time class, see bench/driver/block.sh
# simple-update-joined is simple-update with BEGIN and COMMIT beside their neighbours: fewer round trips than pgbench.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pairs=${1:-20}
dbdyno=${DBDYNO:-bin/dbdyno}
clients=${CLIENTS:-1 8 32}
scripts=${SCRIPTS:-select-only simple-update}
against=${AGAINST:-}
out=${OUT:-$(mktemp -d "${TMPDIR:-/tmp}/dbdyno-driver.XXXXXX")}
mkdir -p "$out"
table=$out/pairs.csv
port=54329
TIMEFORMAT='%U %S'
cargo build --release --locked --quiet -p stats --example pairs
judge=${CARGO_TARGET_DIR:-target}/release/examples/pairs
# shellcheck source=bench/driver/block.sh
. bench/driver/block.sh

# The server is nobody's but ours, and does not wait for a disk: the driver is measured.
bin=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1)")
user=$(id -un)
as=()
if [ "$(id -u)" = 0 ]; then user=postgres; as=(setpriv --reuid=postgres --regid=postgres --clear-groups); fi
server=$out/server
mkdir -p "$server"
[ "$(id -u)" != 0 ] || { chown postgres "$server"; chmod 711 "$out"; }
"${as[@]}" "$bin/initdb" -D "$server/data" -U postgres -A trust --no-sync >"$out/initdb.txt"
with_tls=()
if [ "${TLS:-}" = 1 ]; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
        -keyout "$server/data/server.key" -out "$server/data/server.crt" 2>"$out/openssl.txt"
    chmod 600 "$server/data/server.key"
    [ "$(id -u)" != 0 ] || chown postgres "$server/data/server.key" "$server/data/server.crt"
    with_tls=(-c listen_addresses=127.0.0.1 -c ssl=on)
fi
"${as[@]}" "$bin/postgres" -D "$server/data" -k "$server" -p "$port" -c listen_addresses= -c shared_buffers=512MB \
    -c synchronous_commit=off -c autovacuum=off -c max_wal_size=4GB "${with_tls[@]}" >"$out/server.txt" 2>&1 &
postmaster=$!
# A fast shutdown by the postmaster's own pid; the directory stays where the user asked for one.
trap 'kill -INT "$postmaster" 2>/dev/null || true; wait "$postmaster" || true; [ -n "${OUT:-}" ] || rm -rf "$out"' EXIT
for _ in $(seq 100); do "$bin/pg_isready" -q -h "$server" -p "$port" && break; sleep 0.1; done
pg=(-h "$server" -p "$port" -U postgres postgres)
socket=${server//\//%2F}
url="postgres://postgres@$socket:$port/postgres?others=allow"
if [ "${TLS:-}" = 1 ]; then
    export PGSSLMODE=require PGGSSENCMODE=disable
    pg=(-h 127.0.0.1 -p "$port" -U postgres postgres)
    url="postgres://postgres@127.0.0.1:$port/postgres?others=allow&sslmode=require"
fi
"$bin/pgbench" -i -q -s 10 "${pg[@]}" >"$out/init.txt" 2>&1
# The server's processes to come inherit it.
[ "${REALTIME:-}" != 1 ] || real_time "$postmaster"

# pgbench_run SCRIPT CLIENTS ARGUMENTS…: the seconds of CPU, in user and system mode, go to time.txt.
pgbench_run() {
    local kind=-S; [ "$1" = select-only ] || kind=-N
    { time "$bin/pgbench" -n "$kind" -M prepared -j 1 -c "$2" "${@:3}" "${pg[@]}" >"$out/pgbench.txt" 2>"$out/pgbench.err"; } 2>"$out/time.txt"
}

# pgbench_block SCRIPT CLIENTS ARGUMENTS…: prints throughput and µs of CPU for each transaction.
pgbench_block() {
    pgbench_run "$@"
    local n; n=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$out/pgbench.txt")
    awk -v n="$n" -v start="${start[$1 $2]}" -v tps="$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$out/pgbench.txt")" \
        '{ printf "%s %.4f\n", tps, ($1 + $2 - start) / n * 1e6 }' "$out/time.txt"
}

if [ "${ONLY:-}" != strace ]; then
    declare -A start
    # What is no transaction's: the median of five runs of one transaction a client.
    for script in $scripts; do
        for c in $clients; do
            start[$script $c]=$(for _ in 1 2 3 4 5; do
                pgbench_run "$script" "$c" -t 1
                awk '{ print $1 + $2 }' "$out/time.txt"
            done | sort -n | sed -n 3p)
        done
    done
    for pair in $(seq "$pairs"); do
        for script in $scripts; do
            for c in $clients; do
                pair_of_blocks "$script c=$c" "$script" "$c" pgbench_block "$script" "$c" -T 2 >>"$table"
            done
        done
        echo "pair $pair of $pairs" >&2
    done
    echo "A ${against:-pgbench}, B $dbdyno; throughput in transactions/s, client CPU in µs/transaction"
    "$judge" <"$table"
    for script in $scripts; do
        for c in $clients; do
            [ -n "$against" ] || echo "start of pgbench, $script c=$c: ${start[$script $c]} s of CPU, left out"
        done
    done
fi

# System calls for each transaction, those for talking and waiting; starting is in them and adds little.
if [ -z "$against" ] && command -v strace >/dev/null; then
    for script in $scripts; do
        for c in $clients; do
            kind=-S; [ "$script" = select-only ] || kind=-N
            traced "$bin/pgbench" -n "$kind" -M prepared -j 1 -c "$c" -t $((6400 / c)) "${pg[@]}" >"$out/pgbench.txt" 2>&1
            a=$(calls_for_each 6400)
            echo "$script c=$c system calls/transaction: pgbench $a, dbdyno $(dbdyno_calls "$script" "$c")"
        done
    done
fi
