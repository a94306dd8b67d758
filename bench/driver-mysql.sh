#!/usr/bin/env bash
# dbdyno as a driver against sysbench: the prepared statement of oltp_point_select on the same local server of MariaDB or
# MySQL, the same clients. Blocks of 2 s in pairs, whose order is drawn; 95 % intervals of the ratios dbdyno/sysbench of
#   throughput               (meant: at least 1.0)
#   client CPU/transaction   (meant: at most 0.8, on MySQL 0.85), sysbench's from getrusage of its process without what its start
#                            takes, dbdyno's from the clocks of its driver's and its samplers' threads
# and the system calls of both for each transaction, counted once by strace.
# Usage: bench/driver-mysql.sh mariadb|mysql [PAIRS]     (default 20; ten minutes)
#   DBDYNO=PATH  the command (default bin/dbdyno)     AGAINST=PATH  another build of it in the place of sysbench
#       OUT=DIR  where everything goes (default: a new directory)
#   CLIENTS="1 8 32"     ONLY=strace leaves the pairs out
#   REALTIME=1   server and clients in the kernel's real-time class, see bench/driver/block.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kind=${1:-}
case $kind in
    mariadb) log=innodb_log_file_size ;;
    mysql) log=innodb_redo_log_capacity ;;
    *) echo "driver-mysql: name the server: bench/driver-mysql.sh mariadb|mysql [PAIRS]" >&2; exit 2 ;;
esac
pairs=${2:-20}
dbdyno=${DBDYNO:-bin/dbdyno}
clients=${CLIENTS:-1 8 32}
rows=1000000
against=${AGAINST:-}
out=${OUT:-$(mktemp -d "${TMPDIR:-/tmp}/dbdyno-driver.XXXXXX")}
mkdir -p "$out"
table=$out/pairs.csv
TIMEFORMAT='%U %S'
command -v sysbench >/dev/null || { echo "driver-mysql: sysbench is not there (on Debian: apt-get install sysbench)" >&2; exit 1; }
cargo build --release --locked --quiet -p stats --example pairs -p engines --example local_server
judge=${CARGO_TARGET_DIR:-target}/release/examples/pairs
# shellcheck source=bench/driver/block.sh
. bench/driver/block.sh

# The server is nobody's but ours, and does not wait for a disk: the driver is measured. It ends with its input.
settings="innodb_buffer_pool_size=512M&$log=1G&innodb_flush_log_at_trx_commit=0&performance_schema=OFF"
mkfifo "$out/input"
"${CARGO_TARGET_DIR:-target}/release/examples/local_server" "$kind" "?$settings" <"$out/input" >"$out/server.txt" 2>"$out/server.err" &
keeper=$!
exec 9>"$out/input"
# The directory stays where the user asked for one.
trap 'exec 9>&-; wait "$keeper" || true; [ -n "${OUT:-}" ] || rm -rf "$out"' EXIT
until [ -s "$out/server.txt" ]; do kill -0 "$keeper" 2>/dev/null || { cat "$out/server.err" >&2; exit 1; }; sleep 0.1; done
read -r server socket _ <"$out/server.txt"
mariadb --no-defaults -u root -S "$socket" -e 'CREATE DATABASE sbtest'
sb=(sysbench oltp_point_select --mysql-socket="$socket" --mysql-user=root --mysql-db=sbtest
    --table-size=$rows --rand-type=uniform --db-ps-mode=auto)
"${sb[@]}" prepare >"$out/prepare.txt"
mariadb --no-defaults -u root -S "$socket" -e 'ANALYZE TABLE sbtest.sbtest1' >"$out/analyze.txt"
url="mysql://root@localhost/dbdyno?socket=$socket&others=allow"
# Each build has a database of its own: what the one made, the other may refuse.
url_of_older="mysql://root@localhost/older?socket=$socket&others=allow"

[ "${REALTIME:-}" != 1 ] || real_time "$server"

# sysbench_cpu CLIENTS ARGUMENTS…: runs it; prints the seconds of CPU.
sysbench_cpu() {
    { time "${sb[@]}" --threads="$1" "${@:2}" run >"$out/sysbench.txt" 2>"$out/sysbench.err"; } 2>"$out/time.txt"
    awk '{ print $1 + $2 }' "$out/time.txt"
}
# sysbench_block CLIENTS: prints throughput and µs of CPU for each transaction.
sysbench_block() {
    local cpu; cpu=$(sysbench_cpu "$1" --time=2)
    sed -n 's/^ *transactions: *\([0-9]*\) *(\([0-9.]*\) per sec.*/\1 \2/p' "$out/sysbench.txt" |
        awk -v cpu="$cpu" -v start="${start[$1]}" '{ printf "%s %.4f\n", $2, (cpu - start) / $1 * 1e6 }'
}

if [ "${ONLY:-}" != strace ]; then
    declare -A start
    # What loading its Lua scripts and connecting takes, which is no transaction's: the median of five starts.
    [ -n "$against" ] || for c in $clients; do
        start[$c]=$(for _ in 1 2 3 4 5; do sysbench_cpu "$c" --events="$c"; done | sort -n | sed -n 3p)
    done
    for pair in $(seq "$pairs"); do
        for c in $clients; do
            pair_of_blocks "c=$c" point-select "$c" sysbench_block "$c" >>"$table"
        done
        echo "pair $pair of $pairs" >&2
    done
    echo "A ${against:-sysbench}, B $dbdyno; throughput in transactions/s, client CPU in µs/transaction"
    [ -n "$against" ] || for c in $clients; do echo "start of sysbench, c=$c: ${start[$c]} s of CPU, left out"; done
    "$judge" <"$table"
fi

# System calls for each transaction, those for talking and waiting; starting is in them and adds little.
if [ -z "$against" ] && command -v strace >/dev/null; then
    for c in $clients; do
        traced "${sb[@]}" --threads="$c" --time=0 --events=6400 run >"$out/sysbench.txt" 2>&1
        a=$(calls_for_each 6400)
        echo "c=$c system calls/transaction: sysbench $a, dbdyno $(dbdyno_calls point-select "$c")"
    done
fi
