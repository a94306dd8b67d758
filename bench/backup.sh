#!/usr/bin/env bash
# What it costs that dbdyno measures a backup: `pg_basebackup --format=tar` by hand against the same as `dbdyno backup run` measures it, on
# one order-entry database, in rounds whose order is drawn by lot. Each side starts the server on the same data with the same shared
# buffers, its files are in the page cache, and each backup is durable when its time ends.
#
#   bench/backup.sh [ROUNDS] [WAREHOUSES]     10 rounds of 5 warehouses (some 600 MB) without arguments
#   DBDYNO=PATH  the command (default bin/dbdyno)     OUT=DIR  where backups go (default: a new directory in /var/tmp)
#   PG=DIR       programs of the server (default: Debian's of version 15)
# Docs: docs/BACKUP.md, "The tool's own clock".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rounds=${1:-10} warehouses=${2:-5}
dbdyno=${DBDYNO:-bin/dbdyno} pg=${PG:-/usr/lib/postgresql/15/bin}
out=${OUT:-$(mktemp -d /var/tmp/dbdyno-bench-backup.XXXXXX)}
# The server's user passes through.
chmod 711 "$out"
mkdir -p "$out/repository" "$out/socket"
chmod 711 "$out/repository"
as_server=()
if [ "$(id -u)" -eq 0 ]; then
    as_server=(runuser -u postgres --)
    chown postgres "$out/socket"
fi
server() { "${as_server[@]}" "$pg/pg_ctl" --pgdata "$out/server/data" --silent --wait "$@"; }
trap 'server stop 2>/dev/null || true; rm -rf "$out"' EXIT
target="postgres+local:$out/server?version=$("$pg/postgres" --version | grep -o '[0-9.]*' | head -n 1)&shared_buffers=256MB"

warm() { cat "$out"/server/data/base/*/* >/dev/null; }

# measured: seconds by dbdyno.
measured() {
    "$dbdyno" backup run --target "$target" --methods basebackup-tar --work-seconds 0.1 --warehouses "$warehouses" \
        --repository "$out/repository" --archive "$out/runs.dbdyno" --yes >"$out/log.txt" 2>&1 || {
        cat "$out/log.txt" >&2
        exit 1
    }
    "$dbdyno" export last --archive "$out/runs.dbdyno" --format json | grep -o '"elapsed_s": [0-9.]*' | head -n 1 | cut -d' ' -f2
}

# bare: seconds by hand.
bare() {
    server --log "$out/socket/log" --options \
        "-c shared_buffers=256MB -c listen_addresses='' -c unix_socket_directories='$out/socket'" start >/dev/null
    warm
    local began ended
    began=$(date +%s.%N)
    "$pg/pg_basebackup" --host "$out/socket" --username dbdyno --pgdata "$out/bare" --format=tar --checkpoint=fast \
        --wal-method=stream --no-password
    ended=$(date +%s.%N)
    rm -rf "$out/bare"
    server --mode=fast stop >/dev/null
    awk -v a="$began" -v b="$ended" 'BEGIN { printf "%.3f", b - a }'
}

measured >/dev/null
echo "round,first,bare_s,measured_s,load"
for ((round = 1; round <= rounds; round++)); do
    if ((RANDOM % 2)); then
        first=bare b=$(bare) m=$(measured)
    else
        first=measured m=$(measured) b=$(bare)
    fi
    echo "$round,$first,$b,$m,$(cut -d' ' -f1 /proc/loadavg)"
done | tee "$out/rounds.csv"
awk -F, '{
    n++; l = log($4 / $3); sum += l; squares += l * l
} END {
    v = n - 1; mean = sum / n; spread = sqrt((squares - n * mean * mean) / v)
    z = 1.959964
    t = z + (z ^ 3 + z) / (4 * v) + (5 * z ^ 5 + 16 * z ^ 3 + 3 * z) / (96 * v ^ 2)
    half = t * spread / sqrt(n)
    printf "measured / bare: %.4f [%.4f, %.4f] (95 %%, %d rounds)\n", exp(mean), exp(mean - half), exp(mean + half), n
}' "$out/rounds.csv"
