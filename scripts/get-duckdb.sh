#!/bin/sh
# Gets DuckDB's official library into the user's cache, where dbdyno looks for it.
#
#   scripts/get-duckdb.sh [PLATFORM]      PLATFORM: linux-x64, linux-arm64, darwin-arm64, darwin-x64
#
# It comes from the npm package that DuckDB publishes with its own library inside, checked against
# the digest pinned here. Does nothing when the library is there. The versions are those of
# VERSION_TESTED in crates/engines/duckdb/src/lib.rs.
set -eu
. "$(dirname "$0")/packages.sh"

this_platform() {
    case "$(uname -s)-$(uname -m)" in
        Linux-x86_64) echo linux-x64 ;;
        Linux-aarch64) echo linux-arm64 ;;
        Darwin-arm64) echo darwin-arm64 ;;
        Darwin-x86_64) echo darwin-x64 ;;
        *) fail "there is no package for $(uname -s) on $(uname -m); set DBDYNO_DUCKDB_LIB to a library of your own" ;;
    esac
}

platform=${1:-$(this_platform)}
case $platform in
    linux-x64)
        version=1.5.6 release=1.5.6-r.1 file=libduckdb.so
        sha512=IXcrZJE6kEqM0Z4wwdVnGBHX/frOS33VPNAwDXQ/Q+Fs84b058Qe94chrCCIcNJlG8Y3UHIUU4eBeCQxW5mN1Q==
        ;;
    linux-arm64)
        version=1.5.5 release=1.5.5-r.5 file=libduckdb.so
        sha512=CafH2AIvXtpwDynG3KB/4uEOHRGlFoB7auCRMIwH3BKNIobsANV5LSpDJ3tfyRCFIsK6e8AT1eseWVnu2Dv3cw==
        ;;
    darwin-arm64)
        version=1.5.5 release=1.5.5-r.5 file=libduckdb.dylib
        sha512=WJdeLTFy4pRg60rkbp9smtlP1iIQ8ErtIJkxS+2LQtM1ZZMSByyW+3WPpNoKe7IwPtVl2fLlPw7tDmQW4Z974g==
        ;;
    darwin-x64)
        version=1.5.5 release=1.5.5-r.5 file=libduckdb.dylib
        sha512=rN0KjX13MwVQ5V5ufykolty/tf4SaafOpGWcUA1Cegf98jPeRdsJsEE1IMXn8n3u6WvMSZEVJmHJ3ma4Hr7Vzg==
        ;;
    *) fail "there is no platform \"$platform\"; it is linux-x64, linux-arm64, darwin-arm64 or darwin-x64" ;;
esac

folder=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/duckdb/$version
[ -f "$folder/$file" ] && exit 0

command -v npm >/dev/null || fail "npm is not installed; install it, or set DBDYNO_DUCKDB_LIB to a $file of version $version"
make_work "$folder"

package=@duckdb/node-bindings-$platform@$release
say "fetching $package"
npm pack --loglevel=error --pack-destination "$work" "$package" >"$work/npm.log" 2>&1 ||
    fail "npm could not fetch $package ($(sed 's/^npm error //' "$work/npm.log" | tr '\n' ' ' | cut -c1-200)); check the network and npm's registry"
archive=$(echo "$work"/*.tgz)

# npm brings node, and not every system has a sha512sum.
found=$(node -e 'const h = require("crypto").createHash("sha512");
    h.update(require("fs").readFileSync(process.argv[1])); console.log(h.digest("base64"))' "$archive") ||
    fail "the digest of $package cannot be computed; node does not run"
[ "$found" = "$sha512" ] || fail "$package is not what it was: its sha512 is $found, not $sha512; nothing was installed"

tar -xzf "$archive" -C "$work" "package/$file" || fail "$package holds no $file; nothing was installed"
mv "$work/package/$file" "$folder/$file"
say "DuckDB $version is in $folder"
