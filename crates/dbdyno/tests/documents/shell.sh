# Sourced before the commands of a document, which then run as a reader types them: on the servers of the test ($POSTGRES, $MARIADB,
# $SSH), and with plans, databases and times that take seconds.

chmod 711 .     # the local servers of root run as another user
ln -s "$DOCS" docs

# One test for a twentieth of a second, in place of the built-in plans and of a reader's.
cat >mine.toml <<'END'
name = "mine"
sample_ms = 50
[[step]]
use = "library"
tests = ["T132"]
jobs = [1]
mode = "time"
seconds = 0.05
END

dbdyno() {
    verb=$1 plan='' previous='' given=" $* "
    shift
    for word; do
        shift
        case $verb:$word in
            run:quick | run:smoke | run:library | ab:smoke) word=${built_in-mine.toml} plan=$word ;;
            run:T[0-9]* | run:*.toml | run:oltp | run:olap | run:--resume | run:--resume=*) plan=$word ;;
        esac
        case $word in
            postgres://* | URL) word=$POSTGRES ;;
            mysql://*) word=$MARIADB ;;
            ssh://*) word=$SSH ;;
            *..*/*) word=1..5/4 ;;
            sqlite:/data/* | duckdb:/data/*) word=${word%%:*}:${word##*/} ;;
            postgres+local:/data/*) word=postgres+local:$PWD/${word##*/} ;;
            --live | --live=*) word=--live=0 ;;
        esac
        case $previous in
            --time) word=1s ;;
            -T) word=100ms ;;
            --scale) word=0.01 ;;
            --warehouses) word=1 ;;
            --change) word=true ;;
        esac
        [ "$verb:$previous" != ab:--repeat ] || word=6
        previous=$word
        [ "$word" != --change ] || word=--change-cmd
        set -- "$@" "$word"
    done
    case "$verb ${1-}" in
        'run oltp') dbdyno_with "--set warm_up_max_seconds=0 --ramp-up 0s $(unless --time 300ms)" "$@" ;;
        'run olap') dbdyno_with '--queries 6,1' "$@" ;;
        'run '*)
            [ -n "$plan" ] || set -- "$@" mine.toml
            case $given in
                *--resume*) "$DBDYNO" run "$@" ;;
                *' app.toml '*) dbdyno_with '--set step.seconds=0.5' "$@" ;;
                *shop-plan*) dbdyno_with '--set step.seconds=0.2 --set step.ramp_up_seconds=0' "$@" ;;
                *) dbdyno_with '' "$@" --set "library=$LIBRARY" ;;
            esac
            ;;
        'ab '*) dbdyno_with '' "$@" --set "library=$LIBRARY" ;;
        'study storage-update')
            dbdyno_with "--size quick --set repeat=1 --set step.1.jobs=[1] --set step.1.tests=[\"T311\"] $of_users --set step.3.seconds=0.3
                --set step.3.ramp_up_seconds=0" "$@"
            ;;
        'study settings') dbdyno_with "--size quick --repeat 1 --yes $of_users --set step.2.seconds=0.3 --set step.2.ramp_up_seconds=0" "$@" ;;
        'data load')
            [ "$2" != oltp ] || set -- "$@" --set warehouse_rows=tenth
            "$DBDYNO" data "$@"
            ;;
        'check '*)
            case $given in *--compatibility*) set -- "$@" --yes ;; esac
            "$DBDYNO" check "$@"
            ;;
        'report '*)
            case $given in
                *--replay*) until_replayed "$@" ;;
                *) "$DBDYNO" report "$@" ;;
            esac
            ;;
        *) "$DBDYNO" "$verb" "$@" ;;
    esac
}

of_users='--set step.oltp.warehouse_rows=tenth --set step.oltp.users=1 --set step.oltp.warm_up_max_seconds=1'

# What the document gave stays.
unless() {
    case $given in
        *" $1 "*) ;;
        *) echo "$1 $2" ;;
    esac
}

# Measures with more options; other programs may use the machine.
dbdyno_with() {
    more=$1
    shift
    # shellcheck disable=SC2086 # lists of words
    "$DBDYNO" "$verb" "$@" $more $ON_ANY_MACHINE
}

# The page of a replay stays until the command is ended.
until_replayed() {
    "$DBDYNO" report "$@" 2>replay.log &
    tries=300
    until grep -q 'was replayed' replay.log; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || { cat replay.log >&2; return 1; }
        sleep 0.1
    done
    kill $!
    wait $! || [ $? -eq 130 ]
}

# A run of the archive, of one point.
a_run() {
    "$DBDYNO" run mine.toml sqlite:runs.db --name "$1" --no-page
}

parameter_file() {
    cat >parm.txt <<'END'
sd=sd1,lun=parm.dat,size=4m
wd=wd1,sd=sd1,xfersize=4k,rdpct=100
rd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1
END
}

# Transactions of somebody on both servers, until the shell ends.
somebody() {
    while sleep 0.02; do echo 'SELECT count(*) FROM pg_class;'; done | psql -q -d postgres >/dev/null &
    psql=$!
    while sleep 0.02; do echo 'BEGIN; SELECT count(*) FROM mysql.user; COMMIT;'; done |
        "$MARIADB_CLIENT" --no-defaults -u root -S "$MARIADB_SOCKET" >/dev/null &
    trap "kill $psql $!" EXIT
}

prepare_readme() {
    parameter_file
}

prepare_tutorial() {
    built_in=smoke
}

prepare_usage() {
    parameter_file
    for name in before after; do a_run "$name"; done
    "$DBDYNO" run mine.toml sqlite:runs.db --name night --no-page --repeat 8 --set step.seconds=0.2 &
    until "$DBDYNO" runs list night | grep -q night; do sleep 0.02; done
    kill -9 $!
    wait $! || :
    cat >limits.toml <<'END'
[[limit]]
metric = "T132.operations_per_s"
at_least = 1
END
    cp docs/examples/prices.toml .
    echo '[server]
type = "test"' >array.toml
    script old.toml 1
    script new.toml 2
    cat >plan.toml <<'END'
name = "plan"
[[step]]
use = "script"
script = "old.toml"
jobs = [2]
mode = "time"
seconds = 1.0
END
    mkdir telemetry
    cp docs/examples/fleet.csv telemetry/
    somebody
}

# A script that reads this many rows.
script() {
    cat >"$1" <<END
name = "rows"
[[transaction]]
name = "read"
[[transaction.statement]]
sql = "SELECT generate_series(1, $2)"
rows = $2
END
}

prepare_check() {
    :
}

prepare_observe() {
    somebody
    "$DBDYNO" observe "$MARIADB" --time 1s --name monday-before --no-page
    for name in db1-2026-11-16T09 db1-2026-11-23T09; do "$DBDYNO" observe "$POSTGRES" --time 1s --name "$name" --no-page; done
    cat >limits.toml <<'END'
[[limit]]
metric = "OBSERVE.active_sessions_mean"
at_most = 1000
END
}

prepare_script() {
    :
}

prepare_live() {
    :
}

prepare_fleet() {
    mkdir telemetry
    cp docs/examples/fleet.csv telemetry/
}

prepare_noise() {
    :
}
