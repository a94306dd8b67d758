#!/bin/sh
# Gets the ssh server that the tests log on to, with the client. Does nothing when both are there.
#
# The server's packages are unpacked into the user's cache, not installed: installing one would open a
# port of this machine to the network. The tests start it themselves, as an ordinary user on a port of
# the loopback interface, with keys and a configuration of their own.
set -eu
. "$(dirname "$0")/packages.sh"

parent=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/sshd
PATH=$PATH:/usr/sbin:/sbin
by_hand="install OpenSSH's client and server (on Debian: apt-get install openssh-client openssh-server)"

command -v ssh >/dev/null && command -v ssh-keygen >/dev/null || fail "there is no ssh client; $by_hand"
command -v sshd >/dev/null && exit 0
[ -x "$parent/usr/sbin/sshd" ] && exit 0

make_work "${parent%/*}"
unpack_packages "the ssh server" "$by_hand" openssh-server
rm -rf "$parent"
mv "$work/tree" "$parent"
for library in "$parent"/usr/lib/*-linux-*/; do
    LD_LIBRARY_PATH=$library "$parent/usr/sbin/sshd" -V >"$work/log" 2>&1 || true
done
# Before version 9.6 there is no -V; the line of its version is printed with the error all the same.
grep -q OpenSSH "$work/log" || { rm -rf "$parent"; fail "the unpacked sshd does not run ($(tail -n 1 "$work/log")); $by_hand"; }
say "sshd is in $parent"
