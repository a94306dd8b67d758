#!/bin/sh
# Checks all 22 answers of the analytical workload: at scale 1 on DuckDB and PostgreSQL against the specification's,
# at 0.1 on all four engines against the stored ones. Takes some minutes and 4 GB of room.
#
#   scripts/olap-answers.sh [DIRECTORY]      where the databases are made and removed again
set -eu

fail() {
    echo "olap-answers: $*" >&2
    exit 1
}

cd "$(dirname "$0")/.."
dbdyno=${DBDYNO:-bin/dbdyno}
[ -x "$dbdyno" ] || fail "there is no $dbdyno; build it (make build), or name another one in \$DBDYNO"
place=$(mktemp -d "${1:-${TMPDIR:-/tmp}}/olap-answers.XXXXXX") || fail "no directory can be made in ${1:-${TMPDIR:-/tmp}}"
trap 'rm -rf "$place"' EXIT
# A server that is begun as root runs as another user, who has to pass.
chmod 755 "$place"

postgres='shared_buffers=256MB&fsync=off&max_wal_size=4GB'
mysql='innodb_buffer_pool_size=512M&innodb_log_file_size=512M&innodb_flush_log_at_trx_commit=0'
checked=0
check() {
    scale=$1 url=$2
    echo "== scale $scale: ${url%%:*}"
    "$dbdyno" data load olap --target "$url" --scale "$scale"
    "$dbdyno" data check olap --target "$url" --timeout 600
    "$dbdyno" data drop olap --target "$url"
    checked=$((checked + 1))
}

check 1 "duckdb:$place/one.duckdb"
check 1 "postgres+local:$place/one.pg?$postgres"
check 0.1 "duckdb:$place/tenth.duckdb"
check 0.1 "sqlite:$place/tenth.sqlite?synchronous=OFF"
check 0.1 "postgres+local:$place/tenth.pg?$postgres"
check 0.1 "mariadb+local:$place/tenth.my?$mysql"
echo "all 22 answers are right on $checked databases"
