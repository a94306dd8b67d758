#!/usr/bin/env bash
# How seldom dbdyno is fooled, and how small a difference it finds, on the real thing:
#   1. the same configuration against itself, without a band: the interval holds 1 in 95 % of studies, and p values are not
#      smaller than those of equal configurations. Intervals of half the width, which are too narrow, must fail this test,
#      or it would not have found the others too narrow either;
#   2. a slow-down by 5 % in the target `mock:`, and one by a known setting of SQLite, at the number of pairs that
#      the tool itself advises after the first comparison of (1): found in at least 80 %.
# Usage: bench/aa.sh [TRIALS]     (default 40; about half an hour)
#   DBDYNO=PATH  the command (default bin/dbdyno)     ONLY=equal  leaves out (2)     OUT=DIR  where archive and table go (default: a new directory)
# Nothing is judged by the clock: only intervals and verdicts count. Docs: docs/METHODOLOGY.md, "How sure a verdict is".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

trials=${1:-40}
dbdyno=${DBDYNO:-bin/dbdyno}
out=${OUT:-$(mktemp -d "${TMPDIR:-/tmp}/dbdyno-aa.XXXXXX")}
mkdir -p "$out"
table=$out/trials.csv
echo "case,trial,pairs,verdict,ratio,ratio_low,ratio_high,spread_log,advised,p" >"$table"

mock=(ab bench/aa/mock.toml --library bench/aa/library --target "mock:?service_us=100")
sqlite=(ab bench/aa/smoke.toml)
# Larger pages make a flatter tree: a lookup with pages of 8 kB takes about 5 % longer than with pages of 32 kB.
coarse=target=sqlite:$out/coarse.db?page_size=32768
fine=target=sqlite:$out/fine.db?page_size=8192

# The first value of a key in the JSON of a comparison: the primary metric comes first.
value() { grep -o "\"$2\": [^,]*" "$1" | head -n 1 | sed 's/^[^:]*: //; s/"//g'; }

# trial CASE NUMBER PAIRS ARGUMENTS…: measures one study and writes one line.
trial() {
    local name=$1 number=$2 pairs=$3 json=$out/comparison.json status=0
    shift 3
    "$dbdyno" "$@" --yes --pairs "$pairs" --seed "$number" --name "$name-$number" --json \
        --archive "$out/aa.dbdyno" >"$json" 2>"$out/log.txt" || status=$?
    # 3: a check failed, on a busy machine a late driver for instance; such points are left out and counted as they are.
    case $status in 0 | 3) ;; *) cat "$out/log.txt" >&2; exit "$status" ;; esac
    local line=$name,$number,$pairs key
    for key in verdict ratio ratio_low ratio_high spread_log advised_for_effect rank_p; do
        line+=,$(value "$json" "$key")
    done
    echo "$line" | tee -a "$table" >&2
}

# count CASE PATTERN: trials of a case whose verdict matches.
count() { awk -F, -v c="$1" -v v="$2" '$1 == c && $4 ~ v { n++ } END { print n + 0 }' "$table"; }

# Chance, in percent, of k or more false verdicts among n when each has a chance of 5 %.
tail_pct() {
    awk -v k="$1" -v n="$2" 'BEGIN {
        p = 0.05; below = 0; term = (1 - p) ^ n
        for (i = 0; i < k; i++) { below += term; term *= (n - i) / (i + 1) * p / (1 - p) }
        printf "%.1f", 100 * (1 - below)
    }'
}

# advised CASE: the pairs that the first study advises for an effect of 5 % beyond the usual band.
advised() {
    "$dbdyno" compare "$1-1-a" "$1-1-b" --json --archive "$out/aa.dbdyno" >"$out/advice.json"
    value "$out/advice.json" advised_for_effect
}

failed=0
# misses CASE WIDTH: studies whose interval, made WIDTH times as wide around its ratio, does not hold 1.
misses() {
    awk -F, -v c="$1" -v w="$2" '$1 == c {
        at = log($5); low = at + w * (log($6) - at); high = at + w * (log($7) - at)
        if (low > 0 || high < 0) n++
    } END { print n + 0 }' "$table"
}

# small_p CASE: by how much the share of p values up to some p exceeds that p, at most (Kolmogorov and Smirnov, one side:
# p values of exact tests of few pairs have steps, and are larger than uniform ones between them).
small_p() {
    awk -F, -v c="$1" '$1 == c { print $10 }' "$table" | sort -g |
        awk '{ p[NR] = $1 } END { for (i = 1; i <= NR; i++) if (i / NR - p[i] > d) d = i / NR - p[i]; printf "%.3f", d }'
}

# holds_one CASE: the interval holds 1 as often as it claims, and half of it does not.
holds_one() {
    local k p d limit half half_p
    k=$(misses "$1" 1) half=$(misses "$1" 0.5) d=$(small_p "$1")
    p=$(tail_pct "$k" "$trials") half_p=$(tail_pct "$half" "$trials")
    limit=$(awk -v n="$trials" 'BEGIN { printf "%.3f", sqrt(-log(0.05) / 2 / n) }')
    printf '%-22s 1 held in %d of %d (chance of as few at 95 %%: %s %%); p values: D+ %s, limit %s; half as wide: %d (%s %%)\n' \
        "$1" $((trials - k)) "$trials" "$p" "$d" "$limit" $((trials - half)) "$half_p"
    awk -v p="$p" -v d="$d" -v l="$limit" -v h="$half_p" 'BEGIN { exit p < 5 || d > l || h >= 5 }' || failed=1
}
# found CASE PAIRS: the slow-down found in 80 % at least.
found() {
    local k
    k=$(count "$1" "^worse$")
    printf '%-22s %2d of %d found with %d pairs (%d %%), %d better, %d inconclusive\n' \
        "$1" "$k" "$trials" "$2" $((100 * k / trials)) "$(count "$1" better)" "$(count "$1" inconclusive)"
    ((100 * k >= 80 * trials)) || failed=1
}

verdict_of_equal() {
    echo
    echo "$(date -u +%F), $(uname -n), $(nproc) threads, $trials trials each; every line of $table is one comparison"
    holds_one mock-equal
    holds_one sqlite-equal
}

for number in $(seq "$trials"); do
    trial mock-equal "$number" 10 "${mock[@]}" --band 0
    trial sqlite-equal "$number" 10 "${sqlite[@]}" --a "$fine" --b "$fine" --band 0
done
if [[ ${ONLY:-} == equal ]]; then
    verdict_of_equal
    exit "$failed"
fi
mock_pairs=$(advised mock-equal)
sqlite_pairs=$(advised sqlite-equal)
if [[ $mock_pairs == null || $sqlite_pairs == null ]]; then
    echo "bench/aa.sh: this machine is too noisy: no number of pairs up to 1000 is advised; try again while it is quiet" >&2
    exit 1
fi
for number in $(seq "$trials"); do
    trial mock-5-percent "$number" "$mock_pairs" "${mock[@]}" --b target.slow_down_pct=5
    trial sqlite-5-percent "$number" "$sqlite_pairs" "${sqlite[@]}" --a "$coarse" --b "$fine"
done

verdict_of_equal
found mock-5-percent "$mock_pairs"
found sqlite-5-percent "$sqlite_pairs"
exit "$failed"
