#!/usr/bin/env bash
# What the loader of the order-entry database costs beside the server's own binary COPY of the same bytes from
# ready files: pairs in turn on one server, with one and with two jobs.
#
#   bench/oltp-load.sh [PAIRS] [WAREHOUSES]
#
# JOBS are the numbers of jobs (default "1 2"). DBDYNO and LOCAL_SERVER name the programs (the second:
# `cargo build --release -p target --example local_server`), PSQL a psql. Everything is below a directory of
# its own, which goes with the script.
set -euo pipefail
pairs=${1:-5} warehouses=${2:-2}
dbdyno=${DBDYNO:-bin/dbdyno}
local_server=${LOCAL_SERVER:?name the example local_server, built}
psql=${PSQL:-psql}
tables="warehouse district customer history orders new_order stock order_line"

work=$(mktemp -d)
mkfifo "$work/hold"
"$local_server" postgres '?version=15&max_wal_size=8GB&shared_buffers=512MB' <"$work/hold" >"$work/server" &
server=$!
exec 3>"$work/hold"
trap 'exec 3>&-; wait "$server" || true; rm -rf "$work"' EXIT
until [ -s "$work/server" ]; do
    kill -0 "$server" || exit 1
    sleep 0.1
done
read -r _ socket _ <"$work/server"
directory=$(dirname "$socket")
url="postgres://dbdyno@${directory//\//%2F}/postgres"
ask() { "$psql" -qAtX -h "$directory" -U dbdyno -d postgres -v ON_ERROR_STOP=1 "$@"; }
load() { "$dbdyno" oltp load --target "$url" --warehouses "$warehouses" "$@" 2>/dev/null; }

# The ready files, and the statements of the tables, from a load of their own.
load >/dev/null
for table in $tables; do
    prefix=$(ask -c "SELECT regexp_replace(attname, 'w_id$', '') FROM pg_attribute
        WHERE attrelid = 'dbdyno.$table'::regclass AND attname ~ '^[a-z]*_?w_id$' AND attname !~ 'supply'
        ORDER BY attname LIMIT 1")
    for w in $(seq "$warehouses"); do
        ask -c "\\copy (SELECT * FROM dbdyno.$table WHERE ${prefix}w_id = $w) TO '$work/$table.$w' (FORMAT binary)"
        echo "\\copy floor.$table FROM '$work/$table.$w' (FORMAT binary)" >>"$work/load.$w"
    done
done
bytes=$(du -cb "$work"/*.[0-9]* | tail -n 1 | cut -f 1)

# Seconds of COPY from the ready files, each job with every so-many-th warehouse.
floor_s() {
    ask -c "DROP SCHEMA IF EXISTS floor CASCADE" -c "CREATE SCHEMA floor" 2>/dev/null
    for table in $tables; do ask -c "CREATE TABLE floor.$table (LIKE dbdyno.$table)"; done
    ask -c CHECKPOINT
    local begin end job w
    begin=$(date +%s%N)
    local running=()
    for job in $(seq "$1"); do
        (for w in $(seq "$job" "$1" "$warehouses"); do cat "$work/load.$w"; done | ask -f -) &
        running+=($!)
    done
    wait "${running[@]}"
    end=$(date +%s%N)
    ask -c "DROP SCHEMA floor CASCADE" 2>/dev/null
    awk "BEGIN { print ($end - $begin) / 1e9 }"
}
# Seconds that the loader says its rows took.
loader_s() {
    ask -c CHECKPOINT
    load --replace --jobs "$1" | sed -E 's/.* rows in ([0-9.]+) s,.*/\1/'
}

echo "jobs,pair,floor_s,loader_s,ratio   ($warehouses warehouses, $bytes bytes of COPY)"
for jobs in ${JOBS:-1 2}; do
    for pair in $(seq "$pairs"); do
        if ((pair % 2)); then
            floor=$(floor_s "$jobs") loader=$(loader_s "$jobs")
        else
            loader=$(loader_s "$jobs") floor=$(floor_s "$jobs")
        fi
        awk "BEGIN { printf \"%d,%d,%.3f,%.3f,%.3f\\n\", $jobs, $pair, $floor, $loader, $floor / $loader }"
    done | tee "$work/of-$jobs"
    sort -t, -k5 -n "$work/of-$jobs" | awk -F, -v jobs="$jobs" \
        '{ r[NR] = $5 } END { printf "jobs %d: median ratio floor/loader %.3f\n", jobs, r[int((NR + 1) / 2)] }'
done
