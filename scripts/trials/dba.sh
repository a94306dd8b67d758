# shellcheck shell=bash disable=SC2154,SC2034,SC2015 # variables of the other files; what fails ends the check
# Part B: a DBA's own PostgreSQL, as it runs already. Sourced by trials.sh.

# What PgBouncer's errors suggest to ignore, one after the other.
readonly IGNORED="ignore_startup_parameters = search_path,default_transaction_isolation,default_transaction_read_only,statement_timeout,lock_timeout,idle_in_transaction_session_timeout,client_min_messages"

# One point that takes a moment.
tiny_plan() {
    printf 'name = "tiny"\nsample_ms = 50\n[[step]]\nuse = "library"\ntests = ["T132"]\njobs = [1]\nmode = "time"\nseconds = 0.05\n' >"$here/tiny.toml"
    echo "$here/tiny.toml"
}

# A database with tables of the user's own, called as those of the workload.
foreign_tables() {
    use_postgres 18 15
    pg_database
    pg "$database" "CREATE TABLE public.customer (x integer); INSERT INTO public.customer SELECT generate_series(1, 1000);
        CREATE TABLE public.orders (x integer); INSERT INTO public.orders SELECT generate_series(1, 500)"
}

foreign_tables_are_whole() {
    [ "$(pg "$database" "SELECT (SELECT count(*) FROM public.customer), (SELECT count(*) FROM public.orders)")" = "1000|500" ] ||
        wrong "the user's tables are not what they were"
    [ "$(pg "$database" "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")" -eq 2 ] || wrong "there is another table in public"
}

B1() {
    foreign_tables
    local ignored
    for ignored in "" "$IGNORED"; do
        use_pooler session "$ignored"
        ends 0 data load oltp --target "$pooled" --warehouses 1
        says "1 warehouse is loaded"
        foreign_tables_are_whole
        D data load oltp --target "$pooled" --warehouses 1
        foreign_tables_are_whole
        measures 0 run oltp --target "$pooled" --clients 2 --time 1 "${SHORTLY[@]}"
        foreign_tables_are_whole
        ends 0 data drop oltp --target "$pooled"
        foreign_tables_are_whole
    done
}
check B1 "behind a pool of sessions the user's tables stay, whatever the pool ignores"

B1_shared() {
    foreign_tables
    local mode ignored
    for mode in transaction statement; do
        for ignored in "" "$IGNORED"; do
            use_pooler "$mode" "$ignored"
            ends 1 data load oltp --target "$pooled" --warehouses 1
            says "pool_mode = session"
            ends 1 data drop oltp --target "$pooled"
            says "pool_mode = session"
            foreign_tables_are_whole
        done
    done
    [ "$(pg "$database" "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'dbdyno%'")" -eq 0 ] || wrong "something was made"
}
check B1_shared "a pool that shares sessions is refused by name, and nothing is made"

B1_direct() {
    foreign_tables
    pg postgres "ALTER DATABASE $database SET search_path = public"
    ends 0 data load oltp --target "$url" --warehouses 1
    ends 0 data load oltp --target "$url" --warehouses 1 --replace
    ends 0 data drop oltp --target "$url"
    ends 0 data load olap --target "$url" --scale 0.01
    measures 0 run olap --target "$url" --queries 6 --yes
    ends 0 data drop olap --target "$url"
    foreign_tables_are_whole
}
check B1_direct "search_path of the database leads no workload to the user's tables"

B2() {
    measures 0 run "$(tiny_plan)" --target "sqlite:$here/t.db" --name tiny
    # What is written into a pipe comes out of it.
    mkfifo pipe
    spawn cp pipe read.html
    ends 0 report tiny -o pipe
    wait "$spawned"
    [ -p pipe ] && grep -q '</html>' read.html || wrong "the pipe was replaced"
    ln -s there.html link.html
    echo mine >there.html
    ends 0 report tiny -o link.html
    [ -L link.html ] && grep -q '</html>' there.html || wrong "the link was replaced"
    D report tiny -o archive.dbdyno
    [ "$status" -ne 0 ] || wrong "the archive was written over"
    ends 0 runs list
    says tiny
    printf '[[limit]]\ntest = "T132"\nfigure = "errors"\nmax = 0\n' >sla.toml
    spawn cat pipe
    D report tiny --limits sla.toml --format junit -o pipe
    [ -p pipe ] || wrong "the pipe was replaced"
}
check B2 "reports are written through pipes and links, and never over an archive"

B2_devices() {
    is_root || skip "device nodes need root"
    mknod null c 1 3 2>/dev/null || skip "no device node can be made here"
    measures 0 run "$(tiny_plan)" --target "sqlite:$here/t.db" --name tiny
    ends 0 report tiny -o null
    [ -c null ] || wrong "the device node was replaced"
    loop_device 16M
    local sum
    sum=$(sha256sum <"$loop")
    D report tiny -o "$loop"
    [ "$status" -ne 0 ] && [ "$sum" = "$(sha256sum <"$loop")" ] || wrong "the device was written over"
}
check B2_devices "as root a device node stays what it is"

# Whether the server's sessions of dbdyno are so many and at work.
users_work() {
    [ "$(pg postgres "SELECT count(*) FROM pg_stat_activity WHERE datname = '$database' AND application_name = 'dbdyno'
        AND query ILIKE ANY ('{%district%,%customer%,%stock%,%orders%}')")" -ge "$1" ]
}

B3() {
    use_postgres 18 15
    pg_database
    ends 0 data load oltp --target "$url" --warehouses 1
    local pid
    begins run oltp --target "$url" --clients 2 --time 8 --name stopped "${SHORTLY[@]}"
    until_true 60 users_work 2
    sleep 1 # so that the window has begun, and transactions have ended within it
    pid=$(postgres_pid)
    # shellcheck disable=SC2046 # a list of numbers
    kill -STOP $(pgrep -P "$pid")
    sleep 10
    # shellcheck disable=SC2046
    kill -CONT $(pgrep -P "$pid")
    has_ended 3
    exports stopped
    holds 'not any(p["valid"] for p in points("OLTP"))' '"stalled" in str(points("OLTP")[0]["reasons"])' \
        'points("OLTP")[0]["response_us_max"] > 5e6' \
        'not any("-bound" in n["text"] and "%" in n["text"] for n in points("OLTP")[0]["notes"])'
    page stopped
    shows "Not valid"
}
check B3 "a server that stood still is in the response times, and the point is not valid"

B4() {
    use_postgres 18 15
    pg_database
    ends 0 data load oltp --target "$url" --warehouses 1
    ends 3 run oltp --target "$url" --clients 2 --time 2 --rate 100000 --name offered "${SHORTLY[@]}"
    says "100000"
    exports offered
    holds 'not points("OLTP")[0]["valid"]' '"100000.0 operations/s were offered and" in str(points("OLTP")[0]["reasons"])'
    ends 0 report offered --format md
    says "were offered and"
    page offered
    shows "were offered and" "Not valid"
}
check B4 "a rate that was not reached is told everywhere, and not valid"

B5() {
    use_postgres 18 15
    pg_database
    ends 0 data load oltp --target "$url" --warehouses 1
    begins run oltp --target "$url" --clients 1,2 --time 3 --set stop=false --name resumed --yes --ramp-up 0.2 --set warm_up_max_seconds=0 \
        --set check=light "${ON_ANY_MACHINE[@]}"
    until_true 60 grep -q "all transactions" spawned.log
    until_true 60 users_work 2
    restart_postgres
    has_ended 1
    grep -q -e --resume spawned.log || wrong "it does not say how to go on: $(cat spawned.log)"
    ends 0 run --resume resumed
    exports resumed
    holds 'points("OLTP")[0]["valid"] and points("OLTP")[1]["valid"]' \
        '[n for n in points("OLTP")[0]["notes"] if n["code"] == "runs_since"] != [n for n in points("OLTP")[1]["notes"] if n["code"] == "runs_since"]' \
        '"checked again" in str(points("OLTP")[1]["notes"])'
}
check B5 "a run that is resumed tells the server's two lives, and checks the database again"

B6() {
    use_postgres 18 15
    pg_database
    pg "$database" "DROP ROLE IF EXISTS plain" && pg "$database" "CREATE ROLE plain LOGIN"
    pg "$database" "GRANT CREATE ON DATABASE $database TO plain"
    [ "$pg_version" -lt 15 ] || pg "$database" "GRANT pg_checkpoint TO plain"
    measures 0 run "$(tiny_plan)" --target "$(pg_url plain)" --name plain
    says "cannot see whether other sessions are active" "GRANT pg_monitor TO plain"
    page plain
    shows "cannot see whether other sessions are active"
}
check B6 "without the right to see others, terminal and page say so"

B7() {
    use_postgres 18 15
    pg_database
    ends 0 data load oltp --target "$url" --warehouses 1
    local mode
    for mode in client procedure; do
        measures 0 run oltp --target "$url" --clients 2 --time 1 --set statements="$mode" --name "$mode" "${SHORTLY[@]}"
    done
    page procedure --against client
    shows "procedure" "client" "measured differently"
    D compare client procedure
    [ "$status" -ne 0 ] || wrong "they were compared without a word"
    says "measured differently" "procedure"
}
check B7 "runs of procedures and of statements stand beside each other, with what differs"

B8() {
    use_postgres 18 15
    pg_database
    ends 0 data load oltp --target "$url" --warehouses 1
    local core
    for core in $(seq 1 $((2 * $(nproc)))); do
        spawn python3 -c 'while True: pass'
    done
    measures 0 run oltp --target "$url" --clients 2 --time 4 --name beside "${SHORTLY[@]}"
    exports beside
    holds 'points("OLTP")[0]["cpu_by_others_pct"] > 5'
    page beside
    shows "Valid, with cautions"
}
check B8 "a run beside others at work is headed by cautions"

B9_bad_side() {
    use_postgres 18 15
    pg_database
    D ab "$(tiny_plan)" --target postgres+local: --repeat 1 --yes --b target.work_mem=lots --name lots
    [ "$status" -ne 0 ] || wrong "a setting that cannot be was taken"
    ends 0 runs list
    says_not running lots
}
check B9_bad_side "a study of which one side cannot begin is not entered"

B9_size() {
    use_postgres 18 15
    pg_database
    ends 0 data load oltp --target "$url" --warehouses 1
    says "1 warehouse is loaded"
    D run oltp --target "$url" --warehouses 5 --clients 1,2 --time 1 "${SHORTLY[@]}"
    [ "$status" -eq 2 ] || wrong "it ended with $status"
    says "1 warehouse instead of 5" "data load oltp TARGET --replace"
    exports
    holds 'not d["points"]'
}
check B9_size "a database of another size ends a run with one sentence"

B9_connections() {
    use_postgres 18 15
    pg_database
    ends 0 data load oltp --target "$url" --warehouses 1
    D run oltp --target "$url" --clients 1,500 --time 1 --set stop=false "${SHORTLY[@]}"
    [ "$status" -ne 0 ] || wrong "500 users had connections where there are 120"
    says max_connections
    ! grep -q "data_directory" "$pg_folder/said" || wrong "the server's log has errors of dbdyno"
}
check B9_connections "more users than connections are told with max_connections, and no error is left in the log"

B_short() {
    use_postgres 18 15
    pg_database
    ends 0 data load oltp --target "$url" --warehouses 1
    measures 0 run oltp --target "$url" --clients 1,2 --time 1 --name short "${SHORTLY[@]}"
    says "users" "orders/min" "p95"
    says_not "1 users" "1 warehouses"
    page short
    shows "orders/min" "p95"
}
check B_short "users, orders a minute and p95 come first"

B_settings() {
    use_postgres 18 15
    pg_database
    measures 0 ab "$(tiny_plan)" --target "$url" --repeat 2 --yes --a target.synchronous_commit=on --b target.synchronous_commit=off --name sync
    exports sync-b
    holds 'd["targets"][0]["settings"]["synchronous_commit"] == "off"'
    exports sync-a
    holds 'd["targets"][0]["settings"]["synchronous_commit"] == "on"'
    [ "$(pg "$database" "SHOW synchronous_commit")" = on ] || wrong "the server's own setting was changed"
    measures 2 ab "$(tiny_plan)" --target "$url" --repeat 1 --yes --b target.shared_buffers=1GB --name never
    says "shared_buffers"
    ends 0 runs list
    says_not never
}
check B_settings "a setting is measured in sessions of a running server, and stays in them"

B_runs() {
    measures 0 run "$(tiny_plan)" --target "sqlite:$here/t.db" --name first
    measures 0 run "$(tiny_plan)" --target "sqlite:$here/t.db" --name second
    ends 0 runs rename first "old disk"
    ends 0 runs note "old disk" "before the new shelf"
    exports "old disk"
    holds 'd["run"]["note"] == "before the new shelf"' 'd["run"]["renamed_from"] == "first"' 'd["run"]["valid"]'
    ends 0 runs delete second --yes
    ends 0 runs list
    says "old disk"
    says_not second
}
check B_runs "runs are renamed, noted and deleted"
