#!/bin/sh
# Builds the tests and runs them, several programs at once; ends with a line `N passed, N failed, N skipped`.
#
#   scripts/run-tests.sh [--unit] [--only NAME] [--times N] [--jobs N]
#
# --unit leaves out what needs a server, root, a network or a browser; --only takes tests whose names contain NAME; --times
# lists the slowest tests. The output of each program is kept in target/tests of the folder of what is built.
set -eu
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/target}"
logs=$CARGO_TARGET_DIR/tests
mkdir -p "$logs"

which=
more=--examples
for argument in "$@"; do
    # Programs called `suite` need nothing but the machine; the others are named after what they need.
    [ "$argument" != --only ] || more=
    [ "$argument" != --unit ] || which="--lib --bins --test suite --test tidy" more=
done
# Loaded databases, their copies and files for I/O: some 5 GB were seen at once. Better said now than by whatever test is the
# first to find the disk full.
gigabytes=6
for directory in "${TMPDIR:-/tmp}" /var/tmp; do
    free=$(df --output=avail --block-size=1GB "$directory" | tail -n 1)
    [ -z "$more" ] || [ "$free" -ge "$gigabytes" ] || {
        echo "run-tests: $directory has $free GB free, and the tests need $gigabytes: make room" >&2
        exit 1
    }
done

# The same cases by chance in every run; another seed brings others.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-1}"
# shellcheck disable=SC2086 # lists of words, or nothing
cargo test --release --locked --workspace $which --no-run --message-format=json-render-diagnostics >"$logs/built.json"
# shellcheck disable=SC2086
exec "$CARGO_TARGET_DIR/release/run-tests" "$logs/built.json" --logs "$logs" $more "$@"
