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
cargo test --release --locked --workspace --features dbdyno/oracle,engines/oracle $which --no-run --message-format=json-render-diagnostics >"$logs/built.json"

# The tests make and remove some 100,000 files. Without a journal, ext4 looks at every inode of a group that was freed in the last
# minutes before it takes one, which is half of what it costs to start a server. Below a directory with this mark each directory
# begins in another group. The mark is taken away again; where it cannot be set, the tests take longer.
marked=
spread() {
    for directory in "$@"; do
        attributes=$(lsattr -d "$directory" 2>/dev/null | cut -d ' ' -f 1)
        case $attributes in
            '' | *T*) ;;
            *) chattr +T "$directory" 2>/dev/null && marked="$marked $directory" || : ;;
        esac
    done
}
# shellcheck disable=SC2086
trap '[ -z "$marked" ] || chattr -T $marked' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
spread "${TMPDIR:-/tmp}" /var/tmp
# shellcheck disable=SC2086
"$CARGO_TARGET_DIR/release/run-tests" "$logs/built.json" --logs "$logs" $more "$@"
