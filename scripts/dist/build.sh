#!/bin/sh
# Builds the command against an old glibc and checks what it needs of a machine.
set -eu
. scripts/dist/common.sh

PATH=$tools/bin:$PATH cargo zigbuild --profile dist --locked --package dbdyno --features oracle --target "$target.$glibc"

# Oracle's driver brings its own TLS library; compressed, the command is a third.
bytes_max=30000000
bytes=$(stat -c %s "$built")
[ "$bytes" -le "$bytes_max" ] || fail "the command has $bytes bytes, more than $bytes_max"
needed=$(LC_ALL=C readelf --dynamic "$built" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
# All of these are part of glibc.
others=$(echo "$needed" | tr ' ' '\n' | grep -vE '^((libc|libm|libdl|librt|libpthread|ld-linux-x86-64)\.so.*)?$' || :)
[ -z "$others" ] || fail "the command needs $others"
newest=$(objdump --dynamic-syms "$built" | grep -o 'GLIBC_[0-9.]*' | sort --unique --version-sort | tail -n 1)
[ "$(printf '%s\n' "$newest" "GLIBC_$glibc" | sort --version-sort | tail -n 1)" = "GLIBC_$glibc" ] ||
    fail "the command needs $newest, newer than GLIBC_$glibc"
say "the command has $bytes bytes and needs $newest in ${needed% }"
