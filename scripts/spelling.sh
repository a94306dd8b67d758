#!/bin/sh
# Checks the spelling of all documents, plans, layouts and help texts (typos.toml). Gets the program from PyPI into the
# user's cache, checked against the digest pinned here; nothing is installed.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh

version=1.52.0
sha256=418fd85f7fc11dec14e5482e747f6e916af56da96207cde0cdd69540a4b389f6
tools=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/tools
typos=$tools/typos-$version

skip() {
    say "skipped: $*"
    exit 0
}

if [ ! -x "$typos" ]; then
    [ "$(uname -sm)" = "Linux x86_64" ] || skip "its package is for Linux on x86-64"
    command -v python3 >/dev/null || skip "it is fetched by Python's pip, and python3 is not installed"
    make_work "$tools"
    echo "typos==$version --hash=sha256:$sha256" >"$work/wanted"
    say "fetching typos $version"
    python3 -m pip download --quiet --no-deps --only-binary=:all: --require-hashes \
        --dest "$work" --requirement "$work/wanted" >"$work/log" 2>&1 ||
        skip "pip could not fetch typos $version ($(tail -n 1 "$work/log" | cut -c1-200)); check the network and PyPI"
    python3 -m zipfile --extract "$work"/typos-*.whl "$work/package"
    chmod +x "$work/package/typos-$version.data/scripts/typos"
    mv "$work/package/typos-$version.data/scripts/typos" "$typos"
fi

# shellcheck disable=SC2046 # names without spaces
"$typos" --config typos.toml --format brief \
    $(git ls-files '*.md' docs plans layouts 'crates/dbdyno/tests/snapshots/verbs__*.snap' | grep -v '\.png$')
