#!/bin/sh
# Checks that the command and the tests ask for the same features of every dependency, because cargo
# compiles a dependency again for every other set of features. What differs is added to the list in
# crates/workspace-hack/Cargo.toml.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Writes one line "NAME VERSION FEATURES" for each third-party dependency into a file.
dependencies() {
    file=$folder/$1
    shift
    cargo tree --locked --prefix none --no-dedupe --format '{p} {f}' "$@" >"$file.all"
    grep -v ' (/' "$file.all" | sed 's/ (\*)$//' | sort -u >"$file"
    [ -s "$file" ]
}

dependencies command --package dbdyno --features oracle --edges normal,build
dependencies tests --workspace --features dbdyno/oracle --edges normal,build,dev

# What only the command has is compiled a second time for the tests.
comm -23 "$folder/command" "$folder/tests" >"$folder/twice"
if [ -s "$folder/twice" ]; then
    echo "one-build: these are compiled once for the command and once more for the tests:" >&2
    cut -d' ' -f1 "$folder/twice" | sort -u | while read -r name; do
        grep -h "^$name " "$folder/twice" | sed 's/^/  command: /' >&2
        grep -h "^$name " "$folder/tests" | sed 's/^/  tests:   /' >&2
    done
    exit 1
fi
