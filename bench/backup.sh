#!/usr/bin/env bash
# What it costs that dbdyno measures a backup: `pg_basebackup` by hand against the same as `dbdyno run backup` measures it, on one
# order-entry database, in rounds whose order is drawn by lot. Both sides start the server on the same data with the same settings,
# after the kernel has forgotten its files; both read all files and the program before the backup, take a checkpoint, write to the
# same file system after it was synchronised, and each backup is durable when its time ends.
#
#   bench/backup.sh [ROUNDS [WAREHOUSES]]     10 rounds of 20 warehouses (some 2.4 GB); the backup should take 5 s at least, or the
#                                             start of a program and a late disk are more than what is looked for
#   DBDYNO=PATH      the command (default bin/dbdyno)     OUT=DIR  where backups go (default: a new directory in /var/tmp)
#   PG=DIR           programs of the server (default: Debian's of version 15)
#   METHODS="…"      of basebackup-tar (writes, so that the disk scatters) and basebackup-null-zstd (reads and compresses, keeps
#                    nothing: the processor alone, which scatters little); both without it
# Room: twice the database and 2 GB. Docs: docs/BACKUP.md, "The tool's own clock".
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
rounds=${1:-10} warehouses=${2:-20}
dbdyno=${DBDYNO:-bin/dbdyno} pg=${PG:-/usr/lib/postgresql/15/bin} methods=${METHODS:-basebackup-null-zstd basebackup-tar}
out=${OUT:-$(mktemp -d /var/tmp/dbdyno-bench-backup.XXXXXX)}
data=$out/server/data
# The server's user passes through.
chmod 711 "$out"
mkdir -p "$out/repository" "$out/socket"
chmod 711 "$out/repository"
as_server=()
if [ "$(id -u)" -eq 0 ]; then
    as_server=(runuser -u postgres --)
    chown postgres "$out/socket"
fi
server() { "${as_server[@]}" "$pg/pg_ctl" --pgdata "$data" --silent --wait "$@"; }
trap 'server --mode=immediate stop >/dev/null 2>&1 || true; rm -rf "$out"' EXIT

# What dbdyno sets as well, and what both are given: a vacuum that begins by itself would be a third side.
given=(shared_buffers=256MB autovacuum=off max_wal_size=8GB checkpoint_timeout=1h)
of_dbdyno=(track_io_timing=on track_wal_io_timing=on jit=off max_worker_processes=64 max_parallel_workers=64 timezone=UTC
    log_min_messages=log listen_addresses= "unix_socket_directories=$out/socket")
target="postgres+local:$out/server?version=$("$pg/postgres" --version | grep -o '[0-9.]*' | head -n 1)"
for setting in "${given[@]}"; do target+="&$setting"; done

# warm: everything that a backup reads is in the page cache. Files of the server come and go meanwhile.
warm() {
    find "$data/" -type f -exec cat {} + >/dev/null 2>&1 || true
    "$pg/pg_basebackup" --version >/dev/null
}

# cold: the kernel has forgotten the files, as where dbdyno starts a server.
cold() {
    sync
    find "$data/" -type f -exec dd if={} iflag=nocache count=0 status=none \;
}

# measured METHOD: seconds by dbdyno.
measured() {
    local status=0 archive=$out/runs.dbdyno dyno
    "$dbdyno" run backup --target "$target" --methods "$1" --set work_seconds=0.1 --warehouses "$warehouses" --seed 1 \
        --work-dir "$out/repository" --archive "$archive" --yes >"$out/log.txt" 2>&1 &
    dyno=$!
    # Behind the start of the server, and long before the backup: rows are read for their digests before it.
    until grep -qs ready "$data/postmaster.pid" || ! kill -0 "$dyno" 2>/dev/null; do sleep 0.02; done
    warm
    wait "$dyno" || status=$?
    if ((status != 0)); then
        cat "$out/log.txt" >&2
        exit 1
    fi
    "$dbdyno" report last --archive "$archive" --format json | grep -o '"elapsed_s": [0-9.]*' | head -n 1 | cut -d' ' -f2
}

# bare METHOD: seconds by hand.
bare() {
    local options="" setting began ended arguments=(--checkpoint=fast --no-password)
    for setting in "${given[@]}" "${of_dbdyno[@]}"; do options+=" -c ${setting%%=*}='${setting#*=}'"; done
    case $1 in
        basebackup-tar) arguments+=(--pgdata "$out/bare" --wal-method=stream --format=tar) ;;
        basebackup-null-zstd) arguments+=(--target=blackhole --wal-method=fetch --compress=server-zstd:level=1) ;;
        *) echo "bench/backup.sh: there is no method $1" >&2; exit 2 ;;
    esac
    cold
    server --log "$out/socket/log" --options "$options" start >/dev/null
    warm
    # dbdyno reads all rows for their digests before it makes the backup.
    "$pg/pg_dump" --host "$out/socket" --username dbdyno --dbname postgres --file /dev/null
    "$pg/psql" --host "$out/socket" --username dbdyno --dbname postgres --no-psqlrc --quiet --command CHECKPOINT
    sync --file-system "$out"
    began=$(date +%s.%N)
    "$pg/pg_basebackup" --host "$out/socket" --username dbdyno "${arguments[@]}"
    ended=$(date +%s.%N)
    rm -rf "$out/bare"
    server --mode=fast stop >/dev/null
    awk -v a="$began" -v b="$ended" 'BEGIN { printf "%.3f", b - a }'
}

# Uncounted: it loads the database.
measured "${methods%% *}" >/dev/null
du -sm "$data/base" | awk '{ printf "database: %d MiB\n", $1 }'
for method in $methods; do
    # Uncounted as well: whoever writes first finds another disk than all others.
    measured "$method" >/dev/null
    bare "$method" >/dev/null
    echo "method,round,first,bare_s,measured_s,measured/bare,load"
    for ((round = 1; round <= rounds; round++)); do
        if ((RANDOM % 2)); then
            first=bare b=$(bare "$method") m=$(measured "$method")
        else
            first=measured m=$(measured "$method") b=$(bare "$method")
        fi
        ratio=$(awk -v m="$m" -v b="$b" 'BEGIN { printf "%.4f", m / b }')
        echo "$method,$round,$first,$b,$m,$ratio,$(cut -d' ' -f1 /proc/loadavg)"
    done | tee "$out/rounds.csv"
    # Student's t by Cornish and Fisher's expansion.
    awk -F, -v method="$method" '{
        n++; l = log($5 / $4); sum += l; squares += l * l
        if (n == 1 || $4 < least) least = $4
    } END {
        v = n - 1; if (v < 1) { print method ": one round tells no interval"; exit }
        mean = sum / n; spread = sqrt((squares - n * mean * mean) / v)
        z = 1.959964
        t = z + (z ^ 3 + z) / (4 * v) + (5 * z ^ 5 + 16 * z ^ 3 + 3 * z) / (96 * v ^ 2) + (3 * z ^ 7 + 19 * z ^ 5 + 17 * z ^ 3 - 15 * z) / (384 * v ^ 3)
        half = t * spread / sqrt(n)
        printf "%s: measured / bare %.4f [%.4f, %.4f] (95 %%, %d rounds)\n", method, exp(mean), exp(mean - half), exp(mean + half), n
        if (least < 5) printf "%s: the shortest backup took %.1f s only; more warehouses tell more\n", method, least
    }' "$out/rounds.csv"
done
