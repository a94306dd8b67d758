#!/usr/bin/env bash
# The bulk load of the library (T331, one job) on PostgreSQL beside its floor: psql's \copy of as many rows of the same
# table from a ready file in the binary format. Both begin with an empty table and end when a checkpoint has brought
# the rows to the data files. Pairs whose order is drawn; 95 % interval of the ratio dbdyno/\copy of
#   rows per second    (meant: at least 0.9)
# Usage: bench/bulk-load.sh [PAIRS]     (default 20; five minutes, 3 GB)
#   DBDYNO=PATH  the command (default bin/dbdyno)
#   LOCAL_SERVER=PATH  `cargo build --release -p engines --example local_server`     PSQL=PATH
set -euo pipefail
pairs=${1:-20}
engine=postgres
# shellcheck source=bench/oltp/common.sh
. "$(dirname "$0")/oltp/common.sh"
cargo build --release --locked --quiet -p stats --example pairs
judge=${CARGO_TARGET_DIR:-target}/release/examples/pairs
cat >"$work/load.toml" <<'TOML'
name = "bulk-load"
[[step]]
use = "library"
tests = ["T331"]
jobs = [1]
size = "small"
TOML
cat >"$work/rows.toml" <<'TOML'
name = "rows"
[[step]]
use = "library"
tests = ["T421"]
jobs = [1]
TOML
# Prints the column of the first point.
figure() {
    "$dbdyno" --archive "$work/run.dbdyno" report last --format csv |
        awk -F, -v want="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at[want] }'
}
run() {
    rm -f "$work"/run.dbdyno*
    local status=0
    "$dbdyno" --archive "$work/run.dbdyno" run "$1" --target "$url" --yes >"$work/run.txt" 2>&1 || status=$?
    case $status in 0 | 3) ;; *) cat "$work/run.txt" >&2; exit "$status" ;; esac
}
dbdyno_rows_per_s() { run "$work/load.toml"; figure rows_per_s; }
copy_rows_per_s() {
    ask "DROP TABLE IF EXISTS floor" -c "CREATE TABLE floor (LIKE dbdyno_small)" -c CHECKPOINT 2>/dev/null
    local begin
    begin=$(date +%s%N)
    ask "\\copy floor FROM '$work/rows' (FORMAT binary)" -c CHECKPOINT
    awk "BEGIN { printf \"%.1f\", $rows / (($(date +%s%N) - $begin) / 1e9) }"
    ask "DROP TABLE floor"
}

# As many rows as the test loads, from a table of the same columns and values.
run "$work/rows.toml"
dbdyno_rows_per_s >/dev/null
rows=$(figure rows)
rows=${rows%.*}
have=$(ask "SELECT count(*) FROM dbdyno_small")
ask "\\copy (SELECT s.* FROM dbdyno_small s, generate_series(1, $((rows / have)))) TO '$work/rows' (FORMAT binary)"
[ "$((rows % have))" = 0 ] || { echo "bulk-load: $rows rows are no multiple of $have" >&2; exit 1; }
for pair in $(seq "$pairs"); do
    if ((RANDOM % 2)); then a=$(copy_rows_per_s) b=$(dbdyno_rows_per_s); else b=$(dbdyno_rows_per_s) a=$(copy_rows_per_s); fi
    echo "rows/s,$a,$b" >>"$work/pairs.csv"
    echo "pair $pair of $pairs: \\copy $a, dbdyno $b" >&2
done
echo "$rows rows; A \\copy, B dbdyno"
"$judge" <"$work/pairs.csv"
