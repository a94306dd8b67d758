# shellcheck shell=bash disable=SC2154 # variables of the other files
# Figures that were wrong and valid, of servers and of points too short for them. Sourced by trials.sh.

# lookups JOBS SECONDS: a plan that sends statements of microseconds.
lookups() {
    printf 'name = "lookups"\n[[step]]\nuse = "library"\ntests = ["T611"]\njobs = [%s]\nmode = "time"\nseconds = %s\n' "$1" "$2" >"$here/lookups.toml"
}

X1() {
    use_postgres 18 15
    pg_database
    lookups 2 1.0
    measures 0 run "$here/lookups.toml" --target "$url" --yes
    exports
    holds 'points("T611")[0]["driver_cpu_pct"] == points("T611")[0]["process_cpu_pct"]' \
        'any(n["code"] == "thread_per_job" for n in points("T611")[0]["notes"])'
    is_root || return 0
    holds "abs(points('T611')[0]['cpu_by_driver_pct'] * $(nproc) - points('T611')[0]['driver_cpu_pct']) < 0.01"
}
check X1 "the driver's share on a server is that of its process, in every figure"

X2() {
    lookups 1 0.1
    measures 0 run "$here/lookups.toml" --target sqlite: --yes
    exports
    holds 'points("T611")[0]["cpu_pct_avg"] is None' 'd["spare_cores"] == []'
}
check X2 "a point of 0.1 s has no use of the processors, and no core is called spare by it"
