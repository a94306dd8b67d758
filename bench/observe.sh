#!/usr/bin/env bash
# What observing costs those who are at work: throughput of pgbench and of sysbench (oltp_read_write) with and without
# `dbdyno observe` beside them, on a PostgreSQL and a MariaDB server of their own. The clients work without a pause, and the observer is
# stopped and continued by signals, so that both sides of a round are neighbours in time: a machine whose speed drifts does so on both.
# Which side of a round comes first is drawn. Prints for each server the ratio with / without, its 95 % interval and whether it is
# equivalent to 1 within ± 2 %: its 90 % interval, which is two one-sided tests at 5 %, lies inside. What an observation costs once, at
# its begin and its end, is not in it.
#
#   bench/observe.sh [ROUNDS] [SECONDS]       100 rounds of 2 x 4 s without arguments: some fifteen minutes a server
#   DBDYNO=PATH  the command (default bin/dbdyno)     OUT=DIR  where everything goes (default: a new directory, removed at the end)
#   ONLY="postgres mariadb"   CLIENTS=4   BAND=2 (percent)
#   PG=DIR       programs of PostgreSQL (default: Debian's newest)          PG_SETTINGS="-c shared_preload_libraries=pg_stat_statements"
#   MARIADB_BIN=DIR  programs of MariaDB (default: installed or unpacked)     MARIADB_SETTINGS="--performance-schema=ON"
# Needs ss (Debian: iproute2), pgbench and sysbench. Servers do not wait for a disk, so that all throughput is processors'. Docs: docs/OBSERVE.md.
set -euo pipefail
rounds=${1:-100} seconds=${2:-4}
dbdyno=$(realpath "${DBDYNO:-$(dirname "${BASH_SOURCE[0]}")/../bin/dbdyno}")
clients=${CLIENTS:-4} band=${BAND:-2} only=${ONLY:-postgres mariadb}
out=${OUT:-$(mktemp -d /var/tmp/dbdyno-bench-observe.XXXXXX)}
mkdir -p "$out"
out=$(realpath "$out")
# The servers' users pass through.
chmod 711 "$out"
archive=$out/runs.dbdyno
# The clients warm the caches so long before the first round, while the observer begins.
lead=15
work=$((lead + 2 * rounds * seconds + 5))
fail() { echo "bench/observe.sh: $*" >&2; exit 1; }
[ -x "$dbdyno" ] || fail "there is no $dbdyno; build it, or name it in DBDYNO"

. "$(dirname "${BASH_SOURCE[0]}")/servers.sh"

# Ended by their own numbers, the observer first.
server= observer= clients_pid=
stop() {
    local process
    for process in $observer $clients_pid; do
        kill -CONT "$process" 2>/dev/null || true
        kill -INT "$process" 2>/dev/null || true
        wait "$process" || true
    done
    [ -z "$server" ] || { kill -INT "$server" 2>/dev/null || true; kill -TERM "$server" 2>/dev/null || true; wait "$server" || true; }
    server= observer= clients_pid=
}
trap 'stop; [ -n "${OUT:-}" ] || rm -rf "$out"' EXIT
trap 'exit 130' INT TERM

postgres_sees_observer() {
    [ "$("$psql" "${login[@]}" -Atc "SELECT count(*) > 0 FROM pg_stat_activity WHERE application_name = 'dbdyno observe'" postgres)" = t ]
}
mariadb_sees_observer() { [ "$("${client[@]}" -e 'SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND USER = "root"')" = 1 ]; }

# The clients' rate, a line each second.
postgres_work() { exec "$pgbench" -c "$clients" -j 1 -T "$work" -P 1 "${login[@]}" postgres 2>&1; }
postgres_rate() { [[ $1 =~ ^progress:.*\ ([0-9.]+)\ tps ]]; }
mariadb_work() { exec stdbuf -oL "${sysbench[@]}" --time="$work" --report-interval=1 oltp_read_write run 2>&1; }
mariadb_rate() { [[ $1 =~ tps:\ ([0-9.]+)\  ]]; }

# next_rate NAME: waits for the clients' next second, and sets `rate` to its transactions per second.
next_rate() {
    local line
    while read -r line <&"$lines"; do
        echo "$line" >>"$out/clients.txt"
        ! "${1}_rate" "$line" || { rate=${BASH_REMATCH[1]} && return; }
    done
    tail -n 20 "$out/clients.txt" >&2
    fail "the clients ended"
}

# observing SIDE: the observer goes on or stands still. It is not stopped while the server answers it, or it would take the server for
# slow and ask less often afterwards; the other side looks as well, because looking costs something.
observing() {
    local attempt
    for ((attempt = 0; attempt < 20; attempt++)); do
        [ "$1" = with ] || kill -STOP "$observer"
        sleep 0.02
        ss -xHp state connected | awk -v pid="pid=$observer," 'index($0, pid) && $3 > 0 { waiting = 1 } END { exit waiting }' && break
        [ "$1" = with ] || kill -CONT "$observer"
    done
    [ "$1" = without ] || kill -CONT "$observer"
}

# side NAME SIDE: sets `mean` to the clients' transactions per second over so many seconds.
side() {
    local n sum=0
    observing "$2"
    for ((n = 0; n < seconds; n++)); do
        next_rate "$1"
        sum=$(awk -v a="$sum" -v b="$rate" 'BEGIN { print a + b }')
    done
    mean=$(awk -v sum="$sum" -v n="$seconds" 'BEGIN { printf "%.1f", sum / n }')
}

# end_of_observer: its own figures, to whose time that in which it stood still belongs as well.
end_of_observer() {
    local status=0 figure
    wait "$observer" || status=$?
    observer=
    # 3: a check of the machine failed, which is in the archive.
    case $status in 0 | 3) ;; *) cat "$out/observe.txt" >&2; fail "the observer ended with status $status" ;; esac
    "$dbdyno" report last --archive "$archive" --format json >"$out/observed.json"
    for figure in samples_per_s cost_pct; do
        echo "# observer: $(grep -o "\"$figure\": *[0-9.]*" "$out/observed.json" | head -n 1)"
    done
}

# verdict TITLE: of the lines round,first,without,with.
verdict() {
    awk -F, -v title="$1" -v band="$band" '
    # Student: distribution for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4), and where it is p.
    function between(t, v,    x, c, s, sum, term, n) {
        x = atan2(t, sqrt(v)); c = cos(x); s = sin(x)
        if (v % 2) {
            sum = 0; term = c
            for (n = 1; n <= v - 2; n += 2) { sum += term; term *= c * c * (n + 1) / (n + 2) }
            return 2 / 3.14159265358979 * (x + s * sum)
        }
        sum = 0; term = 1
        for (n = 0; n <= v - 2; n += 2) { sum += term; term *= c * c * (n + 1) / (n + 2) }
        return s * sum
    }
    function student(p, v,    low, high, n) {
        low = 0; high = 1000
        for (n = 0; n < 80; n++) { if (between((low + high) / 2, v) < p) low = (low + high) / 2; else high = (low + high) / 2 }
        return (low + high) / 2
    }
    { n++; l = log($4 / $3); sum += l; squares += l * l }
    END {
        if (n < 2) { print title ": " n " round is too few for an interval"; exit }
        v = n - 1; mean = sum / n; s = (squares - n * mean * mean) / v
        error = sqrt((s > 0 ? s : 0) / n); wide = student(0.95, v) * error; narrow = student(0.90, v) * error
        is = exp(mean - narrow) > 1 - band / 100 && exp(mean + narrow) < 1 + band / 100
        printf "%s: with / without %.4f, 95 %% [%.4f, %.4f], 90 %% [%.4f, %.4f], %d rounds: %s\n", title, exp(mean), exp(mean - wide),
            exp(mean + wide), exp(mean - narrow), exp(mean + narrow), n,
            is ? "equivalent within ± " band " %" : "equivalence within ± " band " % is not shown"
    }' "$2"
}

for name in $only; do
    "${name}_begin"
    echo "# $title, $rounds rounds of 2 x $seconds s"
    echo "round,first,without_per_s,with_per_s,load_average"
    exec {lines}< <("${name}_work")
    clients_pid=$!
    "$dbdyno" observe "$url" --time "${work}s" --archive "$archive" >"$out/observe.txt" 2>&1 &
    observer=$!
    until_so "$observer" "$out/observe.txt" "${name}_sees_observer"
    for ((second = 0; second < lead; second++)); do next_rate "$name"; done
    for ((round = 1; round <= rounds; round++)); do
        first=with second=without
        ((RANDOM % 2)) || first=without second=with
        side "$name" "$first"
        first_rate=$mean
        side "$name" "$second"
        if [ "$first" = with ]; then rates=$mean,$first_rate; else rates=$first_rate,$mean; fi
        echo "$round,$first,$rates,$(cut -d' ' -f1 /proc/loadavg)" | tee -a "$out/$name.csv"
    done
    end_of_observer
    stop
    verdict "$title" "$out/$name.csv" | tee -a "$out/verdicts.txt"
done
