#!/bin/sh
# Gets the ssh server that the tests log on to, with the client. Does nothing when both are there.
#
# The server's packages are unpacked into the user's cache, not installed: installing one would open a
# port of this machine to the network. The tests start it themselves, as an ordinary user on a port of
# the loopback interface, with keys and a configuration of their own.
set -eu

fail() {
    echo "get-sshd: $*" >&2
    exit 1
}

parent=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/sshd
PATH=$PATH:/usr/sbin:/sbin
by_hand="install OpenSSH's client and server (on Debian: apt-get install openssh-client openssh-server)"

command -v ssh >/dev/null && command -v ssh-keygen >/dev/null || fail "there is no ssh client; $by_hand"
command -v sshd >/dev/null && exit 0
[ -x "$parent/usr/sbin/sshd" ] && exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || fail "there is no sshd and no apt-get; $by_hand"

mkdir -p "${parent%/*}" || fail "${parent%/*} cannot be created; make it writable or set XDG_CACHE_HOME"
# In the same folder, so that the last step is a rename within one file system.
work=$(mktemp -d "${parent%/*}/.get.XXXXXX") || fail "${parent%/*} cannot be written; make it writable or set XDG_CACHE_HOME"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
mkdir "$work/tree"
echo "get-sshd: fetching openssh-server" >&2
# The second is the one library of the server that machines without one lack.
(cd "$work" && apt-get download openssh-server libwrap0) >"$work/log" 2>&1 ||
    fail "apt-get could not fetch it ($(tail -n 1 "$work/log")); $by_hand"
for package in "$work"/*.deb; do
    dpkg-deb -x "$package" "$work/tree" || fail "$package cannot be unpacked"
done
rm -rf "$parent"
mv "$work/tree" "$parent"
for library in "$parent"/usr/lib/*-linux-*/; do
    LD_LIBRARY_PATH=$library "$parent/usr/sbin/sshd" -V >"$work/log" 2>&1 || true
done
# Before version 9.6 there is no -V; the line of its version is printed with the error all the same.
grep -q OpenSSH "$work/log" || { rm -rf "$parent"; fail "the unpacked sshd does not run ($(tail -n 1 "$work/log")); $by_hand"; }
echo "get-sshd: sshd is in $parent" >&2
