#!/usr/bin/env bash
# What the loader of the order-entry database costs beside the server's own bulk load of the same bytes from ready
# files, which is the floor: pairs in turn on one server, with one and with two jobs. Then, where it is at hand,
# the whole load beside HammerDB's, and which of the twelve conditions each of the two databases keeps.
#
#   bench/oltp-load.sh postgres|mysql [PAIRS] [WAREHOUSES]
#
# JOBS are the numbers of jobs (default "1 2"). DBDYNO and LOCAL_SERVER name the programs (the second:
# `cargo build --release -p engines --example local_server`). Everything is below a directory of its own, which
# goes with the script.
#
# HAMMERDB names a directory with the files of HammerDB 4 (github.com/TPC-Council/HammerDB, e.g. the tag v4.12;
# nothing of it is part of dbdyno, and nothing need be compiled), which runs with Debian's packages tcl,
# tcl-thread, libsqlite3-tcl, mysqltcl and libpgtcl. Its virtual user alone is compared with one job, because several of
# its users poll each other every 5 and 10 s. HAMMERDB_PAIRS: how often (default 3).
set -euo pipefail
engine=${1:?name an engine: postgres or mysql} pairs=${2:-5} warehouses=${3:-2}
# shellcheck source=bench/oltp/common.sh
. "$(dirname "$0")/oltp/common.sh"
tables="warehouse district customer history orders new_order stock order_line"

# The ready files, and the statements that load them, from a load of its own.
load >/dev/null
for table in $tables; do
    case $table in
        warehouse) column=w_id ;;
        district) column=d_w_id ;;
        customer) column=c_w_id ;;
        history) column=h_w_id ;;
        orders) column=o_w_id ;;
        new_order) column=no_w_id ;;
        stock) column=s_w_id ;;
        order_line) column=ol_w_id ;;
    esac
    for w in $(seq "$warehouses"); do
        ready_file "$table" "$column" "$w" "$work/$table.$w" >>"$work/load.$w"
    done
done
bytes=$(find "$work" -name '*.[0-9]*' ! -name 'load.*' -printf '%s\n' | awk '{ s += $1 } END { print s }')

# Seconds of the server's own bulk load, each job with every so-many-th warehouse.
floor_s() {
    floor_begin
    checkpoint
    local begin end job w running=()
    begin=$(date +%s%N)
    for job in $(seq "$1"); do
        (for w in $(seq "$job" "$1" "$warehouses"); do cat "$work/load.$w"; done | ask_floor) &
        running+=($!)
    done
    wait "${running[@]}"
    end=$(date +%s%N)
    floor_end
    seconds "$begin" "$end"
}
# Seconds that the loader says its rows took.
loader_s() {
    checkpoint
    load --replace --clients "$1" | sed -E 's/.* rows in ([0-9.]+) s,.*/\1/'
}
# Pairs "a b" on standard input, in turn the one and the other first: prints the median of a / b.
median_ratio() { awk '{ print $1 / $2 }' | sort -n | awk '{ r[NR] = $1 } END { printf "%.3f", r[int((NR + 1) / 2)] }'; }

echo "jobs,pair,floor_s,loader_s,floor/loader   ($engine, $warehouses warehouses, $bytes bytes of files)"
for jobs in ${JOBS:-1 2}; do
    for pair in $(seq "$pairs"); do
        if ((pair % 2)); then
            floor=$(floor_s "$jobs") loader=$(loader_s "$jobs")
        else
            loader=$(loader_s "$jobs") floor=$(floor_s "$jobs")
        fi
        echo "$floor $loader" >>"$work/of-$jobs"
        awk "BEGIN { printf \"%d,%d,%.3f,%.3f,%.3f\\n\", $jobs, $pair, $floor, $loader, $floor / $loader }"
    done
    echo "jobs $jobs: median of floor/loader $(median_ratio <"$work/of-$jobs")"
done

[ -n "${HAMMERDB:-}" ] || exit 0
# Seconds from nothing to a whole database with its indexes and statistics.
whole_s() {
    "$dbdyno" data drop oltp --target "$url" >/dev/null
    checkpoint
    local begin
    begin=$(date +%s%N)
    load --clients 1 >/dev/null
    seconds "$begin" "$(date +%s%N)"
}
hammerdb_s() {
    hammerdb_gone
    checkpoint
    local begin
    begin=$(date +%s%N)
    (hammerdb build)
    seconds "$begin" "$(date +%s%N)"
    grep -q "FINISHED SUCCESS" "$work/hammerdb.log" || {
        grep -i error "$work/hammerdb.log" >&2
        return 1
    }
}
hammerdb_ready
echo "pair,hammerdb_s,dbdyno_s,hammerdb/dbdyno   (one job each, the whole load)"
for pair in $(seq "${HAMMERDB_PAIRS:-3}"); do
    if ((pair % 2)); then
        theirs=$(hammerdb_s) ours=$(whole_s)
    else
        ours=$(whole_s) theirs=$(hammerdb_s)
    fi
    echo "$theirs $ours" >>"$work/of-hammerdb"
    awk "BEGIN { printf \"%d,%.3f,%.3f,%.3f\\n\", $pair, $theirs, $ours, $theirs / $ours }"
done
echo "median of hammerdb/dbdyno $(median_ratio <"$work/of-hammerdb")"
echo "conditions that dbdyno's database breaks:$(places ask)"
echo "conditions that HammerDB's database breaks:$(places hammerdb_ask)"
