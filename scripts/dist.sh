#!/bin/sh
# Makes the packages of the command in dist/ (tarball, .deb, .rpm and Python wheel, and DuckDB's library as a second package of each)
# and tries each in a root that holds only what the package needs. Linux on x86-64; the trials need root and Debian's tools.
#
#   scripts/dist.sh [COMMAND]      COMMAND: package this executable instead of building one
set -eu
cd "$(dirname "$0")/.."
. scripts/dist/common.sh

[ "$(uname -sm)" = "Linux x86_64" ] || fail "packages are made on Linux on x86-64, not on $(uname -sm)"
grep -q "dbdyno_${version}_amd64.deb" docs/INSTALL.md || fail "docs/INSTALL.md names another version than $version; correct it"
seconds=$(date +%s)
timed() {
    "$@"
    now=$(date +%s)
    say "$(basename "$1" .sh): $((now - seconds)) s"
    seconds=$now
}

timed scripts/dist/tools.sh
if [ $# = 0 ]; then
    timed scripts/dist/build.sh
    set -- "$built"
fi
timed scripts/docs.sh
timed scripts/get-duckdb.sh
timed scripts/dist/pack.sh "$1"
timed scripts/dist/try.sh
du -h --apparent-size dist/* >&2
