#!/usr/bin/env bash
# Runs the suite N times beside two busy loops, and counts the failures of each test.
#
#   scripts/repeat-tests.sh [--quiet] [--sync-us US] N [ARGUMENT OF run-tests.sh]...
#
# --quiet is without the loops. --sync-us makes every sync of every process take US microseconds longer (5000: a slow
# disk), or, with 0, have no effect but on loop devices (a disk as fast as memory); it needs root and a C compiler. Ends
# with status 1 if any run failed. What the runs printed is kept in target/repeated of the folder of what is built.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
    echo "repeat-tests: $*" >&2
    exit 2
}

loops=2 sync_us=
while [[ ${1:-} == --* ]]; do
    case $1 in
        --quiet) loops=0 ;;
        --sync-us) sync_us=${2:?--sync-us needs a number} && shift ;;
        *) fail "there is no option $1" ;;
    esac
    shift
done
[[ ${1:-} =~ ^[1-9][0-9]*$ ]] || fail "say how often: scripts/repeat-tests.sh 10"
count=$1
shift

if [[ -n $sync_us && -z ${DBDYNO_SLOW_SYNC:-} ]]; then
    [[ $(id -u) == 0 ]] || fail "--sync-us needs root, because it reaches servers that run as other users"
    library=$(mktemp /tmp/slow-sync.XXXXXX)
    trap 'rm -f "$library" "$library.list"' EXIT
    cc -O2 -shared -fPIC -D"SYNC_US=$sync_us" -o "$library" scripts/slow-sync.c -ldl || fail "scripts/slow-sync.c cannot be compiled"
    chmod 755 "$library"
    { cat /etc/ld.so.preload 2>/dev/null || :; echo "$library"; } >"$library.list"
    chmod 644 "$library.list"
    options=()
    ((loops)) || options+=(--quiet)
    # The loader's own list, and not a variable, which servers do not inherit. It is bound in a mount namespace of this
    # run alone; a file to bind it over there may have to be made.
    [[ -e /etc/ld.so.preload ]] || : >>/etc/ld.so.preload
    DBDYNO_SLOW_SYNC=$library unshare --mount --propagation private \
        sh -c 'mount --bind "$1" /etc/ld.so.preload && shift && exec "$@"' sh "$library.list" \
        "$PWD/scripts/repeat-tests.sh" "${options[@]}" --sync-us "$sync_us" "$count" "$@"
    exit
fi

kept=${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/target}/repeated
rm -rf "$kept"
mkdir -p "$kept"
busy=()
# shellcheck disable=SC2317 # called by the trap
end_loops() {
    ((${#busy[@]} == 0)) || kill "${busy[@]}" 2>/dev/null || :
}
trap end_loops EXIT
for ((loop = 0; loop < loops; loop++)); do
    (while :; do :; done) &
    busy+=($!)
done

bad=0
for ((run = 1; run <= count; run++)); do
    begin=$SECONDS status=0
    scripts/run-tests.sh "$@" >"$kept/$run.log" 2>&1 || { status=$? && bad=$((bad + 1)); }
    echo "run $run of $count: status $status, $(tail -n 1 "$kept/$run.log") in $((SECONDS - begin)) s"
done
# The lists at the end of each run.
failures=$(awk '/^[a-z]+:$/ { in_list = $0 == "failed:"; next } /^  / && in_list { print } !/^  / { in_list = 0 }' "$kept"/*.log |
    sort | uniq -c | sort -rn)
[[ -z $failures ]] || printf 'failed, and how often:\n%s\n' "$failures"
echo "$((count - bad)) of $count runs passed"
((bad == 0))
