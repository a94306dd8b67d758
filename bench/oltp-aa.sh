#!/usr/bin/env bash
# The order-entry workload against itself: two runs of the same plan on the same server, again and again. The 95 %
# interval of the ratio of new orders by the minute has to hold 1 in at least nine of ten trials.
# Each run is REPEAT repetitions, each from the same start: the copy of the freshly loaded database is put back.
# Usage: bench/oltp-aa.sh [TRIALS]     (default 10; some ten minutes)
#   DBDYNO=PATH  the command (default bin/dbdyno)     OUT=DIR   where everything goes (default: a new directory)
#   ENGINE=mysql  (default postgres)                  MODE=procedure  (default client)
#   USERS=4  SECONDS_EACH=3  REPEAT=5  WAREHOUSES=1  CHECK=light
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

trials=${1:-10}
dbdyno=${DBDYNO:-bin/dbdyno}
engine=${ENGINE:-postgres}
out=${OUT:-$(mktemp -d "${TMPDIR:-/tmp}/dbdyno-oltp-aa.XXXXXX")}
mkdir -p "$out"
chmod 711 "$out"
table=$out/trials.csv
target="$engine+local:$out/data"
echo "trial,verdict,ratio,ratio_low,ratio_high" >"$table"

# One run; status 3 is a gate, which a busy machine may fail: the driver began late, say.
run() {
    local status=0
    "$dbdyno" oltp run --target "$target" --yes --archive "$out/aa.dbdyno" --name "$1" --seed "$2" \
        --warehouses "${WAREHOUSES:-1}" --users "${USERS:-4}" --seconds "${SECONDS_EACH:-3}" --ramp-up 1 --warm-up-max "${WARM_UP_MAX:-0}" \
        --repeat "${REPEAT:-5}" --mode "${MODE:-client}" --check "${CHECK:-light}" >"$out/run.txt" 2>&1 || status=$?
    case $status in 0 | 3) ;; *) cat "$out/run.txt" >&2; exit "$status" ;; esac
}
# The first value of a key in the JSON of a comparison: the primary metric comes first.
value() { grep -o "\"$1\": [^,]*" "$out/comparison.json" | head -n 1 | sed 's/^[^:]*: //; s/"//g'; }

for trial in $(seq "$trials"); do
    run "a-$trial" "$((2 * trial))"
    run "b-$trial" "$((2 * trial + 1))"
    "$dbdyno" compare "a-$trial" "b-$trial" --archive "$out/aa.dbdyno" --json \
        --primary OLTP.new_orders_per_min >"$out/comparison.json"
    echo "$trial,$(value verdict),$(value ratio),$(value ratio_low),$(value ratio_high)" | tee -a "$table" >&2
done
held=$(awk -F, 'NR > 1 && $4 <= 1 && $5 >= 1 { n++ } END { print n + 0 }' "$table")
echo "$engine, ${MODE:-client}: the interval holds 1 in $held of $trials trials (meant: nine of ten); $table"
[ "$((held * 10))" -ge "$((trials * 9))" ]
