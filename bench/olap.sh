#!/usr/bin/env bash
# The analytical workload beside what its users would take otherwise, in pairs whose order is drawn:
#   load-postgres     generating and loading all rows, beside psql's COPY of ready text files with as many sessions
#                     (meant: rows per second at least 0.9), and beside making the files first (at least 1.5)
#   load-duckdb       the same with the checkpoint, beside DuckDB reading ready Parquet (at least 1/1.3 = 0.77)
#   queries-postgres  the 22 queries, beside psql in one session (time at most 1.03)
#   queries-duckdb    the same beside DuckDB's Python package, which is the same library (time at most 1.03)
# Keys, statistics and counts are left out of the loads: both sides would do the same. 95 % intervals of dbdyno/other.
#
#   bench/olap.sh CASE [PAIRS] [SCALE]      (default 7 pairs, scale 1; some minutes and 5 GB each)
#   DBDYNO=PATH        the command (default bin/dbdyno)
#   OLAP_FILES=PATH    `cargo build --release -p olap --example olap_files`
#   LOCAL_SERVER=PATH  `cargo build --release -p engines --example local_server`, for PostgreSQL     PSQL=PATH
#   PYTHON=PATH        an interpreter that has the package duckdb (PyPI), for DuckDB
set -euo pipefail
case=${1:?name a case: load-postgres, load-duckdb, queries-postgres or queries-duckdb} pairs=${2:-7} scale=${3:-1}
olap_files=${OLAP_FILES:?name the example olap_files, built}
source_directory=$(cd "$(dirname "$0")" && pwd)
cargo build --release --locked --quiet -p stats --example pairs
judge=${CARGO_TARGET_DIR:-target}/release/examples/pairs
tables='region nation supplier part partsupp customer orders lineitem'

case $case in
*-postgres)
    engine=postgres
    # shellcheck source=bench/oltp/common.sh
    . "$source_directory/oltp/common.sh"
    target=$url$url_others
    # A session of psql as dbdyno's are: no workers.
    session='SET search_path = dbdyno; SET max_parallel_workers_per_gather = 0;'
    ;;
*-duckdb)
    engine=duckdb dbdyno=${DBDYNO:-bin/dbdyno} python=${PYTHON:-python3}
    work=$(mktemp -d /var/tmp/olap.XXXXXX)
    trap 'rm -rf "$work"' EXIT
    target=duckdb:$work/dbdyno.duckdb
    ;;
*) echo "olap: there is no case $case" >&2; exit 2 ;;
esac

now() { date +%s.%N; }
since() { awk "BEGIN { printf \"%.3f\", $(now) - $1 }"; }
olap_load() { "$dbdyno" data load olap --target "$target" --scale "$scale" --replace 2>/dev/null >"$work/load.txt"; }

# Seconds of dbdyno's load: rows, and with the word checkpoint that as well.
dbdyno_load() {
    olap_load
    awk -v with="${1:-none}" '/ rows in / { for (i = 1; i < NF; i++) if ($i == "in") { s += $(i + 1); break } }
        $3 == with { s += $1 } END { printf "%.3f", s }' "$work/load.txt"
}
# The generator makes one part of each table, as the usual programs do.
files() { rm -f "$work"/*.tbl; "$olap_files" tables "$work" "$scale"; }

copy() { psql -d postgres -c "$session" -c "\\copy floor.$1 FROM '$work/$1.tbl' (DELIMITER '|')"; }
# Two sessions, as dbdyno takes for two processors: one for the largest table.
copy_all() {
    psql -d postgres -c 'DROP SCHEMA IF EXISTS floor CASCADE' -c 'CREATE SCHEMA floor' 2>/dev/null
    for table in $tables; do psql -d postgres -c "CREATE TABLE floor.$table (LIKE dbdyno.$table)"; done
    local begin
    begin=$(now)
    copy lineitem &
    for table in orders partsupp customer part supplier nation region; do copy "$table"; done
    wait $!
    since "$begin"
    psql -d postgres -c 'DROP SCHEMA floor CASCADE' 2>/dev/null
}
files_then_copy() {
    local begin made copied
    begin=$(now)
    files
    made=$(since "$begin")
    copied=$(copy_all)
    awk "BEGIN { printf \"%.3f\", $made + $copied }"
}

# Seconds of all 22 queries in dbdyno's session, each asked once before.
dbdyno_queries() {
    rm -f "$work"/run.dbdyno*
    "$dbdyno" --archive "$work/run.dbdyno" run olap --target "$target" --yes >"$work/run.txt" 2>&1 || [ $? = 3 ]
    "$dbdyno" --archive "$work/run.dbdyno" report last --format csv |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
            $at["test"] ~ /^Q/ { s += $at["elapsed_s"]; n++ } END { if (n != 22) exit 1; printf "%.4f", s }'
}
# The same by the server's own client; \timing tells what each took with the rows read.
psql_queries() {
    { echo "$session"; echo '\timing on'; while read -r sql; do printf '%s\n%s\n' "$sql" "$sql"; done <"$work/queries.sql"; } |
        psql -d postgres -f - -o /dev/null | awk '/^Time:/ && ++n % 2 == 0 { s += $2 } END { if (n != 44) exit 1; printf "%.4f", s / 1e3 }'
}
in_duckdb() {
    "$python" - "$1" "$work" <<'PYTHON'
import sys, time, duckdb
what, work = sys.argv[1:]
tables = "region nation supplier part partsupp customer orders lineitem".split()
if what == "parquet":
    db = duckdb.connect(f"{work}/dbdyno.duckdb", read_only=True)
    for table in tables:
        db.execute(f"COPY {table} TO '{work}/{table}.parquet' (FORMAT parquet)")
elif what == "load":
    db = duckdb.connect(f"{work}/floor.duckdb")
    begin = time.monotonic()
    for table in tables:
        db.execute(f"CREATE TABLE {table} AS SELECT * FROM '{work}/{table}.parquet'")
    db.execute("CHECKPOINT")
    print(f"{time.monotonic() - begin:.3f}", end="")
else:
    db = duckdb.connect(f"{work}/dbdyno.duckdb")
    took = 0.0
    for sql in open(f"{work}/queries.sql"):
        db.execute(sql).fetchall()
        begin = time.monotonic()
        db.execute(sql).fetchall()
        took += time.monotonic() - begin
    print(f"{took:.4f}", end="")
PYTHON
}
parquet_load() { rm -f "$work"/floor.duckdb*; in_duckdb load; }

# compare NAME OTHER OURS [INVERSE]: pairs; with `rate` the inverse of the times.
compare() {
    local pair a b
    for pair in $(seq "$pairs"); do
        if ((RANDOM % 2)); then a=$($2) b=$($3); else b=$($3) a=$($2); fi
        case ${4:-time} in
        rate) awk "BEGIN { printf \"%s,%.9f,%.9f\n\", \"$1\", 1 / $a, 1 / $b }" ;;
        *) echo "$1,$a,$b" ;;
        esac >>"$work/pairs.csv"
        echo "$1, pair $pair of $pairs: $2 $a s, dbdyno $b s" >&2
    done
}

olap_load
case $case in
load-postgres)
    files
    compare "rows/s beside COPY" copy_all dbdyno_load rate
    compare "rows/s beside files, then COPY" files_then_copy dbdyno_load rate
    ;;
load-duckdb)
    in_duckdb parquet
    with_checkpoint() { dbdyno_load checkpoint; }
    compare "rows/s beside Parquet" parquet_load with_checkpoint rate
    ;;
queries-*)
    "$olap_files" queries "$engine" "$scale" >"$work/queries.sql"
    other=psql_queries
    [ "$engine" = postgres ] || { other=python_queries; python_queries() { in_duckdb queries; }; }
    compare "time of 22 queries" "$other" dbdyno_queries
    ;;
esac
echo "$case, scale $scale; A the other, B dbdyno"
"$judge" <"$work/pairs.csv"
