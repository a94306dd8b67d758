#!/bin/sh
# Injects faults into runs: kills, power cuts, servers that hang, networks that lose everything, full and broken disks.
#
#   scripts/faults.sh [N]      N kills and N power cuts; default 300, where `make test` does a few
set -eu
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/target}"
export DBDYNO_KILLS="${1:-300}" DBDYNO_CUTS="${1:-300}"
cargo test --release --locked --package workloads --test oltp nothing_acknowledged -- --nocapture
exec cargo test --release --locked --package dbdyno --test kill --test hang --test faults -- --nocapture
