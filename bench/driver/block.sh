# What the scripts that compare dbdyno with another driver share; to be sourced.
# They set: dbdyno (the command), against (another build of it, or nothing), url (the target), out (a directory).

# dbdyno_block SCRIPT CLIENTS: prints throughput and µs of CPU for each transaction, from the result of the point.
dbdyno_block() {
    rm -f "$out/block.dbdyno"*
    local status=0
    "$dbdyno" run bench/driver/plan.toml --yes --archive "$out/block.dbdyno" --target "$url" --seed "$RANDOM" \
        --set "step.script=bench/driver/$1.toml" --set "step.jobs=[$2]" >"$out/dbdyno.txt" 2>&1 || status=$?
    # 3: a check failed, which the busy machine may cause; the figures are those of the block all the same.
    case $status in 0 | 3) ;; *) cat "$out/dbdyno.txt" >&2; exit "$status" ;; esac
    "$dbdyno" report last --archive "$out/block.dbdyno" --format csv | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR == 2 { printf "%s %.4f\n", $at["operations_per_s"],
                  $at["driver_cpu_pct"] / 100 * $at["elapsed_s"] / $at["operations"] * 1e6 }'
}

# pair_of_blocks TITLE SCRIPT CLIENTS PEER…: a pair of blocks of dbdyno and of its peer, whose order is drawn; written as lines
# of the table. The peer is another build of dbdyno where the user named one, else the command PEER.
pair_of_blocks() {
    local a b title=$1 script=$2 c=$3
    local peer=("${@:4}")
    [ -z "$against" ] || peer=(older_block "$script" "$c")
    if ((RANDOM % 2)); then
        a=$("${peer[@]}"); b=$(dbdyno_block "$script" "$c")
    else
        b=$(dbdyno_block "$script" "$c"); a=$("${peer[@]}")
    fi
    printf '%s throughput,%s,%s\n%s CPU,%s,%s\n' "$title" "${a% *}" "${b% *}" "$title" "${a#* }" "${b#* }"
}

# older_block SCRIPT CLIENTS: as dbdyno_block, by the other build.
older_block() { local dbdyno=$against url=${url_of_older:-$url}; dbdyno_block "$@"; }

# real_time PID: puts a server and whatever the script starts from here on into the kernel's real-time class, so that
# other programs of the machine hardly count. Needs root; the others nearly stand still meanwhile.
real_time() {
    chrt --all-tasks --rr --pid 1 "$1"
    chrt --rr --pid 1 $$
}

# traced COMMAND…: runs it and has strace count its system calls.
traced() { strace -f -c -U name,calls -o "$out/strace.txt" "$@"; }

# calls_for_each N: of the system calls that strace counted, those for talking and waiting, divided by N.
calls_for_each() {
    awk -v n="$1" '
        $1 ~ /^(sendto|recvfrom|ppoll|poll|epoll_wait|epoll_pwait|timerfd_settime|epoll_ctl)$/ { sum += $2 }
        END { printf "%.2f", sum / n }' "$out/strace.txt"
}

# dbdyno_calls SCRIPT CLIENTS: system calls of a fixed amount of work for each transaction.
dbdyno_calls() {
    rm -f "$out/block.dbdyno"*
    traced "$dbdyno" run bench/driver/work.toml --yes --archive "$out/block.dbdyno" --target "$url" \
        --set "step.script=bench/driver/$1.toml" --set "step.jobs=[$2]" >"$out/dbdyno.txt" 2>&1 || true
    calls_for_each "$("$dbdyno" report last --archive "$out/block.dbdyno" --format csv |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at["operations"] }')"
}
