#!/usr/bin/env bash
# What a fleet of 10,000 histograms (2,500 systems × before and after × reads and writes) takes to import, to draw and to export, in
# seconds and memory. The systems are made up; their writes become 1.6 times as fast.
#
#   bench/fleet.sh [SYSTEMS] [FILES]        2500 systems in 50 CSV files without arguments
#
# $DBDYNO is the command (bin/dbdyno). Everything is below a directory of its own, which goes with the script, unless
# $KEEP names another one to keep.
set -euo pipefail
cd "$(dirname "$0")/.."
dbdyno=${DBDYNO:-bin/dbdyno}
systems=${1:-2500} files=${2:-50}
if [[ -n ${KEEP:-} ]]; then
    folder=$KEEP
    mkdir -p "$folder/csv"
else
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    mkdir "$folder/csv"
fi

awk -v systems="$systems" -v files="$files" -v folder="$folder/csv" '
function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()) }
# Abramowitz & Stegun 26.2.17: error below 1e-7.
function cdf(x,    t, y) {
    if (x < 0) return 1 - cdf(-x)
    t = 1 / (1 + 0.2316419 * x)
    y = ((((1.330274429 * t - 1.821255978) * t + 1.781477937) * t - 0.356563782) * t + 0.319381530) * t
    return 1 - y * exp(-x * x / 2) / 2.506628275
}
BEGIN {
    srand(1)
    n = split("0 60 120 250 500 1000 2000 4000 8000 16000 32000 64000 128000 256000 512000 1000000", edge, " ")
    for (s = 1; s <= systems; s++) {
        out = sprintf("%s/part-%04d.csv", folder, s % files)
        if (!(out in begun)) {
            begun[out] = 1
            print "system,time,side,operation,read_pct,size_kib,iops,low_us,high_us,count" > out
        }
        level = log(320) + 1.1 * normal()
        reads = 10 + 80 * rand()
        iops = exp(7 + normal())
        for (side = 0; side < 2; side++) {
            time = side ? "2026-03-01T00:00:00Z" : "2026-02-01T00:00:00Z"
            pct = sprintf("%.1f", reads + 2 * (rand() - 0.5))
            rate = sprintf("%.0f", iops * exp(0.1 * normal()))
            for (op = 0; op < 2; op++) {
                at = level + (op ? 0 : 0.4) + 0.15 * normal() - (side && op ? 0.5 + 0.25 * normal() : 0)
                all = 1000000 * (op ? 100 - pct : pct) / 100
                below = 0
                for (b = 1; b <= n; b++) {
                    upto = b < n ? int(all * cdf((log(edge[b + 1]) - at) / 0.9)) : int(all)
                    printf "array-%05d,%s,%s,%s,%s,8,%s,%s,%s,%d\n", s, time, side ? "after" : "before", \
                        op ? "write" : "read", pct, rate, edge[b], b < n ? edge[b + 1] : "", upto - below > out
                    below = upto
                }
            }
        }
    }
}'
lines=$(cat "$folder"/csv/*.csv | wc -l)
printf '%s systems, %s histograms, %s lines of CSV in %s files\n\n' "$systems" "$((systems * 4))" "$lines" "$files"
printf '| %-8s | %7s | %11s | %13s |\n|---|---|---|---|\n' verb seconds 'MB resident' 'bytes written'
for verb in "import $folder/csv -o $folder/fleet.duckdb" "report $folder/fleet.duckdb -o $folder/page.html" \
    "export $folder/fleet.duckdb -o $folder/fleet.parquet"; do
    # shellcheck disable=SC2086 # a verb with its arguments
    /usr/bin/time -o "$folder/used" -f '%e %M' "$dbdyno" storage fleet $verb \
        >"$folder/said-${verb%% *}" 2>"$folder/errors" || { cat "$folder/errors" >&2; exit 1; }
    case $verb in
        import*) written=$folder/fleet.duckdb ;;
        report*) written=$folder/page.html ;;
        *) written=$folder/fleet.parquet ;;
    esac
    read -r seconds kilobytes <"$folder/used"
    printf '| %-8s | %7s | %11s | %13s |\n' "${verb%% *}" "$seconds" "$((kilobytes / 1000))" "$(stat -c %s "$written")"
done
printf '\n'
cat "$folder/said-report"
