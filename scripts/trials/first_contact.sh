# shellcheck shell=bash disable=SC2154 # variables of trials.sh
# What somebody types first: connection strings of other clients, names of databases, scripts. Sourced.

E1() {
    use_postgres 18 15
    pg_database
    local name='a-b "ä'
    pg postgres "DROP DATABASE IF EXISTS \"a-b \"\"ä\""
    pg postgres "CREATE DATABASE \"a-b \"\"ä\""
    ends 0 check "host=$pg_folder user=trials dbname='$name'"
    ends 0 check "postgresql:///$database?host=$pg_folder&user=trials&connect_timeout=3&options=-c%20work_mem%3D5MB"
    grep -q "connect_timeout in the target's URL has no effect" "$here/err" || wrong "the note is missing"
    PGHOST=$pg_folder PGUSER=trials PGDATABASE=$database ends 0 check postgres:
    printf '[bench]\nhost=%s\nuser=trials\ndbname=%s\n' "$pg_folder" "$database" >services
    PGSERVICEFILE=$here/services ends 0 check service=bench
    ends 2 check "$url?sslcrl=/x"
    says "revocation lists"
}
check E1 "libpq's strings, environment and services reach the server that they name"

E2() {
    use_mariadb
    local name
    for name in my-shop 'sh.op' 'läden' 'a b'; do
        my "CREATE DATABASE IF NOT EXISTS \`$name\`; CREATE TABLE \`$name\`.t (i int PRIMARY KEY); INSERT INTO \`$name\`.t VALUES (1)"
        url="mariadb://root@localhost/${name// /%20}?unix_socket=${my_folder//\//%2F}%2Fs"
        ends 0 data load columnar --target "$url" --levels query-high
        ends 0 observe "$url" --time 1s
        my "DROP DATABASE \`$name\`"
    done
    url="mysql://root@localhost/my-bench?socket=$my_folder/s"
    measures 0 run smoke --target "$url" --yes
    ends 3 check "mysql://root@localhost/mysql?socket=$my_folder/s"
    says "server's own database"
}
check E2 "databases of any name are read, and written where they are not the server's own"

# script_plan SETUP STATEMENT [DRAW]: a plan with a script of one statement.
script_plan() {
    printf '%s\n' 'name = "e"' '[[step]]' 'use = "script"' 'jobs = [1, 2]' 'mode = "work"' '[step.script]' 'name = "e"' \
        'operations = 50' '[step.script.setup]' 'when = "run"' "sql = ['''$1''']" '[step.script.teardown]' \
        "sql = 'DROP TABLE IF EXISTS dbdyno_e'" '[[step.script.transaction]]' 'name = "one"' "${3:-}" \
        '[[step.script.transaction.statement]]' "sql = '''$2'''" >plan.toml
}

E3() {
    use_postgres 18 15
    pg_database
    script_plan "CREATE TABLE dbdyno_e AS SELECT '{\"a\": [1]}'::jsonb AS d" \
        "SELECT d ? 'a', d ?| ARRAY['b'], d @? '\$.a[*] ? (@ > 0)', (ARRAY[1, 2])[1:2] /* /* :x */ ? */ FROM dbdyno_e WHERE d ?& ARRAY['a']"
    measures 0 run plan.toml --target "$url" --yes
    ends 2 run plan.toml --target sqlite: --yes
    says "place of a parameter on sqlite"
}
check E3 "operators with a question mark run on PostgreSQL, and others say why not"

E4() {
    script_plan 'CREATE TABLE dbdyno_e (id BIGINT PRIMARY KEY)' 'INSERT INTO dbdyno_e VALUES (:id)' \
        $'[step.script.transaction.draw]\nid = { sequence = 1 }'
    measures 0 run plan.toml --target sqlite: --set step.contention=true --set repeat=2 --yes
}
check E4 "a sequence goes on over the points of data that are set up once"

E5() {
    printf '\\set aid random_zipfian(1, 100, 1.2)\nSELECT :aid;\n' >bench.sql
    ends 2 run bench.sql --target sqlite: --yes
    says "zipf = [a, b], exponent = s"
}
check E5 "a script of pgbench is known as one"
