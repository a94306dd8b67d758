#!/bin/sh
# Kills dbdyno with `kill -9` at N random moments of a run and resumes each.
#
#   scripts/kill-test.sh [N]      default 50
set -eu
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/target}"
DBDYNO_KILLS=${1:-50} exec cargo test --release --locked --package dbdyno --test kill -- --nocapture
