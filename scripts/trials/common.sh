# shellcheck shell=bash disable=SC2154,SC2034 # variables of trials.sh, and for the parts
# What the parts of trials.sh share: dbdyno and what it says, files, devices, and what is to be ended. Sourced.

# Status of a check that cannot be made here.
readonly STATUS_SKIPPED=77
# Switches off the checks that a busy machine fails: how busy it is, is no matter of the trials.
readonly ON_ANY_MACHINE=(
    --set validity.driver_pct_max=100 --set validity.driver_thread_pct_max=100
    --set validity.late_starts_pct_max=100 --set validity.stall_pct_max=100 --set validity.waiting_pct_max=100
)
# Users who work for a short time.
readonly SHORTLY=(--yes --ramp-up 0.2 --set warm_up_max_seconds=0 --set check=none)

fail() {
    echo "trials: $*" >&2
    exit 1
}

# Ends the check; the last line of its output says why.
skip() {
    echo "$*"
    exit "$STATUS_SKIPPED"
}

is_root() {
    [ "$(id -u)" -eq 0 ]
}

# One folder for everything, removed with all that was started in it.
begin_trials() {
    dbdyno=${DBDYNO:-$scripts/../bin/dbdyno}
    [ -x "$dbdyno" ] || fail "$dbdyno is not there; make it with \`make build\`, or name it in \$DBDYNO"
    dbdyno=$(readlink -f "$dbdyno")
    command -v python3 >/dev/null || fail "python3 is not installed, with which the trials read what dbdyno says"
    # /tmp may lie in memory, where nothing can be read past the page cache.
    work=$(mktemp -d "${TMPDIR:-/var/tmp}/dbdyno-trials.XXXXXX") || fail "${TMPDIR:-/var/tmp} cannot be written; set TMPDIR"
    # Servers run as another user where the trials run as root.
    chmod 711 "$work"
    touch "$work/spawned" "$work/servers" "$work/loops"
    export COLUMNS=120
    trap end_trials EXIT
    trap 'exit 130' INT TERM
}

end_trials() {
    end_spawned
    end_servers
    local loop
    while read -r loop; do
        losetup -d "$loop"
    done <"$work/loops"
    rm -rf "$work"
}

# end_process PID [SIGNAL]: ends it, also where it is stopped, and waits until it is gone.
end_process() {
    kill "-${2:-TERM}" "$1" 2>/dev/null || return 0
    kill -CONT "$1" 2>/dev/null
    local turn
    for turn in {1..300}; do
        is_running "$1" || return 0
        [ "$turn" -ne 200 ] || kill -KILL "$1" 2>/dev/null
        sleep 0.05
    done
}

# Whether a process is there and not merely waiting to be collected.
is_running() {
    # The first thread may be a zombie while others still hold the locks of the process.
    [ -e "/proc/$1" ] && ! { grep -q '^State:[[:space:]]*Z' "/proc/$1/status" && [ "$(ls "/proc/$1/task" | wc -l)" -le 1 ]; } 2>/dev/null
}

# spawn COMMAND…: begins it beside the check, with which it ends; its number is in $spawned.
spawn() {
    "$@" </dev/null &
    spawned=$!
    echo "$spawned" >>"$work/spawned"
}

end_spawned() {
    local pid
    while read -r pid; do
        end_process "$pid"
    done <"$work/spawned"
    : >"$work/spawned"
}

# until_true SECONDS COMMAND…: waits for what the check itself has brought about.
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || {
            echo "this never became true: $*"
            tail -n 5 spawned.log 2>/dev/null || true
            return 1
        }
        sleep 0.05
    done
}

# ------------------------------------------------------------------------------------------------ dbdyno

# D ARGUMENT…: runs dbdyno with the check's archive; its status is in $status, what it said in the files out and err.
D() {
    status=0
    echo "+ dbdyno $*"
    "$dbdyno" --archive "$here/archive.dbdyno" "$@" >"$here/out" 2>"$here/err" </dev/null || status=$?
}

# ends STATUS ARGUMENT…: runs dbdyno, which must end so.
ends() {
    local expected=$1
    shift
    D "$@"
    [ "$status" -eq "$expected" ] || wrong "it ended with $status, not $expected"
}

# measures STATUS ARGUMENT…: the same for what measures, however busy the machine is.
measures() {
    ends "$@" "${ON_ANY_MACHINE[@]}"
}

# begins ARGUMENT…: begins dbdyno beside the check; what it says stands in the file spawned.log.
begins() {
    echo "+ dbdyno $* &"
    spawn "$dbdyno" --archive "$here/archive.dbdyno" "$@" >"$here/spawned.log" 2>&1
}

# has_ended STATUS: waits for the end of what was begun, which must be that.
has_ended() {
    status=0
    wait "$spawned" || status=$?
    [ "$status" -eq "$1" ] || wrong "it ended with $status, not $1: $(tail -n 5 "$here/spawned.log")"
}

wrong() {
    echo "WRONG: $*"
    echo "--- out" && tail -n 12 "$here/out" | cut -c1-600
    echo "--- err" && tail -n 12 "$here/err" | cut -c1-600
    exit 1
}

# says TEXT…: each stands in what dbdyno said last.
says() {
    local text
    for text in "$@"; do
        cat "$here/out" "$here/err" | tr -d '\r' | grep -qF -e "$text" || wrong "it does not say \"$text\""
    done
}

says_not() {
    local text
    for text in "$@"; do
        ! cat "$here/out" "$here/err" | grep -qF -e "$text" || wrong "it says \"$text\""
    done
}

# holds EXPRESSION…: each is true of the JSON that was printed last, in Python: d is all of it, and see below.
holds() {
    python3 - "$here/out" "$@" <<'PYTHON' || wrong "that is not so"
import json, sys

d = json.load(open(sys.argv[1]))

def table(name):
    return next(t for t in d["tables"] if t["table"].split(".", 1)[-1] == name or t["table"] == name)

def rows():
    return {t["table"].split(".", 1)[-1]: t["rows"] for t in d["tables"]}

def points(test):
    return [p for p in d["points"] if p["test"] == test]

def of_all(key):
    return " ".join(str(p[key]) for p in d["points"])

def level(name):
    return next(l for l in d["levels"] if l["level"] == name)["memory_bytes"]

for expression in sys.argv[2:]:
    if not eval(expression):
        for point in d.get("points", []):
            print(point["test"], point["reasons"], point["notes"])
        sys.exit("not so: " + expression)
PYTHON
}

# value EXPRESSION: one of the JSON that was printed last.
value() {
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$here/out" "$1"
}

# exports [RUN]: prints a run as JSON, for `holds`.
exports() {
    ends 0 report "${1:-last}" --format json
}

# page [ARGUMENT…]: writes the page of a run (else the last), for `shows`.
page() {
    [ $# -gt 0 ] || set -- last
    ends 0 report "$@" -o "$here/page.html"
}

shows() {
    local text
    for text in "$@"; do
        grep -qF -e "$text" "$here/page.html" || wrong "the page does not show \"$text\""
    done
}

# ------------------------------------------------------------------------------------------------ files and devices

# sqlite FILE SQL: carries out a script in a file, which is made where it is not there; prints the last query's rows.
sqlite() {
    python3 - "$1" "$2" <<'PYTHON'
import sqlite3, sys

file = sqlite3.connect(sys.argv[1], isolation_level=None)
statement = ""
for part in sys.argv[2].split(";"):
    statement += part
    if sqlite3.complete_statement(statement + ";"):
        for row in file.execute(statement):
            print(*row, sep="|")
        statement = ""
    else:
        statement += ";"
PYTHON
}

# duckdb FILE SQL: the same through DuckDB's own library.
duckdb() {
    local library=${DBDYNO_DUCKDB_LIB:-}
    [ -n "$library" ] || library=$(find "${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/duckdb" -name 'libduckdb.so' 2>/dev/null | sort | tail -n 1)
    [ -n "$library" ] || skip "DuckDB's library is not there; scripts/get-duckdb.sh gets it"
    python3 - "$library" "$1" "$2" <<'PYTHON'
import ctypes, sys

library = ctypes.CDLL(sys.argv[1])
database, connection, result = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.create_string_buffer(256)
assert library.duckdb_open(sys.argv[2].encode(), ctypes.byref(database)) == 0
assert library.duckdb_connect(database, ctypes.byref(connection)) == 0
library.duckdb_result_error.restype = ctypes.c_char_p
if library.duckdb_query(connection, sys.argv[3].encode(), ctypes.byref(result)) != 0:
    sys.exit(library.duckdb_result_error(ctypes.byref(result)).decode())
library.duckdb_destroy_result(ctypes.byref(result))
library.duckdb_disconnect(ctypes.byref(connection))
library.duckdb_close(ctypes.byref(database))
PYTHON
}

# numbers COUNT: a common table r(n) of SQL, from 1.
numbers() {
    echo "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < $1)"
}

# loop_device BYTES: a block device of the check's own, in $loop.
loop_device() {
    is_root || skip "loop devices need root"
    command -v losetup >/dev/null || skip "losetup is not installed"
    truncate -s "$1" "$here/device.img"
    loop=$(losetup --find --show "${@:2}" "$here/device.img" 2>&1) || skip "no loop device can be made here: $loop"
    echo "$loop" >>"$work/loops"
}
