#!/usr/bin/env bash
# How small a difference `dbdyno ab --interleave` finds on PostgreSQL, and how seldom it is fooled, beside blocks; without a band:
#   place-equal      lookups and updates (T611, T716) against themselves, both sides on one server, in slices
#   writes-equal     updates alone (T716) against themselves, in the same way
#   instances-equal  lookups and updates on two servers, made anew for each pair
#   place-3          a transaction of 100 point selects against one of 103: exactly 3 % more work, on one server, in slices
#   blocks-equal, blocks-3   the same two in blocks, one after the other
# Equal sides: the interval holds 1 in 95 % of studies. The 3 % are found in 80 % at least.
# Usage: bench/interleave.sh [TRIALS]     (default 40; some two minutes a study and case)
#   DBDYNO=PATH  the command (default bin/dbdyno)     OUT=DIR  where archive and table go (default: a new directory)
#   ONLY="place-equal instances-equal place-3"        these cases (without it all but writes-equal)
#   FIRST=1             number of the first study, which is its seed: several of these side by side take different ones
#   SLICE=100ms PAIRS=10 SECONDS_A_POINT=4            of each study
#   UNTIL=3% WITHIN=5m  adds pairs until that effect is found or excluded, PAIRS at most, in that time
# Docs: docs/METHODOLOGY.md, "In slices".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

trials=${1:-40} first=${FIRST:-1}
dbdyno=${DBDYNO:-bin/dbdyno}
out=${OUT:-$(mktemp -d "${TMPDIR:-/tmp}/dbdyno-interleave.XXXXXX")}
slice=${SLICE:-100ms} pairs=${PAIRS:-10} seconds=${SECONDS_A_POINT:-4}
only=${ONLY:-place-equal instances-equal place-3 blocks-equal blocks-3}
mkdir -p "$out"
table=$out/trials.csv
# shellcheck source=bench/studies.sh
. bench/studies.sh

# script NAME STATEMENTS: a transaction of so many point selects.
script() {
    {
        cat <<'END'
name = "selects"
pipeline = "all"
[setup]
when = "run"
sql = [
    "CREATE TABLE dbdyno_selects (id int PRIMARY KEY, filler text NOT NULL)",
    "INSERT INTO dbdyno_selects SELECT n, repeat('x', 100) FROM generate_series(1, 1000) n",
    "VACUUM ANALYZE dbdyno_selects",
]
[teardown]
sql = "DROP TABLE IF EXISTS dbdyno_selects"
[[transaction]]
name = "selects"
END
        local n
        for ((n = 0; n < $2; n++)); do
            printf '[[transaction.statement]]\nrows = 1\nsql = "SELECT filler FROM dbdyno_selects WHERE id = %d"\n' $((1 + n * 37 % 1000))
        done
    } >"$out/$1.toml"
}
script hundred 100
script more 103
cat >"$out/selects.toml" <<END
name = "selects"
primary = ["S-selects.operations_per_s"]
[[step]]
use = "script"
script = "hundred.toml"
jobs = [4]
mode = "time"
seconds = $seconds.0
ramp_up_seconds = 1.0
END

study() {
    local plan=bench/aa/server.toml arguments=(--target postgres+local: --band 0)
    case $1 in
        place-equal | blocks-equal | instances-equal) arguments+=(--set "step.seconds=$seconds") ;;
        writes-equal) plan=bench/aa/writes.toml arguments+=(--set "step.seconds=$seconds") ;;
        place-3 | blocks-3) plan=$out/selects.toml arguments+=(--b "step.script=$out/more.toml") ;;
        *) echo "bench/interleave.sh: there is no case $1" >&2; exit 2 ;;
    esac
    case $1 in
        # A setting without any effect, which needs a server of its own all the same.
        instances-*) arguments+=(--interleave "$slice" --a target.cluster_name=a --b target.cluster_name=b) ;;
        place-* | writes-*) arguments+=(--interleave "$slice") ;;
    esac
    case $1 in
        place-equal | blocks-equal | writes-equal) arguments+=(--aa) ;;
    esac
    [[ -z ${UNTIL:-} ]] || arguments+=(--until "$UNTIL" --max-time "${WITHIN:-5m}")
    trial "$1" "$2" "$pairs" "$plan" "${arguments[@]}"
}

for number in $(seq "$first" $((first + trials - 1))); do
    for case in $only; do study "$case" "$number"; done
done

headline "$trials studies a case, ${UNTIL:+at most }$pairs pairs of 2 x $seconds s, slices of $slice"
for case in $only; do
    case $case in
        *-equal) holds_one "$case" ;;
        # 100 transactions take as long as 103 of the others.
        *-3) found "$case" 0.970874 worse ;;
    esac
done
exit "$failed"
