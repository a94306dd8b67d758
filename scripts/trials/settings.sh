# shellcheck shell=bash disable=SC2154,SC2034 # variables of the other files
# Part O: settings that others chose, of roles, databases and servers. Sourced by trials.sh.

# script_of SETUP STATEMENT [LINE]: a plan with a script of one statement, and a line more for its step.
script_of() {
    {
        printf 'name = "script"\nsample_ms = 50\n[[step]]\nuse = "script"\njobs = [2]\nmode = "time"\nseconds = 0.5\n%s\n' "${3:-}"
        printf "[step.script]\nname = \"own\"\n"
        [ -z "$1" ] || printf "[step.script.setup]\nsql = ['''%s''']\n" "$1"
        printf "[[step.script.transaction]]\nname = \"one\"\n[[step.script.transaction.statement]]\nsql = '''%s'''\n" "$2"
    } >"$here/script.toml"
    echo "$here/script.toml"
}

O_limits() {
    use_postgres 18 15
    pg_database
    pg "$database" "ALTER DATABASE $database SET statement_timeout = '60ms'"
    pg "$database" "ALTER DATABASE $database SET idle_session_timeout = '2s'"
    measures 3 run "$(script_of '' 'SELECT pg_sleep(0.1)')" --target "$url"
    says "statement timeout"
    measures 0 run "$(script_of '' 'SELECT 1' 'think_ms = 3000')" --target "$url" --set step.seconds=6.0
    measures 0 run "$(tiny_plan)" --target "$url"
    page
    shows "statement_timeout = 0 instead of 60ms (ALTER DATABASE $database), kept in scripts"
    ends 0 check "$url"
    says "idle_session_timeout = 0 instead of 2s (ALTER DATABASE $database)"
    measures 2 run "$(script_of '' 'SELECT 1')" --target "$url" --set 'step.threads=[3]'
    says "threads"
}
check O_limits "a script keeps the time limit of its role, and no limit ends its sessions"

O_parallel() {
    use_postgres 18 15
    pg_database
    pg "$database" "CREATE TABLE public.own (x integer); INSERT INTO public.own VALUES (1)"
    pg "$database" "ALTER DATABASE $database SET max_parallel_workers_per_gather = 7"
    # A division by zero where the setting is another.
    measures 0 run "$(script_of '' "SELECT 1 / (current_setting('max_parallel_workers_per_gather') = '7')::int FROM own")" --target "$url"
}
check O_parallel "a script has the parallel workers and the search path of its role"

O_read_only() {
    use_postgres 18 15
    pg_database
    pg "$database" "ALTER DATABASE $database SET default_transaction_read_only = on"
    ends 1 run smoke --target "$url" --yes
    says "ALTER DATABASE $database SET default_transaction_read_only = off"
    ends 1 data load oltp --target "$url" --warehouses 1
    ends 0 check "$url"
    says "only tests and scripts that read can run"
    measures 0 run "$(script_of '' 'SELECT 1')" --target "$url"
    measures 0 run "$(tiny_plan)" --target "$url?default_transaction_read_only=off"
    use_mariadb
    my_database
    my "SET GLOBAL tx_read_only = 1"
    D data load oltp --target "$url" --warehouses 1
    my "SET GLOBAL tx_read_only = 0"
    [ "$status" -eq 1 ] || wrong "it ended with $status"
    says "SET GLOBAL tx_read_only = OFF"
}
check O_read_only "where transactions only read, nothing is written"

O_extension() {
    use_postgres 15
    pg_database
    pg "$database" "CREATE EXTENSION citext"
    measures 0 run "$(script_of 'CREATE TABLE dbdyno_c (v citext)' "SELECT count(*) FROM dbdyno_c WHERE v = 'A'")" --target "$url"
    local turn
    for turn in 1 2; do
        measures 0 run "$(script_of 'CREATE EXTENSION IF NOT EXISTS hstore' "SELECT 'a=>1'::hstore")" --target "$url"
    done
    pg "$database" "CREATE ROLE ${database}_o"
    pg "$database" "CREATE FUNCTION own() RETURNS event_trigger LANGUAGE plpgsql AS 'DECLARE r record; BEGIN
        FOR r IN SELECT * FROM pg_event_trigger_ddl_commands() WHERE object_type = ''table''
        LOOP EXECUTE format(''ALTER TABLE %s OWNER TO ${database}_o'', r.object_identity); END LOOP; END'"
    pg "$database" "CREATE EVENT TRIGGER own ON ddl_command_end EXECUTE FUNCTION own()"
    ends 1 run smoke --target "$url" --yes
    says "event trigger" "ALTER EVENT TRIGGER own DISABLE"
}
check O_extension "extensions lock nobody out, and an event trigger that takes tables away is named"

O_mariadb() {
    use_mariadb
    my_database
    my "SET GLOBAL sql_select_limit = 5, GLOBAL sql_safe_updates = 1, GLOBAL max_statement_time = 0.0001, GLOBAL max_join_size = 10, GLOBAL wait_timeout = 4"
    D data load oltp --target "$url" --warehouses 1 --set warehouse_rows=tenth
    local loaded=$status
    D data check oltp --target "$url"
    # The client of the trials has these limits, too.
    my "SET SESSION max_statement_time = 0; SET GLOBAL sql_select_limit = DEFAULT, GLOBAL sql_safe_updates = 0, GLOBAL max_statement_time = 0, GLOBAL max_join_size = DEFAULT, GLOBAL wait_timeout = 28800"
    [ "$loaded$status" = 00 ] || wrong "the load ended with $loaded, the check with $status"
    my "DROP DATABASE $database; CREATE DATABASE $database CHARACTER SET utf16; SET GLOBAL innodb_force_primary_key = ON"
    D data load oltp --target "$url" --warehouses 1
    my "SET GLOBAL innodb_force_primary_key = OFF"
    [ "$status" -eq 1 ] || wrong "it ended with $status"
    says "SET GLOBAL innodb_force_primary_key = OFF"
    measures 0 run smoke --target "$url" --yes
}
check O_mariadb "limits of MariaDB end and cut nothing, or are named before anything is loaded"
