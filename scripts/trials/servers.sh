# shellcheck shell=bash disable=SC2154,SC2034,SC2015 # variables of the other files; what fails ends the check
# Servers of the trials' own, as a user's that run already: PostgreSQL, MariaDB, PgBouncer. Sourced by trials.sh.
# Each is started when the first check wants it, listens on a socket in the trials' folder, and ends with them.

# The user of servers where the trials run as root, as whom PostgreSQL and PgBouncer do not run.
server_user() {
    id -u postgres >/dev/null 2>&1 && echo postgres || echo nobody
}

# What stands before a command that runs as that user.
as_server=(env)
if is_root; then
    as_server=(setpriv --reuid "$(server_user)" --regid "$(id -g "$(server_user)")" --clear-groups)
fi

# server_folder NAME: makes one that the server owns, and prints it.
server_folder() {
    mkdir -p "$work/$1"
    ! is_root || chown "$(server_user)" "$work/$1"
    echo "$work/$1"
}

# Begins a server that outlives the check; its number is kept under the server's name.
begin_server() {
    local name=$1
    shift
    (cd "$work/$name" && exec "${as_server[@]}" "$@") </dev/null >"$work/$name/said" 2>&1 &
    echo "$! $name" >>"$work/servers"
}

end_servers() {
    local pid
    tac "$work/servers" | while read -r pid _; do
        # PostgreSQL ends without waiting for its sessions.
        end_process "$pid" INT
    done
}

# ------------------------------------------------------------------------------------------------ PostgreSQL

# use_postgres VERSION…: the first of them that is there, running: $pg_bin, $pg_folder, $pg_version.
use_postgres() {
    for pg_version in "$@"; do
        pg_folder=$work/pg$pg_version
        if [ -e "$pg_folder/bin" ]; then
            pg_bin=$(readlink "$pg_folder/bin")
            return
        fi
        if pg_bin=$(postgres_programs "$pg_version"); then
            begin_postgres
            return
        fi
    done
    skip "PostgreSQL $* is not there; scripts/get-postgres.sh gets it"
}

# Where the programs of a version are.
postgres_programs() {
    local directory
    for directory in ${PG_BIN:+"$PG_BIN"} "/usr/lib/postgresql/$1/bin" "${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/postgres/$1".*/bin; do
        if [ -x "$directory/initdb" ] && "$directory/postgres" --version | grep -q ") $1"; then
            readlink -f "$directory"
            return
        fi
    done
    return 1
}

begin_postgres() {
    server_folder "pg$pg_version" >/dev/null
    # Nobody else looks into root's cache; programs find their libraries by their place in the whole tree.
    local cache=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/postgres
    if is_root && [[ $pg_bin == "$cache"/* ]]; then
        local below=${pg_bin#"$cache"/}
        cp -R "$cache/${below%%/*}" "$pg_folder/programs"
        pg_bin=$pg_folder/programs/${below#*/}
    fi
    "${as_server[@]}" "$pg_bin/initdb" -D "$pg_folder/data" -A trust -U trials -E UTF8 --locale=C --no-sync >"$pg_folder/initdb.log" 2>&1 ||
        fail "$(tail -n 3 "$pg_folder/initdb.log")"
    start_postgres
    ln -s "$pg_bin" "$pg_folder/bin"
}

start_postgres() {
    begin_server "pg$pg_version" "$pg_bin/postgres" -D "$pg_folder/data" -k "$pg_folder" -c listen_addresses= \
        -c shared_buffers=64MB -c fsync=off -c max_connections=120
    until_true 60 pg postgres 'SELECT 1' >/dev/null 2>&1 || fail "PostgreSQL $pg_version did not start: $(tail -n 3 "$pg_folder/said")"
}

# Number of the server's first process.
postgres_pid() {
    head -n 1 "$pg_folder/data/postmaster.pid"
}

# Ends the server as a crash does, and starts it again.
restart_postgres() {
    "${as_server[@]}" "$pg_bin/pg_ctl" stop -D "$pg_folder/data" -m immediate >/dev/null
    start_postgres
}

# pg DATABASE SQL: what psql prints.
pg() {
    "$pg_bin/psql" -X -q -A -t -v ON_ERROR_STOP=1 -h "$pg_folder" -U trials -d "$1" -c "$2"
}

# pg_database: makes the check's own database, $database, with the URL $url.
pg_database() {
    database=$(basename "$here" | tr '[:upper:]' '[:lower:]')
    pg postgres "DROP DATABASE IF EXISTS $database" 2>/dev/null
    pg postgres "CREATE DATABASE $database"
    url=$(pg_url trials)
}

# pg_url USER [FOLDER [PORT]]: URL of the check's database.
pg_url() {
    local folder=${2:-$pg_folder}
    echo "postgres://$1@${folder//\//%2F}${3:+:$3}/$database"
}

# ------------------------------------------------------------------------------------------------ PgBouncer

# use_pooler MODE LINE…: PgBouncer before the server, with these lines more; $pooled is the URL through it.
use_pooler() {
    local program folder
    program=${PGBOUNCER:-$(PATH=$PATH:/usr/sbin command -v pgbouncer)} ||
        program=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/pgbouncer/bin/pgbouncer
    [ -x "$program" ] || skip "PgBouncer is not there; scripts/get-pgbouncer.sh gets it"
    folder=$here/pooler
    mkdir -p "$folder"
    if is_root && [[ $program == "$HOME"/* ]]; then
        [ -e "$work/pooler" ] || cp -R "$(dirname "$(dirname "$program")")" "$work/pooler"
        program=$work/pooler/bin/pgbouncer
    fi
    {
        printf '[databases]\n* = host=%s user=trials\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = %s\n' "$pg_folder" "$folder"
        printf 'auth_type = any\nlogfile = %s/log\npool_mode = %s\n' "$folder" "$1"
        shift
        printf '%s\n' "$@"
    } >"$folder/pgbouncer.ini"
    ! is_root || chown -R "$(server_user)" "$folder"
    [ -z "${pooler:-}" ] || end_process "$pooler"
    spawn "${as_server[@]}" "$program" "$folder/pgbouncer.ini" >/dev/null 2>&1
    pooler=$spawned
    until_true 30 test -S "$folder/.s.PGSQL.6432"
    pooled=$(pg_url trials "$folder" 6432)
}

# ------------------------------------------------------------------------------------------------ MariaDB

# use_mariadb: it runs; $my_folder.
use_mariadb() {
    my_folder=$work/mariadb
    local program
    for program in ${MARIADB_BIN:+"$MARIADB_BIN/mariadbd"} /usr/sbin/mariadbd "${XDG_CACHE_HOME:-$HOME/.cache}"/dbdyno/mariadb/[0-9]*/usr/sbin/mariadbd; do
        [ ! -x "$program" ] || break
    done
    [ -x "$program" ] || skip "MariaDB is not there; scripts/get-mariadb.sh gets it"
    my_programs=$(dirname "$(dirname "$program")")
    [ ! -S "$my_folder/s" ] || return 0
    server_folder mariadb >/dev/null
    "${as_server[@]}" "$my_programs/bin/mariadb-install-db" --no-defaults --basedir="$my_programs" --datadir="$my_folder/data" \
        --auth-root-authentication-method=normal --skip-test-db --innodb-log-file-size=16M >"$my_folder/install.log" 2>&1 ||
        fail "$(tail -n 3 "$my_folder/install.log")"
    begin_server mariadb "$program" --no-defaults --basedir="$my_programs" --datadir="$my_folder/data" \
        --socket="$my_folder/s" --pid-file="$my_folder/pid" --skip-networking --innodb-flush-log-at-trx-commit=0 \
        --innodb-log-file-size=64M
    until_true 60 my 'SELECT 1' >/dev/null 2>&1 || fail "MariaDB did not start: $(tail -n 3 "$my_folder/said")"
}

# my SQL: what the client prints.
my() {
    local client=$my_programs/bin/mariadb
    [ -x "$client" ] || client=mariadb
    "$client" --no-defaults --socket="$my_folder/s" --user=root --skip-column-names --batch -e "$1"
}

# my_database: makes the check's own database, $database, with the URL $url.
my_database() {
    database=$(basename "$here" | tr '[:upper:]' '[:lower:]')
    my "CREATE DATABASE $database"
    url="mysql://root@localhost/$database?socket=$my_folder/s"
}
