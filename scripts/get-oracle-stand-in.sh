#!/bin/sh
# Gets the stand-in for Oracle that the tests start (scripts/oracle-stand-in.py): PyPI's seerdb, which speaks Oracle's wire
# protocol, in front of PostgreSQL 18 with orafce, which come from Debian's unstable suite with their own C library. It is not
# Oracle: it shows that protocol, statements and errors are right, and nothing about Oracle's speed or plans.
#
# Does nothing when it is in the user's cache. That suite moves: if a package cannot be had, or the whole does not start, the reason
# is written to `missing` there, and the tests that need it are skipped with it. Nothing else depends on it.
set -eu
cd "$(dirname "$0")"
. ./packages.sh

parent=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/oracle-stand-in
release=3.3.0

fail() {
    mkdir -p "$parent"
    echo "$*" >"$parent/missing"
    say "$*; the tests on Oracle's protocol will be skipped"
    exit 0
}

# The programs are started through the suite's loader by its name, so that the tree can be moved.
get_postgres() {
    unpack_suite sid postgresql-18 postgresql-18-orafce
    programs=$work/tree/usr/lib/postgresql/18/bin
    mkdir "$work/$release/postgres"
    for name in postgres initdb; do
        mv "$programs/$name" "$programs/$name.elf"
        cat >"$programs/$name" <<'LOADER'
#!/bin/sh
name=$(readlink -f "$0")
usr=${name%/lib/postgresql/*}
libraries=$(echo "$usr"/lib/*-linux-gnu)
exec "$libraries"/ld-linux-*.so.? --library-path "$libraries" "$name.elf" "$@"
LOADER
        chmod 755 "$programs/$name"
    done
    rm -rf "$work/tree/usr/share/doc" "$work/tree/usr/share/locale" "$work/tree/usr/share/man" "$work/tree/usr/lib/postgresql/18/lib/bitcode"
    mv "$work/tree/usr" "$work/$release/postgres/usr"
    found="PostgreSQL $(unpacked_version postgresql-18) with orafce $(unpacked_version postgresql-18-orafce)"
}

get_seerdb() {
    command -v python3 >/dev/null || fail "python3 is not installed, and seerdb is written in it"
    # Of the extra `mirror`; without pyarrow, which its client alone uses.
    cat >"$work/wanted" <<'WANTED'
seerdb==3.3.0 --hash=sha256:c05328728c252fa131d53bbc58a7ebe02db6baf1f401636054fc1c4cfea0db75
tzdata==2026.6 --hash=sha256:0a10eec6e13ef16b627fabed9a5f2ba61a62b1c67f327305f4e7e412a70b4aec
psycopg==3.3.9 --hash=sha256:d2d7d04a1ce6dab4f5b27316bea3b52585cafa2f2d631e5b09dd69823f5c26f6
pycryptodome==4.4.0 --hash=sha256:33e69ac53f745e5d1c8f06dc9b0d43a8236d2026f6de7a19e1a160aa307d933b --hash=sha256:32c1a3d98c93d92c2f2a45d6cc9c79fb8d7552aca1bd9a764209a3309bf6a7b1
psycopg-binary==3.3.9 --hash=sha256:b36b1f1488843301af90a25b135dd4373a9835c4df185e564f14e6565220c353 --hash=sha256:fc256b0baa9786b732bf824dde7bf4bb16ab36642913c342d955c57b7b7e8c24 --hash=sha256:0953c1b94c73f97efce5b8fb1dad85cf5e4085b94902e439e27e6805ebc8be99 --hash=sha256:9f6f4108a2e1d55303dfbb41d0f3b16a0aac95232a24ac8eb3df03f56fcb83aa --hash=sha256:a99f0b9a19ed7a56bf5d6776456b8f15f5364db8853b0f5d184db394a45c391d --hash=sha256:b081348d8992af26e9b252f04876c286428418a6b7845d8d4caae2044b259668 --hash=sha256:180e4a99904d7a77f826fbb6dd16834bb3313675d8a6f055e39742fda00c33dc --hash=sha256:366e2021a785afed9154f83f64793f662348a9ef244fef9779175c0906e8aacc --hash=sha256:4992acd5a7479013d52615b8c23fdce9bc22f3cacbfb1007fa474e6b5ebe94c7 --hash=sha256:eed1ac135d652e4454777afb4e4bb52cf88520bbfa2f30ae83066cd4df656697
WANTED
    say "fetching seerdb $release"
    python3 -m pip install --quiet --root-user-action=ignore --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes --no-compile --target "$work/$release/packages" \
        --requirement "$work/wanted" >"$work/log" 2>&1 ||
        fail "pip could not fetch seerdb $release with what it needs ($(grep -m 1 ERROR "$work/log" | cut -c1-200)); check the network and PyPI"
    # The packages are for this Python; one on $PATH may be a script that chooses another.
    ln -s "$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')" "$work/$release/python3"
}

[ -e "$parent/$release/works" ] && exit 0
make_work "$parent"
rm -rf "${parent:?}/$release"
mkdir "$work/$release"
get_postgres
get_seerdb
mv "$work/$release" "$parent/$release"
"$parent/$release/python3" ./oracle-stand-in.py --until-eof </dev/null >/dev/null 2>"$work/log" ||
    fail "seerdb $release in front of $found does not start ($(tail -n 1 "$work/log" | cut -c1-200))"
echo "seerdb $release in front of $found" >"$parent/$release/works"
rm -f "$parent/missing"
say "the stand-in for Oracle, $(cat "$parent/$release/works"), is in $parent/$release"
