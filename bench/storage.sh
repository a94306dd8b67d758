#!/usr/bin/env bash
# The storage engine against fio and against the least that io_uring can cost (bench/storage/floor.c), in turn on one
# machine in an order that is drawn. 95 % intervals of ratios:
#   CPU for each 4 KiB write to /dev/null   (meant: at most 0.5 × fio, 1.5 × floor); depth 32, batches of 16, fixed
#                                           buffers, fixed files, one thread; there is no device, so this is the driver
#   IOPS of an O_DIRECT file, random reads  (meant: at least 0.99 × fio), with CPU, p50 and p99; depth 32
#   rate control on that file, exponential gaps at 50 and 90 % of what dbdyno reaches at most: IOPS by what was asked
#                                           (meant: within 0.5 %), of both. `capped`: the kernel holds the device to
#                                           20,000 reads a second, so that its most does not change from run to run
#   overload: a device that the kernel holds to 5,000 reads a second is offered a tenth less and a tenth more, depth 4, RATE_SECONDS
#                                           each: what is completed by what can be (meant: within 1 %), I/Os not begun by what is
#                                           offered too much, and how service and response times are above the limit by below it
# CPU is that of the driving thread and the kernel's work for it: fio's own account of its job, getrusage elsewhere.
# Usage: bench/storage.sh [PAIRS]    (default 10; about six minutes). Needs fio, cc and liburing (liburing-dev).
#   FILE=PATH  where the file of 1 GiB lies (default: a new directory)    SECONDS_EACH=N  length of one block (3)
#   RATE_SECONDS=N  length of one with a rate (20): 3 s of exponential gaps are by chance 0.3 % more or fewer
#   CASES="null disk rate capped overload"   which of them (default: null disk rate; the others need root)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

pairs=${1:-10}
length=${SECONDS_EACH:-3}
rate_length=${RATE_SECONDS:-20}
cap_iops=20000
overload_iops=5000
cases=${CASES:-null disk rate}
out=$(mktemp -d "${TMPDIR:-/tmp}/dbdyno-storage.XXXXXX")
group=
trap 'rm -rf "$out"; [ -z "$group" ] || rmdir "$group" 2>/dev/null || true' EXIT
table=$out/pairs.csv
for needed in fio cc; do
    command -v "$needed" >/dev/null || { echo "bench/storage.sh: $needed is missing (apt-get install fio gcc liburing-dev)" >&2; exit 1; }
done
cargo build --release --locked --quiet -p stats --example pairs
cargo build --release --locked --quiet -p storage --example io_cost
examples=${CARGO_TARGET_DIR:-target}/release/examples
cc -O2 -o "$out/floor" bench/storage/floor.c -luring

# field NAME: the value of NAME=VALUE in a line.
field() { sed -n "s/.*\b$1=\([0-9.]*\).*/\1/p"; }

# fio_block OPERATION PATH DIRECT BATCH [OPTIONS…]: "iops=… cpu_us=… p50_us=… p99_us=…" from fio's own terse account.
fio_block() {
    local rw=rand$1 first=6
    [ "$1" = read ] || first=47
    fio --name=block --filename="$2" --rw="$rw" --bs=4k --size=1g --direct="$3" --ioengine=io_uring --iodepth=32 \
        --iodepth_batch_submit="$4" --iodepth_batch_complete_min=1 --iodepth_batch_complete_max=32 --fixedbufs \
        --registerfiles --norandommap --randrepeat=0 --thread --time_based --runtime="${seconds:-$length}" --invalidate=0 \
        "${@:5}" --minimal |
        awk -F';' -v f="$first" '{
            for (i = f + 12; i < f + 32; i++) { split($i, p, "="); if (p[1] + 0 == 50) p50 = p[2]; if (p[1] + 0 == 99) p99 = p[2] }
            cpu = ($88 + $89) / 100 * $(f + 3) / 1000
            ios = $(f + 2) * $(f + 3) / 1000
            printf "iops=%s cpu_us=%.4f p50_us=%s p99_us=%s\n", $(f + 2), cpu * 1e6 / ios, p50, p99 }'
}

# dbdyno_block OPERATION PATH DIRECT BATCH [IOPS]: the same.
dbdyno_block() {
    "$examples/io_cost" "$1" "$2" "${depth:-32}" "$4" "${seconds:-$length}" $((1 << 30)) "$([ "$3" = 0 ] && echo cached || echo direct)" "${@:5}"
}

null_case() {
    local fio dbdyno floor
    for who in $(shuf -e fio dbdyno floor); do
        case $who in
        fio) fio=$(fio_block write /dev/null 0 16 | field cpu_us) ;;
        dbdyno) dbdyno=$(dbdyno_block write /dev/null 0 16 | field cpu_us) ;;
        floor) floor=$("$out/floor" write /dev/null 32 16 "$length" | field cpu_us) ;;
        esac
    done
    printf 'CPU/I/O dbdyno to fio,%s,%s\nCPU/I/O dbdyno to floor,%s,%s\n' "$fio" "$dbdyno" "$floor" "$dbdyno" >>"$table"
    echo "/dev/null, µs of CPU for each I/O: fio $fio, dbdyno $dbdyno, floor $floor" >&2
}

disk_case() {
    local fio dbdyno
    for who in $(shuf -e fio dbdyno); do
        case $who in
        fio) fio=$(fio_block read "$file" 1 1) ;;
        dbdyno) dbdyno=$(dbdyno_block read "$file" 1 1) ;;
        esac
    done
    for name in iops cpu_us p50_us p99_us; do
        printf 'O_DIRECT %s dbdyno to fio,%s,%s\n' "$name" "$(echo "$fio" | field "$name")" "$(echo "$dbdyno" | field "$name")" >>"$table"
    done
    echo "O_DIRECT: fio $fio; dbdyno ${dbdyno% errors*}" >&2
}

# rates NAME MAXIMUM: what is reached of 50 and of 90 % of the maximum.
rates() {
    local seconds=$rate_length asked fio dbdyno
    for share in 50 90; do
        asked=$(($2 * share / 100))
        for who in $(shuf -e fio dbdyno); do
            case $who in
            fio) fio=$(fio_block read "$file" 1 1 --rate_iops="$asked" --rate_process=poisson | field iops) ;;
            dbdyno) dbdyno=$(dbdyno_block read "$file" 1 32 "$asked" "$RANDOM") ;;
            esac
        done
        printf '%s %s %% dbdyno to asked,%s,%s\n%s %s %% fio to asked,%s,%s\n' "$1" "$share" "$asked" \
            "$(echo "$dbdyno" | field iops)" "$1" "$share" "$asked" "$fio" >>"$table"
        echo "$1, asked $asked ($share %): fio $fio; dbdyno $(echo "$dbdyno" | field iops) $(echo "$dbdyno" | tail -n 1)" >&2
    done
}

rate_case() { rates rate "$(dbdyno_block read "$file" 1 32 | field iops)"; }

# held IOPS COMMAND…: what is done while the kernel holds the device to so many reads a second.
held() {
    if [ -d /sys/fs/cgroup/blkio ]; then
        group=/sys/fs/cgroup/blkio/dbdyno-bench-$$
        mkdir -p "$group"
        echo "$(device) $1" >"$group/blkio.throttle.read_iops_device"
    else
        group=/sys/fs/cgroup/dbdyno-bench-$$
        mkdir -p "$group"
        echo "$(device) riops=$1" >"$group/io.max"
    fi
    # A shell of its own, because whoever has entered stays.
    (
        echo "$BASHPID" >"$group/cgroup.procs"
        "${@:2}"
    )
    rmdir "$group"
    group=
}

capped_case() { held "$cap_iops" rates capped "$cap_iops"; }

overload_case() { held "$overload_iops" offers; }

# offers: a tenth less and a tenth more than the device gives, in an order that is drawn.
offers() {
    local seconds=$rate_length depth=4 asked below above told share name
    for share in $(shuf -e 90 110); do
        asked=$((overload_iops * share / 100))
        told=$(dbdyno_block read "$file" 1 32 "$asked" "$RANDOM")
        echo "overload, asked $asked: $told" >&2
        case $share in 90) below=$told ;; *) above=$told ;; esac
    done
    {
        printf 'overload 90 %% completed to asked,%s,%s\n' $((overload_iops * 9 / 10)) "$(echo "$below" | field iops)"
        printf 'overload 110 %% completed to the limit,%s,%s\n' "$overload_iops" "$(echo "$above" | field iops)"
        printf 'overload 110 %% not begun to the excess,%s,%s\n' $((overload_iops * seconds / 10)) "$(echo "$above" | field unserved)"
        for name in p50_us response_p50_us; do
            printf 'overload %s 110 %% to 90 %%,%s,%s\n' "$name" "$(echo "$below" | field "$name")" "$(echo "$above" | field "$name")"
        done
    } >>"$table"
}

# The numbers of the device under the file, of the whole disk: partitions take no limits.
device() {
    local of
    of=$(stat -c '%Hd:%Ld' "$file")
    if [ -e "/sys/dev/block/$of/partition" ]; then cat "/sys/dev/block/$of/../dev"; else echo "$of"; fi
}

file=${FILE:-$out/file}
case " $cases " in *" disk "* | *" rate "* | *" capped "* | *" overload "*)
    # Written once, so that reads reach the device rather than holes.
    fio --name=prepare --filename="$file" --rw=write --bs=1m --size=1g --direct=1 --end_fsync=1 --minimal >/dev/null ;;
esac
for _ in $(seq "$pairs"); do
    for case in $cases; do "${case}_case"; done
done
echo "A the other, B dbdyno"
"$examples/pairs" <"$table"
