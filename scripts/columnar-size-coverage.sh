#!/bin/sh
# How often what `dbdyno data estimate` predicts is true: TRIALS seeded trials on each kind of data, at all levels, each held
# against a real lift, and three on each of fifty tables of other shapes. Prints the errors for docs/EVIDENCE.md, and fails
# where fewer than 19 of 20 intervals hold the truth or, of the named kinds, an estimate is off by more than a tenth. Takes
# an hour on two cores; SCALE 0 leaves the analytical workload out.
#
#   scripts/columnar-size-coverage.sh [TRIALS] [ROWS] [SCALE]
set -eu
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/target}"
export DBDYNO_SIZE_COVERAGE="${1:-20},${2:-1000000},${3:-0.1}"
exec cargo test --release --locked --quiet --package workloads --test columnar_size -- --nocapture predictions_are_true
