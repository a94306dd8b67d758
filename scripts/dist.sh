#!/bin/sh
# Makes dist/dbdyno-VERSION-MACHINE.tar.gz: the command without debug information, its manual pages and completions, the documents,
# and the built-in tests, plans and references to read (the command has them in itself).
set -eu
cd "$(dirname "$0")/.."

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
name=dbdyno-$version-$(uname -m)-linux
cargo build --profile dist --locked --package dbdyno
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/$name
mkdir -p "$root/bin" "$root/share/completions" dist
cp "$CARGO_TARGET_DIR/dist/dbdyno" "$root/bin/"
"$root/bin/dbdyno" docs man "$root/share/man/man1"
for shell in bash zsh fish; do "$root/bin/dbdyno" docs completions $shell >"$root/share/completions/dbdyno.$shell"; done
cp -R README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE-APACHE LICENSE-MIT docs library plans reference "$root/"

bytes_max=20000000
bytes=$(stat -c %s "$root/bin/dbdyno")
[ "$bytes" -le "$bytes_max" ] || { echo "dist: the command has $bytes bytes, more than $bytes_max" >&2; exit 1; }
# Of a machine it needs the C library alone, and of a session nothing.
needed=$(LC_ALL=C readelf -d "$root/bin/dbdyno" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|libgcc_s|ld-linux-.*)\.so' || :)
[ -z "$needed" ] || { echo "dist: the command needs $needed" >&2; exit 1; }
(cd / && env -i PATH=/nonexistent HOME="$work/home" "$root/bin/dbdyno" run smoke --target sqlite: --yes >"$work/log" 2>&1) ||
    [ $? = 3 ] || { cat "$work/log" >&2; exit 1; }
tar -C "$work" --owner=0 --group=0 --sort=name -czf "dist/$name.tar.gz" "$name"
echo "dist/$name.tar.gz: $(stat -c %s "dist/$name.tar.gz") bytes, the command $bytes"
