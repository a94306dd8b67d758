#!/usr/bin/env bash
# What the verbs that look at results take of time and memory on a run of 4,000 points (of `mock`, some minutes to make):
#
#   bench/archive.sh [FOLDER]        keeps the archive in FOLDER and uses it again
#
# $DBDYNO is the command (bin/dbdyno); set it to an older one to compare, on the same archive.
set -euo pipefail
cd "$(dirname "$0")/.."
dbdyno=${DBDYNO:-bin/dbdyno}
folder=${1:-$(mktemp -d)}
mkdir -p "$folder"
archive=$folder/many.dbdyno
if [[ ! -e $archive ]]; then
    cat >"$folder/many.toml" <<'PLAN'
name = "many"
repeat = 250
sample_ms = 100
[[step]]
use = "library"
tests = ["T900"]
jobs = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
mode = "time"
seconds = 0.05
PLAN
    # Points this short are not all valid; what is measured here is the archive.
    "$dbdyno" run "$folder/many.toml" --set library=bench/aa/library --target 'mock:?service_us=100' --archive "$archive" \
        --yes >"$folder/run.log" 2>&1 || [[ $? == 3 ]]
fi
printf '%-28s %8s %10s %14s\n' verb seconds 'MB resident' 'bytes written'
for verb in "runs list" "report last --format json" "report last --format csv" "report last -o $folder/page.html"; do
    written=$folder/out
    # shellcheck disable=SC2086 # a verb with its arguments
    /usr/bin/time -o "$folder/used" -f '%e %M' "$dbdyno" $verb --archive "$archive" >"$written" 2>"$folder/said"
    [[ $verb != report* ]] || written=$folder/page.html
    read -r seconds kilobytes <"$folder/used"
    printf '%-28s %8s %10s %14s\n' "${verb%% -o*}" "$seconds" "$((kilobytes / 1000))" "$(stat -c %s "$written")"
done
