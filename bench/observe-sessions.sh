#!/usr/bin/env bash
# Active sessions as `dbdyno observe` tells them, beside those that busy clients have: pgbench and sysbench send statement after statement,
# one session a thread, so that a session is active whenever its thread sleeps. The kernel tells how long the threads were on a processor or
# waited for one. In four situations: both processors saturated by short statements, by more statements of some milliseconds than there are
# processors, sessions that wait for each other's rows, and commits that wait for a slow log.
#
#   bench/observe-sessions.sh [SECONDS]       30 s an observation without an argument
#   DBDYNO=PATH  the command (default bin/dbdyno)     OUT=DIR  where everything goes (default: a new directory, removed at the end)
#   ONLY="postgres mariadb"   SITUATIONS="short long locks log"
#   APART=1      the server has one processor, and the clients another one, as on a machine of their own
#   PG=DIR  PG_SETTINGS=…  MARIADB_BIN=DIR  MARIADB_SETTINGS="--performance-schema=ON"     as for bench/observe.sh
# Results: docs/EVIDENCE.md, "Observation".
set -euo pipefail
seconds=${1:-30}
dbdyno=$(realpath "${DBDYNO:-$(dirname "${BASH_SOURCE[0]}")/../bin/dbdyno}")
only=${ONLY:-postgres mariadb} situations=${SITUATIONS:-short long locks log}
out=${OUT:-$(mktemp -d /var/tmp/dbdyno-bench-sessions.XXXXXX)}
mkdir -p "$out"
out=$(realpath "$out")
# The servers' users pass through.
chmod 711 "$out"
fail() { echo "bench/observe-sessions.sh: $*" >&2; exit 1; }
[ -x "$dbdyno" ] || fail "there is no $dbdyno; build it, or name it in DBDYNO"

. "$(dirname "${BASH_SOURCE[0]}")/servers.sh"

# Where the clients run.
there=()
[ -z "${APART:-}" ] || there=(taskset -c 1)

# Ended by their own numbers.
server= load=
stop() {
    [ -z "$load" ] || { kill -INT "$load" 2>/dev/null || true; wait "$load" || true; }
    [ -z "$server" ] || { kill -INT "$server" 2>/dev/null || true; kill -TERM "$server" 2>/dev/null || true; wait "$server" || true; }
    server= load=
}
trap 'stop; [ -n "${OUT:-}" ] || rm -rf "$out"' EXIT
trap 'exit 130' INT TERM

# situation NAME: sets what a server and its clients are.
situation() {
    rows=large commits=free clients=8
    case $1 in
        short) clients=4 ;;
        long) ;;
        locks) rows=small clients=16 ;;
        log) commits=slow ;;
        *) fail "there is no situation $1" ;;
    esac
}

postgres_work() {
    local script=()
    echo '\set a random(1, 900000)
        SELECT sum(abalance) FROM pgbench_accounts WHERE aid BETWEEN :a AND :a + 30000;' >"$out/long.sql"
    [ "$1" != long ] || script=(-f "$out/long.sql")
    exec "${there[@]}" "$pgbench" -n "${script[@]}" -c "$clients" -j "$clients" -T 3600 "${login[@]}" postgres >"$out/clients.txt" 2>&1
}
mariadb_work() {
    local work=(oltp_read_write)
    case $1 in
        long) work=(oltp_read_only --skip-trx --point-selects=0 --simple-ranges=0 --order-ranges=0 --distinct-ranges=0 --range-size=20000) ;;
        locks) work=(oltp_update_non_index) ;;
        log) work=(oltp_write_only) ;;
    esac
    exec "${there[@]}" "${sysbench[@]}" --time=3600 "${work[@]}" run >"$out/clients.txt" 2>&1
}

# away: sets `clock_s`, and `away_s`, how long all threads of the clients were on a processor or waited for one so far.
away() {
    clock_s=$(date +%s.%N)
    away_s=$(awk '{ sum += $1 + $2 } END { printf "%.6f", sum / 1e9 }' /proc/"$load"/task/*/schedstat)
}

figure() { grep -o "\"$1\": *[0-9.]*" "$out/observed.json" | head -n 1 | grep -o '[0-9.]*$' || echo nan; }

echo "server,situation,clients,busy_clients,active_sessions,at_least,by,deviation_pct,by_samples,load_average"
for name in $only; do
    for which in $situations; do
        situation "$which"
        rm -rf "$out/postgres" "$out/mariadb" "$out"/runs.dbdyno*
        "${name}_begin"
        [ -z "${APART:-}" ] || taskset -acp 0 "$server" >/dev/null
        "${name}_work" "$which" &
        load=$!
        sleep 3
        "$dbdyno" observe "$url" --time "${seconds}s" --archive "$out/runs.dbdyno" >"$out/observe.txt" 2>&1 &
        observer=$!
        # Behind its start, and up to its end.
        sleep 1
        away
        begin_s=$clock_s begun_s=$away_s
        sleep "$((seconds - 1))"
        away
        status=0
        wait "$observer" || status=$?
        # 3: a check of the machine failed, which is in the archive.
        case $status in 0 | 3) ;; *) cat "$out/observe.txt" >&2; fail "the observer ended with status $status" ;; esac
        "$dbdyno" report last --archive "$out/runs.dbdyno" --format json >"$out/observed.json"
        by=samples
        ! grep -q observed_by_account "$out/observed.json" || by=server
        ! grep -q observed_by_kernel "$out/observed.json" || by=kernel
        at_least=
        ! grep -q observed_between "$out/observed.json" || at_least=$(printf %.2f "$(figure low)")
        awk -v clients="$clients" -v at_least="$at_least" -v time="$(awk "BEGIN { print $clock_s - $begin_s }")" -v away="$(awk "BEGIN { print $away_s - $begun_s }")" \
            -v active="$(figure active_sessions_mean)" -v samples="$(figure active_sessions_sampled_mean)" -v by="$by" \
            -v about="$name,$which" -v load="$(cut -d' ' -f1 /proc/loadavg)" 'BEGIN {
            busy = clients - away / time
            printf "%s,%d,%.2f,%.2f,%s,%s,%+.1f,%.2f,%s\n", about, clients, busy, active, at_least, by, (active / busy - 1) * 100, samples, load
        }'
        stop
    done
done
