#!/bin/sh
# Gets Chromium, with which the tests look at the report. Does nothing when it is there, or when
# $CHROMIUM names another one.
set -eu
. "$(dirname "$0")/packages.sh"

browser=${CHROMIUM:-/usr/bin/chromium}
[ -x "$browser" ] && exit 0
[ -z "${CHROMIUM:-}" ] || fail "\$CHROMIUM names $browser, which is not a program; correct it or unset it"

by_hand="install Chromium (on Debian: apt-get install chromium), or name another one in \$CHROMIUM"
make_work "${TMPDIR:-/tmp}"
install_packages Chromium "$by_hand" chromium ||
    fail "apt-get could not install it ($(tail -n 1 "$work/log")); $by_hand"
[ -x "$browser" ] || fail "apt-get installed chromium, but $browser is not there; $by_hand"
