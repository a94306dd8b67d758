#!/usr/bin/env bash
# How seldom dbdyno is fooled, and how small a difference it finds, on the real thing:
#   1. the same configuration against itself, in blocks, without a band: the interval holds 1 in 95 % of studies, and p values
#      are not smaller than those of equal configurations. Intervals of half the width, which are too narrow, must fail this
#      test, or it would not have found the others too narrow either. On the target `mock:`, SQLite, PostgreSQL, and with the
#      users of order entry on SQLite and PostgreSQL;
#   2. a slow-down by 5 % in the target `mock:`, and one by a known setting of SQLite, at the number of pairs that
#      the tool itself advises after the first comparison of (1): found in at least 80 %.
# Usage: bench/aa.sh [TRIALS]     (default 40; some three hours, half an hour without servers and order entry)
#   DBDYNO=PATH  the command (default bin/dbdyno)     OUT=DIR  where archive and table go (default: a new directory)
#   ONLY="mock sqlite postgres oltp-sqlite oltp-postgres"  these equal configurations; (2) is carried out for mock and sqlite
#   EQUAL=1  leaves out (2)
# Nothing is judged by the clock: only intervals and verdicts count. Docs: docs/METHODOLOGY.md, "How sure a verdict is".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

trials=${1:-40}
dbdyno=${DBDYNO:-bin/dbdyno}
out=${OUT:-$(mktemp -d "${TMPDIR:-/tmp}/dbdyno-aa.XXXXXX")}
only=" ${ONLY:-mock sqlite postgres oltp-sqlite oltp-postgres} "
mkdir -p "$out"
table=$out/trials.csv
# shellcheck source=bench/studies.sh
. bench/studies.sh

mock=(bench/aa/mock.toml --set library=bench/aa/library --target "mock:?service_us=100")
sqlite=(bench/aa/smoke.toml)
# Larger pages make a flatter tree: a lookup with pages of 8 kB takes about 5 % longer than with pages of 32 kB.
coarse=target=sqlite:$out/coarse.db?page_size=32768
fine=target=sqlite:$out/fine.db?page_size=8192

# equal CASE NUMBER: one study of a configuration against itself.
equal() {
    local arguments=(--band 0)
    case $1 in
        mock) arguments+=("${mock[@]}" --aa) ;;
        sqlite) arguments+=("${sqlite[@]}" --a "$fine" --b "$fine") ;;
        postgres) arguments+=(bench/aa/server.toml --aa --target postgres+local:) ;;
        oltp-sqlite) arguments+=(bench/aa/oltp.toml --aa --target "sqlite:$out/oltp.db") ;;
        oltp-postgres) arguments+=(bench/aa/oltp.toml --aa --target postgres+local:) ;;
        *) echo "bench/aa.sh: there is no case $1" >&2; exit 2 ;;
    esac
    trial "$1-equal" "$2" 10 "${arguments[@]}"
}

# slower CASE NUMBER PAIRS: one study of a configuration against one that is slower.
slower() {
    case $1 in
        mock) trial mock-5-percent "$2" "$3" "${mock[@]}" --b target.slow_down_pct=5 ;;
        sqlite) trial sqlite-5-percent "$2" "$3" "${sqlite[@]}" --a "$coarse" --b "$fine" ;;
    esac
}

for number in $(seq "$trials"); do
    for case in $only; do equal "$case" "$number"; done
done
if [[ -z ${EQUAL:-} ]]; then
    for case in mock sqlite; do
        [[ $only == *" $case "* ]] || continue
        # Of an effect of 5 % beyond the usual band.
        pairs=$("$dbdyno" compare "$case-equal-1-a" "$case-equal-1-b" --format json --archive "$out/studies.dbdyno" >"$out/advice.json" &&
            value "$out/advice.json" advised_for_effect)
        if [[ $pairs == null ]]; then
            echo "bench/aa.sh: this machine is too noisy for $case: no number of pairs up to 1000 is advised; try again while it is quiet" >&2
            exit 1
        fi
        for number in $(seq "$trials"); do slower "$case" "$number" "$pairs"; done
    done
fi

headline "$trials studies a case"
for case in $only; do holds_one "$case-equal"; done
for case in mock sqlite; do
    # The true ratio of the service times; the one of SQLite is known from a quiet machine.
    [[ -z $(of "$case-5-percent") ]] || found "$case-5-percent" "$([[ $case == mock ]] && echo 1.05 || echo 1.048)" worse
done
exit "$failed"
