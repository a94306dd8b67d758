#!/bin/sh
# Checks the dependencies with cargo-deny: licences, sources, wildcards, and known vulnerabilities where their list can be had.
# Gets cargo-deny from crates.io into the user's cache the first time, which takes minutes.
set -eu
cd "$(dirname "$0")/.."

version=0.20.2
tools=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/tools
deny=$tools/bin/cargo-deny
if ! "$deny" --version 2>/dev/null | grep -qx "cargo-deny $version"; then
    echo "audit: building cargo-deny $version" >&2
    CARGO_TARGET_DIR=$tools/target cargo install --quiet --locked --root "$tools" --version "$version" cargo-deny
    rm -rf "$tools/target"
fi

"$deny" --locked check licenses bans sources
if "$deny" --locked fetch db >/dev/null 2>&1; then
    "$deny" --locked check advisories
else
    echo "audit: known vulnerabilities were NOT checked: https://github.com/rustsec/advisory-db cannot be reached" >&2
fi
