#!/usr/bin/env bash
# What it costs to time the requests of a block device: the processor time of each request by the kernel's own clock, and that of
# the sampler with and without intervals. Writes blocks of 4 KiB past the page cache for SECONDS, TIMES times. As root.
#
#   bench/devices.sh [TIMES] [SECONDS] [FOLDER]      4 runs of 8 s in /var/tmp without arguments
set -euo pipefail
cd "$(dirname "$0")/.."
times=${1:-4} seconds=${2:-8} folder=$(mktemp -d "${3:-/var/tmp}/devices.XXXXXX")
trap 'rm -rf "$folder"' EXIT
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/target}"
cargo build --release --locked --quiet --package host --example device_times
for ((run = 1; run <= times; run++)); do
    "$CARGO_TARGET_DIR/release/examples/device_times" "$folder/blocks" "$seconds"
done
