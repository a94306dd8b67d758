# What the scripts that compare the order-entry workload share; to be sourced. They set: engine, warehouses.
# It starts a server of its own and gives: here, dbdyno, library, work (a directory), server, socket, url, load,
# seconds, ask SQL, places ASK, and what an engine has of its own. Everything goes when the script ends.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
dbdyno=${DBDYNO:-bin/dbdyno}
local_server=${LOCAL_SERVER:?name the example local_server, built}
library=$here/../../library/oltp
# What an engine has of its own: settings, connect, ask SQL, ready_file, floor_begin, floor_end, checkpoint,
# hammerdb_ready, hammerdb_gone, hammerdb_ask SQL, sysbench_ready, sysbench_loaded, sysbench_ask SQL,
# sysbench_options.
# shellcheck source=/dev/null
. "$here/$engine.sh"

work=$(mktemp -d /var/tmp/oltp.XXXXXX)
# The server writes the ready files of some engines itself, as another user.
chmod 1777 "$work"
mkfifo "$work/hold"
"$local_server" "$engine" "?$settings" <"$work/hold" >"$work/server" &
server=$!
exec 3>"$work/hold"
trap 'exec 3>&-; wait "$server" || true; rm -rf "$work"' EXIT
until [ -s "$work/server" ]; do
    kill -0 "$server" || exit 1
    sleep 0.1
done
read -r _ socket _ <"$work/server"
connect
load() { "$dbdyno" data load oltp --target "$url" --warehouses "$warehouses" "$@" 2>/dev/null; }
seconds() { awk "BEGIN { printf \"%.3f\", ($2 - $1) / 1e9 }"; }
# hammerdb WHAT: build.tcl or run.tcl by HammerDB's own command line.
hammerdb() {
    ENGINE=$engine WAREHOUSES=$warehouses SOCKET=$socket TMP=$work TCLLIBPATH=$here \
        exec tclsh "$here/hammerdb.tcl" "$1" <&- >"$work/hammerdb.log" 2>&1
}
# places ASK [NUMBERS]: places of each condition that a database breaks.
places() {
    local number places all=
    for number in $(printf '%02d ' ${2:-$(seq 12)}); do
        places=$("$1" "SELECT count(*) FROM ($(cat "$library/condition/$number.sql")) AS broken")
        [ "$places" = 0 ] || all+=" $number ($places places)"
    done
    echo "${all:- none}"
}
# The tables of sysbench-tpcc by the names that the conditions know.
sysbench_done() {
    local table
    for table in warehouse district customer history orders stock order_line item; do
        sysbench_ask "CREATE VIEW $table AS SELECT * FROM ${table}1"
    done
    sysbench_ask "CREATE VIEW new_order AS SELECT * FROM new_orders1"
    sysbench_loaded
}
