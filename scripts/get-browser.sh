#!/bin/sh
# Gets Chromium, with which the tests look at the report. Does nothing when it is there, or when
# $CHROMIUM names another one.
set -eu

fail() {
    echo "get-browser: $*" >&2
    exit 1
}

browser=${CHROMIUM:-/usr/bin/chromium}
[ -x "$browser" ] && exit 0
[ -z "${CHROMIUM:-}" ] || fail "\$CHROMIUM names $browser, which is not a program; correct it or unset it"

by_hand="install Chromium (on Debian: apt-get install chromium), or name another one in \$CHROMIUM"
command -v apt-get >/dev/null || fail "there is no Chromium and no apt-get; $by_hand"
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    fail "there is no Chromium, and installing it needs root or sudo without a password; $by_hand"
fi

echo "get-browser: installing Chromium with apt-get" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium >"$log" 2>&1
}
# The package lists of a fresh machine may be missing or out of date.
install || { $as_root apt-get update >"$log" 2>&1 && install; } ||
    fail "apt-get could not install it ($(tail -n 1 "$log")); $by_hand"
[ -x "$browser" ] || fail "apt-get installed chromium, but $browser is not there; $by_hand"
