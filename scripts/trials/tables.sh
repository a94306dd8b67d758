# shellcheck shell=bash disable=SC2154,SC2034,SC2015 # variables of the other files; what fails ends the check
# Part T: tables of others in any state, seen from the command line. Sourced by trials.sh.

T1() {
    url=sqlite:$here/t.db
    sqlite "$here/t.db" "CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER, at DATE); INSERT INTO a VALUES (1, 'x', 1), (2, 3, 'y');
        CREATE TABLE b (v TEXT, w TEXT AS (upper(v)) VIRTUAL); INSERT INTO b (v) VALUES (x'ff'), ('fine');
        CREATE TABLE \"two
lines\" (i INTEGER)"
    ends 2 data load columnar --target "$url" --levels none
    says "use --tables -a:n,-a:at,-b:v,-b:w, --unfit skip or --unfit text"
    ends 0 data load columnar --target "$url" --levels none --unfit text
    says "two lines  "
    lift 0 none --unfit skip
    holds 'rows() == {"two\nlines": 0}' '[o["name"] for o in d["left_out"]] == ["a", "b"]'
}
check T1 "all columns that no level can hold are named at once, and --unfit text takes any value"

is_locked() {
    [ "$(pg "$database" "SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass AND granted")" = 1 ]
}

T2() {
    use_postgres 15 18
    pg_database
    pg "$database" "CREATE TABLE t AS SELECT 1 AS i; CREATE TABLE other AS SELECT 2 AS i"
    spawn "$pg_bin/psql" -X -q -h "$pg_folder" -U trials -d "$database" -c "BEGIN; LOCK TABLE t; SELECT pg_sleep(60)" >/dev/null
    until_true 10 is_locked
    begins data load columnar --target "$url" --levels none
    until_true 15 grep -q "waiting for a lock: public.t is locked by session [0-9]* (user trials, active, program psql)" "$here/spawned.log" ||
        wrong "it does not name the session: $(cat "$here/spawned.log")"
    local begun=$SECONDS
    kill -INT "$spawned"
    has_ended 130
    [ $((SECONDS - begun)) -le 3 ] || wrong "it took $((SECONDS - begun)) s to end"
    ! grep -q SELECT "$here/spawned.log" || wrong "it prints its own query"
    lift 0 none
    holds 'rows() == {"other": 1}' '"locked by session" in d["left_out"][0]["why"]'
    # The server would sleep on without its client, and disturb the checks that follow.
    pg "$database" "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%'" >/dev/null
}
check T2 "a lock is named with its session, ends with Ctrl-C, and leaves its table out after 30 s"

T3() {
    is_root && [ -d /sys/fs/cgroup/memory ] && [ -w /sys/fs/cgroup/memory ] || skip "no memory controller of version 1 that this user may use"
    local group=/sys/fs/cgroup/memory/dbdyno-trial-$$ limit=$((256 << 20))
    mkdir "$group" && echo $limit >"$group/memory.limit_in_bytes"
    sqlite "$here/t.db" "CREATE TABLE t (i INTEGER); INSERT INTO t VALUES (1)"
    (echo "$BASHPID" >"$group/cgroup.procs" && exec "$dbdyno" data load columnar --target "sqlite:$here/t.db" --levels none --format json) >"$here/out" 2>"$here/err"
    rmdir "$group"
    holds "0 < d['memory_limit_bytes'] <= $limit * 0.8"
}
check T3 "the default memory is that of the control group"

T4() {
    sqlite "$here/t.db" "CREATE TABLE t (i INTEGER); INSERT INTO t VALUES (1)"
    ends 0 data estimate --target "sqlite:$here/t.db" --clients 5 --dop 128 --cores 72
    says "72 cores are 248 too few: at least 320 are needed."
}
check T4 "cores that are missing are counted"
