#!/usr/bin/env bash
# How small a difference `dbdyno ab --interleave` finds, beside blocks, on one PostgreSQL server: a script of 100 point selects a
# transaction against itself, and against the same with 103 (exactly 3 % more work), without a band.
# Usage: bench/interleave.sh [TRIALS]     (default 40; each trial takes four studies of about four minutes)
#   DBDYNO=PATH  the command (default bin/dbdyno)     OUT=DIR  where archive and table go (default: a new directory)
#   SLICE=100ms PAIRS=10 SECONDS_A_POINT=10          of each study     ONLY=slices  leaves the blocks out
# Prints, by case: in how many studies the 95 % interval holds the truth, in how many the 3 % are found, the spread of a
# pair's ratio and the least effect that four of five such studies find. Docs: docs/METHODOLOGY.md, "In slices".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

trials=${1:-40}
dbdyno=${DBDYNO:-bin/dbdyno}
out=${OUT:-$(mktemp -d "${TMPDIR:-/tmp}/dbdyno-interleave.XXXXXX")}
slice=${SLICE:-100ms} pairs=${PAIRS:-10} seconds=${SECONDS_A_POINT:-10}
mkdir -p "$out"
table=$out/trials.csv
echo "case,trial,verdict,ratio,ratio_low,ratio_high,spread_log,least_effect_pct,p" >"$table"

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
cat >"$out/plan.toml" <<END
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

# The first value of a key in the JSON of a comparison: the primary metric comes first.
value() { grep -o "\"$2\": [^,]*" "$1" | head -n 1 | sed 's/^[^:]*: //; s/"//g'; }

# trial CASE NUMBER ARGUMENTS…: measures one study and writes one line.
trial() {
    local name=$1 number=$2 json=$out/comparison.json status=0
    shift 2
    "$dbdyno" ab "$out/plan.toml" --target postgres+local: --yes --pairs "$pairs" --band 0 --seed "$number" --name "$name-$number" \
        --json --archive "$out/interleave.dbdyno" "$@" >"$json" 2>"$out/log.txt" || status=$?
    # 3: a check failed; such points are left out, and counted as they are.
    case $status in 0 | 3) ;; *) cat "$out/log.txt" >&2; exit "$status" ;; esac
    local line=$name,$number key
    for key in verdict ratio ratio_low ratio_high spread_log least_effect_pct rank_p; do
        line+=,$(value "$json" "$key")
    done
    echo "$line" | tee -a "$table" >&2
}

# told CASE TRUTH VERDICT: what the trials of a case come to.
told() {
    awk -F, -v c="$1" -v truth="$2" -v v="$3" '$1 == c {
        n++
        held += $5 <= truth && truth <= $6
        found += $3 == v
        spread[n] = $7; least[n] = $8
    } END {
        if (!n) exit
        asort_(spread, n); asort_(least, n)
        printf "%-14s the interval holds %.3f in %d of %d; %s in %d; spread of a pair %.1f %%, least effect %.1f %% (medians)\n",
            c, truth, held, n, v, found, 100 * spread[int((n + 1) / 2)], least[int((n + 1) / 2)]
    }
    function asort_(a, n,   i, j, t) {
        for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j] + 0 < a[j - 1] + 0; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
    }' "$table"
}

more=(--b "step.script=$out/more.toml")
for number in $(seq "$trials"); do
    trial slices-equal "$number" --interleave "$slice"
    trial slices-3 "$number" --interleave "$slice" "${more[@]}"
    [[ ${ONLY:-} == slices ]] && continue
    trial blocks-equal "$number"
    trial blocks-3 "$number" "${more[@]}"
done
echo
echo "$(date -u +%F), $(uname -n), $(nproc) threads, $trials trials each, $pairs pairs of 2 x $seconds s, slices of $slice; every line of $table is one study"
told slices-equal 1 inconclusive
told slices-3 0.970874 worse
told blocks-equal 1 inconclusive
told blocks-3 0.970874 worse
