# Sourced by aa.sh and interleave.sh: carries out studies, keeps one line of each in $table, and counts what they come to.
# Needs $dbdyno, $out and $table; `failed` becomes 1 when a count is worse than it may be by chance.

failed=0
echo "case,trial,pairs,verdict,ratio,ratio_low,ratio_high,spread_log,least_effect_pct,advised,p,seconds" >"$table"

# value FILE KEY: the first value of a key in the JSON of a comparison: the primary metric comes first.
value() { grep -o "\"$2\": [^,]*" "$1" | head -n 1 | sed 's/^[^:]*: //; s/"//g'; }

# trial CASE NUMBER PAIRS ARGUMENTS…: measures one study and writes one line.
trial() {
    local name=$1 number=$2 pairs=$3 json=$out/comparison.json status=0 began=$SECONDS
    shift 3
    "$dbdyno" ab "$@" --yes --repeat "$pairs" --seed "$number" --name "$name-$number" --format json \
        --archive "$out/studies.dbdyno" >"$json" 2>"$out/log.txt" || status=$?
    # 3: a check failed, on a busy machine a late driver for instance; such points are left out and counted as they are.
    case $status in 0 | 3) ;; *) cat "$out/log.txt" >&2; exit "$status" ;; esac
    local line=$name,$number,$(value "$json" repetitions_a) key
    for key in verdict ratio ratio_low ratio_high spread_log least_effect_pct advised_for_effect rank_p; do
        line+=,$(value "$json" "$key")
    done
    echo "$line,$((SECONDS - began))" | tee -a "$table" >&2
}

# of CASE: the lines of a case that have an interval. count CASE VERDICT: how many of them have a verdict.
of() { awk -F, -v c="$1" '$1 == c && $6 != "null"' "$table"; }
count() { of "$1" | awk -F, -v v="$2" '$4 == v { n++ } END { print n + 0 }'; }

# median CASE COLUMN
median() { of "$1" | cut -d, -f"$2" | sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# Chance, in percent, of k or more among n when each has a chance of 5 %.
tail_pct() {
    awk -v k="$1" -v n="$2" 'BEGIN {
        p = 0.05; below = 0; term = (1 - p) ^ n
        for (i = 0; i < k; i++) { below += term; term *= (n - i) / (i + 1) * p / (1 - p) }
        printf "%.1f", 100 * (1 - below)
    }'
}

# misses CASE TRUTH WIDTH: studies whose interval, made WIDTH times as wide around its ratio, does not hold the true ratio.
misses() {
    of "$1" | awk -F, -v truth="$2" -v w="$3" '{
        at = log($5); low = at + w * (log($6) - at); high = at + w * (log($7) - at)
        if (low > log(truth) || high < log(truth)) n++
    } END { print n + 0 }'
}

# small_p CASE: by how much the share of p values up to some p exceeds that p, at most (Kolmogorov and Smirnov, one side:
# p values of exact tests of few pairs have steps, and are larger than uniform ones between them).
small_p() {
    of "$1" | cut -d, -f11 | sort -g |
        awk '{ p[NR] = $1 } END { for (i = 1; i <= NR; i++) if (i / NR - p[i] > d) d = i / NR - p[i]; printf "%.3f", d }'
}

# conditions CASE: the scatter of a pair, the least effect and the length of a study, and how many studies have no interval.
conditions() {
    awk -v n="$(median "$1" 3)" -v s="$(median "$1" 8)" -v e="$(median "$1" 9)" -v t="$(median "$1" 12)" \
        'BEGIN { printf "spread of a pair %.1f %%, least effect %.1f %%, %d pairs in %d s a study (medians)", 100 * s, e, n, t }'
    awk -F, -v c="$1" '$1 == c && $6 == "null" { n++ } END { if (n) printf "; without an interval: %d", n }' "$table"
}

# holds_one CASE: equal sides; the interval holds 1 as often as it claims, and half of it does not.
holds_one() {
    local n k p d limit half half_p
    n=$(of "$1" | wc -l)
    k=$(misses "$1" 1 1) half=$(misses "$1" 1 0.5) d=$(small_p "$1")
    p=$(tail_pct "$k" "$n") half_p=$(tail_pct "$half" "$n")
    limit=$(awk -v n="$n" 'BEGIN { printf "%.3f", sqrt(-log(0.05) / 2 / n) }')
    printf '%-22s 1 held in %d of %d (chance of as few at 95 %%: %s %%); p values: D+ %s, limit %s; half as wide: %d (%s %%); %s\n' \
        "$1" $((n - k)) "$n" "$p" "$d" "$limit" $((n - half)) "$half_p" "$(conditions "$1")"
    awk -v p="$p" -v d="$d" -v l="$limit" -v h="$half_p" 'BEGIN { exit p < 5 || d > l || h >= 5 }' || failed=1
}

# found CASE TRUTH VERDICT: a true difference is found in 80 % at least.
found() {
    local n k
    n=$(of "$1" | wc -l) k=$(count "$1" "$3")
    printf '%-22s %s in %d of %d, the other way in %d; the interval holds %.3f in %d; %s\n' "$1" "$3" "$k" "$n" \
        "$(count "$1" "$([[ $3 == worse ]] && echo better || echo worse)")" "$2" $((n - $(misses "$1" "$2" 1))) "$(conditions "$1")"
    ((100 * k >= 80 * n)) || failed=1
}

# headline WHAT: when and where.
headline() { printf '\n%s, %s, %s threads, %s; every line of %s is one study\n' "$(date -u +%F)" "$(uname -n)" "$(nproc)" "$1" "$table"; }
