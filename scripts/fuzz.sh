#!/bin/sh
# Hostile input for SECONDS: both protocols from the server's side, COPY, archives, histograms, plans, parameter files of
# vdbench, copied /proc trees. The cases are others each time; one that fails is named with its seed.
#
#   scripts/fuzz.sh [SECONDS]      default 60
set -eu
cd "$(dirname "$0")/.."
export DBDYNO_FUZZ_SECONDS="${1:-60}"
# All at once, each on a thread of its own, so that they end together.
export RUST_TEST_THREADS=16
exec scripts/run-tests.sh --only hostile:: --jobs 16
