# PostgreSQL's part of bench/oltp.sh and bench/oltp-load.sh. PSQL names a psql.
# shellcheck shell=bash disable=SC2034,SC2154
psql=${PSQL:-psql}
settings='version=15&max_wal_size=8GB&shared_buffers=512MB'

connect() {
    directory=$(dirname "$socket")
    url="postgres://dbdyno@${directory//\//%2F}/postgres"
    url_others='?others=allow'
    sysbench_options=(--db-driver=pgsql --pgsql-host="$directory" --pgsql-user=dbdyno --pgsql-db=sbtest --trx_level=RC)
}
psql() { command "$psql" -qAtX -h "$directory" -U dbdyno -v ON_ERROR_STOP=1 "$@"; }
ask() { psql -d postgres -c "SET search_path = dbdyno" -c "$@"; }
ask_floor() { psql -d postgres -f -; }
checkpoint() { psql -d postgres -c CHECKPOINT; }
# The format that the loader sends.
ready_file() {
    psql -d postgres -c "\\copy (SELECT * FROM dbdyno.$1 WHERE $2 = $3) TO '$4' (FORMAT binary)"
    echo "\\copy floor.$1 FROM '$4' (FORMAT binary)"
}
floor_begin() {
    psql -d postgres -c "CREATE SCHEMA floor"
    for table in $tables; do psql -d postgres -c "CREATE TABLE floor.$table (LIKE dbdyno.$table)"; done
}
floor_end() { psql -d postgres -c "DROP SCHEMA floor CASCADE" 2>/dev/null; }
hammerdb_ready() { :; }
hammerdb_gone() { psql -d postgres -c "DROP DATABASE IF EXISTS tpcc" -c "DROP ROLE IF EXISTS tpcc" 2>/dev/null; }
hammerdb_ask() { psql -d tpcc -c "$1"; }
sysbench_ready() { psql -d postgres -c "CREATE DATABASE sbtest"; }
# Its load leaves no statistics behind.
sysbench_loaded() { sysbench_ask ANALYZE; }
sysbench_ask() { psql -d sbtest -c "$@"; }
