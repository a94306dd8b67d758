#!/bin/sh
# Checks that everything compiles with the oldest Rust that Cargo.toml promises, in that very version.
set -eu
cd "$(dirname "$0")/.."

oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
is_oldest() { "$@" --version 2>/dev/null | grep -q "^rustc $oldest\."; }
if is_oldest rustc; then
    cargo=cargo
elif command -v rustup >/dev/null && is_oldest rustup run "$oldest" rustc; then
    cargo="rustup run $oldest cargo"
else
    echo "oldest-rust: Cargo.toml promises Rust $oldest, which is not here ($(rustc --version)); get it with: rustup toolchain install $oldest" >&2
    exit 1
fi
$cargo check --release --locked --workspace --features dbdyno/oracle,engines/oracle --all-targets
echo "oldest-rust: compiles with Rust $oldest"
