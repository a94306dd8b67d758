#!/usr/bin/env bash
# The order-entry workload against other drivers of it: the same server, warehouses and users, no pauses.
#   dbdyno's client statements    beside sysbench-tpcc, which sends statements too
#   dbdyno's stored procedures    beside HammerDB, which calls its own
# Each driver works on a database of its own, made by its own loader. Blocks in pairs, whose order is drawn; of all
# drivers alike the middle of a block is looked at from outside: new orders are what the districts' counters grew by,
# CPU is what the kernel charged to the driver's process. 95 % intervals of the ratios dbdyno/other of
#   new orders per minute    (meant: at least 1.0)
#   client CPU/new order     (meant: at most 0.5)
# and which of the conditions each database breaks afterwards (11 is true only right after a load).
#
#   bench/oltp.sh postgres|mysql [PAIRS] [WAREHOUSES]      (default 10 and 4; a quarter of an hour)
#   USERS=8     SECONDS_EACH=10     DBDYNO, LOCAL_SERVER, HAMMERDB: as bench/oltp-load.sh
#   SYSBENCH_TPCC=DIR  the files of sysbench-tpcc (github.com/Percona-Lab/sysbench-tpcc); sysbench is Debian's
# A driver whose directory is not named is left out, and the script says so.
set -euo pipefail
engine=${1:?name an engine: postgres or mysql} pairs=${2:-10} warehouses=${3:-4}
users=${USERS:-8} seconds_each=${SECONDS_EACH:-10}
# shellcheck source=bench/oltp/common.sh
. "$(dirname "$0")/oltp/common.sh"
cargo build --release --locked --quiet -p stats --example pairs
judge=${CARGO_TARGET_DIR:-target}/release/examples/pairs

# What starts a driver; it replaces the shell that calls it.
start_client() { dbdyno_at_work client; }
start_procedure() { dbdyno_at_work procedure; }
dbdyno_at_work() {
    exec "$dbdyno" --archive "$work/run.dbdyno" run oltp --target "$url${url_others}" --yes --clients "$users" --set statements="$1" \
        --time 3600 --ramp-up 1 --set warm_up_max_seconds="${WARM_UP_MAX:-0}" --set check=none >"$work/driver.log" 2>&1
}
start_sysbench() {
    cd "$SYSBENCH_TPCC"
    exec sysbench tpcc.lua "${sysbench_options[@]}" --threads="$users" --time=0 --scale="$warehouses" run \
        >"$work/driver.log" 2>&1
}
start_hammerdb() { USERS=$users hammerdb run; }

# Orders that a driver's database has taken.
orders_client() { ask "SELECT sum(d_next_o_id) FROM district"; }
orders_procedure() { orders_client; }
orders_sysbench() { sysbench_ask "SELECT sum(d_next_o_id) FROM district"; }
orders_hammerdb() { hammerdb_ask "SELECT sum(d_next_o_id) FROM district"; }

# Clock in s, CPU of a process in s, orders.
look() { echo "$(date +%s.%N) $(awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' "/proc/$2/stat") $("orders_$1")"; }
# block DRIVER: prints new orders per minute and µs of CPU for each.
block() {
    rm -f "$work"/run.dbdyno*
    checkpoint
    local before after driver orders waited=0
    orders=$("orders_$1")
    ("start_$1") &
    driver=$!
    # At work is who has taken an order; how long a start takes is not measured.
    until [ "$("orders_$1")" -gt "$orders" ]; do
        kill -0 "$driver" 2>/dev/null && ((waited++ < 300)) || { tail -n 20 "$work"/driver.log "$work"/hammerdb.log >&2; exit 1; }
        sleep 0.1
    done
    sleep 3
    before=$(look "$1" "$driver")
    sleep "$seconds_each"
    after=$(look "$1" "$driver")
    kill -INT "$driver"
    sleep 1
    kill -KILL "$driver" 2>/dev/null || true
    wait "$driver" 2>/dev/null || true
    echo "$before $after" | awk '{ n = $6 - $3; printf "%.1f %.2f\n", n / ($4 - $1) * 60, ($5 - $2) / n * 1e6 }'
}
compare() {
    local pair a b
    for pair in $(seq "$pairs"); do
        if ((RANDOM % 2)); then a=$(block "$2") b=$(block "$1"); else b=$(block "$1") a=$(block "$2"); fi
        printf '%s new orders/min,%s,%s\n%s CPU,%s,%s\n' "$2" "${a% *}" "${b% *}" "$2" "${a#* }" "${b#* }" >>"$work/pairs.csv"
        echo "$1 beside $2, pair $pair of $pairs: $b beside $a" >&2
    done
}

load >/dev/null
compared=
if [ -n "${SYSBENCH_TPCC:-}" ]; then
    sysbench_ready
    (cd "$SYSBENCH_TPCC" && sysbench tpcc.lua "${sysbench_options[@]}" --threads=2 --scale="$warehouses" prepare) >"$work/prepare.log" 2>&1
    sysbench_done
    echo "conditions that sysbench-tpcc's fresh database breaks:$(places sysbench_ask)"
    compare client sysbench
    compared+=" sysbench"
fi
if [ -n "${HAMMERDB:-}" ]; then
    hammerdb_ready
    (hammerdb build)
    echo "conditions that HammerDB's fresh database breaks:$(places hammerdb_ask)"
    compare procedure hammerdb
    compared+=" hammerdb"
fi
[ -n "$compared" ] || { echo "oltp: name HAMMERDB or SYSBENCH_TPCC, the directory of a driver to compare with" >&2; exit 2; }
echo "$engine, $warehouses warehouses, $users users, blocks of $seconds_each s; A the other, B dbdyno; CPU in µs for each new order"
"$judge" <"$work/pairs.csv"
echo "conditions that dbdyno's database breaks:$(places ask "1 2 3 4 5 6 7 8 9 10 12")"
for driver in $compared; do
    echo "conditions that $driver's database breaks:$(places "${driver}_ask" "1 2 3 4 5 6 7 8 9 10 12")"
done
[[ $compared == *sysbench* ]] || echo "not compared with sysbench-tpcc: SYSBENCH_TPCC is not named"
[[ $compared == *hammerdb* ]] || echo "not compared with HammerDB: HAMMERDB is not named"
