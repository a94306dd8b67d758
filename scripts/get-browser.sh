#!/bin/sh
# Gets Chromium, with which the tests look at the report: the build without windows, which draws the same pages in 0.7 instead of
# 1.8 s of a processor. Does nothing when it is there, or when $CHROMIUM names another one; the usual Chromium is as good
# where nothing can be installed.
set -eu
. "$(dirname "$0")/packages.sh"

shell=/usr/lib/chromium/chromium-headless-shell usual=/usr/bin/chromium
[ -x "${CHROMIUM:-$shell}" ] && exit 0
[ -z "${CHROMIUM:-}" ] || fail "\$CHROMIUM names $CHROMIUM, which is not a program; correct it or unset it"

by_hand="install Chromium (on Debian: apt-get install chromium-headless-shell), or name another one in \$CHROMIUM"
[ ! -x "$usual" ] || can_become_root || exit 0
make_work "${TMPDIR:-/tmp}"
install_packages Chromium "$by_hand" chromium-headless-shell && [ -x "$shell" ] && exit 0
[ -x "$usual" ] || fail "apt-get could not install it ($(tail -n 1 "$work/log")); $by_hand"
say "going on with $usual: apt-get could not install the build without windows ($(tail -n 1 "$work/log"))"
