#!/usr/bin/env bash
# Lifting the analytical database from PostgreSQL at a query level, beside its floor: COPY … TO STDOUT (FORMAT binary)
# of the same tables into /dev/null, by as many sessions over ranges of row addresses. Times until the last row is packed;
# comparing is not in it. Pairs whose order is drawn; 95 % interval of the ratio dbdyno/COPY of
#   rows per second    (meant: at least 0.8)
# Usage: bench/columnar.sh [PAIRS] [LEVEL]     (default 5, query-high; at scale 1 a quarter of an hour, 3 GB)
#   SCALE=1  STREAMS=2  DBDYNO=PATH (default bin/dbdyno)
#   LOCAL_SERVER=PATH  `cargo build --release -p engines --example local_server`     PSQL=PATH
set -euo pipefail
pairs=${1:-5}
level=${2:-query-high}
scale=${SCALE:-1}
streams=${STREAMS:-2}
engine=postgres
# shellcheck source=bench/oltp/common.sh
. "$(dirname "$0")/oltp/common.sh"
cargo build --release --locked --quiet -p stats --example pairs
judge=${CARGO_TARGET_DIR:-target}/release/examples/pairs
tables="customer lineitem nation orders part partsupp region supplier"
"$dbdyno" data load olap --target "$url" --scale "$scale" >&2
rows=0
declare -A blocks
for table in $tables; do
    rows=$((rows + $(ask "SELECT count(*) FROM dbdyno.$table")))
    blocks[$table]=$(ask "SELECT pg_relation_size('dbdyno.$table') / current_setting('block_size')::int")
done
copy_rows_per_s() {
    local begin table stream from to
    begin=$(date +%s%N)
    for table in $tables; do
        for stream in $(seq "$streams"); do
            from=$((blocks[$table] * (stream - 1) / streams))
            to=$((blocks[$table] * stream / streams))
            ask "COPY (SELECT * FROM dbdyno.$table WHERE ctid >= '($from,0)' AND ctid < '($to,0)') TO STDOUT (FORMAT binary)" >/dev/null &
        done
        wait
    done
    awk "BEGIN { printf \"%.1f\", $rows / (($(date +%s%N) - $begin) / 1e9) }"
}
lift_rows_per_s() {
    "$dbdyno" data load columnar --target "$url" --tables "${tables// /,}" --levels "$level" --clients "$streams" --format json >"$work/lift.json"
    awk -F: -v rows="$rows" '/^  "populate_s"/ { gsub(/[ ,]/, "", $2); printf "%.1f", rows / $2 }' "$work/lift.json"
    awk -F: '/^  "memory_bytes/ { printf "%s%s", $1, $2 } END { print "" }' "$work/lift.json" >&2
}
for pair in $(seq "$pairs"); do
    if ((RANDOM % 2)); then a=$(copy_rows_per_s) b=$(lift_rows_per_s); else b=$(lift_rows_per_s) a=$(copy_rows_per_s); fi
    echo "rows/s,$a,$b" >>"$work/pairs.csv"
    echo "pair $pair of $pairs: COPY $a, dbdyno $b" >&2
done
echo "$rows rows by $streams streams, level $level; A COPY, B dbdyno"
"$judge" <"$work/pairs.csv"
