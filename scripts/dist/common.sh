# What the parts of scripts/dist.sh share. Sourced by them, after `set -eu`, in the root of the repository.

. scripts/packages.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno
tools=$cache/zig
# RHEL 7 and Debian 8 have this one; pip before version 20.3 knows no later tag of a wheel than that of 2.17.
glibc=2.17
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$cache/target}"
target=x86_64-unknown-linux-gnu
built=$CARGO_TARGET_DIR/$target/dist/dbdyno
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
# That of linux-x64 comes first.
duckdb_version=$(sed -n "s/^ *version=\([0-9.]*\) .*/\1/p" scripts/get-duckdb.sh | head -n 1)
