# What the scripts get-*.sh share. Sourced by them, after `set -eu`.

program=${0##*/}
program=${program%.sh}

fail() {
    echo "$program: $*" >&2
    exit 1
}

say() {
    echo "$program: $*" >&2
}

# Makes the folder $work inside the folder $1, so that a last rename stays within one file system.
make_work() {
    mkdir -p "$1" || fail "$1 cannot be created; make it writable or set XDG_CACHE_HOME"
    work=$(mktemp -d "$1/.get.XXXXXX") || fail "$1 cannot be written; make it writable or set XDG_CACHE_HOME"
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
}

# How commands become root, as $as_root; fails where they cannot.
can_become_root() {
    if [ "$(id -u)" -eq 0 ]; then
        as_root=
    elif sudo -n true 2>/dev/null; then
        as_root="sudo -n"
    else
        return 1
    fi
}

apt_get() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get "$@" >"$work/log" 2>&1
}

# Runs a command that needs apt-get's package lists, which a fresh machine lacks or has out of date.
with_package_lists() {
    "$@" && return
    can_become_root || return
    apt_get update || return
    "$@"
}

# must_install WHAT BY_HAND: ends the script where nothing can be installed.
must_install() {
    command -v apt-get >/dev/null || fail "there is no $1 and no apt-get; $2"
    can_become_root || fail "there is no $1, and installing it needs root or sudo without a password; $2"
}

# install_packages WHAT BY_HAND PACKAGE...: installs them, or says how to get them by hand.
install_packages() {
    must_install "$1" "$2"
    what=$1
    shift 2
    say "installing $what with apt-get"
    with_package_lists apt_get install --yes --no-install-recommends "$@"
}

# unpack_packages WHAT BY_HAND PACKAGE...: unpacks the packages, with those they need and the system
# lacks, into $work/tree. Nothing is installed, so no service is started.
unpack_packages() {
    what=$1 by_hand=$2
    shift 2
    command -v apt-get >/dev/null || fail "there is no $what and no apt-get; $by_hand"
    say "fetching the packages of $what"
    with_package_lists download_packages "$@" ||
        fail "apt-get could not fetch the packages of $what ($(tail -n 1 "$work/log")); check the network and the package lists, or $by_hand"
    mkdir "$work/tree"
    for package in "$work"/packages/*.deb; do
        dpkg-deb --extract "$package" "$work/tree" || fail "$package cannot be unpacked"
    done
}

download_packages() {
    rm -rf "$work/packages"
    mkdir "$work/packages"
    # apt-get reads the packages as a user of its own.
    chmod 755 "$work" "$work/packages"
    as_root=
    apt_get install --simulate --no-install-recommends "$@" || return
    missing=$(sed -n 's/^Inst \([^ ]*\) .*/\1/p' "$work/log")
    # shellcheck disable=SC2086 # a list of packages
    (cd "$work/packages" && apt_get download "$@" $missing)
}

# unpack_suite SUITE PACKAGE...: unpacks packages of another of Debian's suites into $work/tree, with the libraries that they
# need and that suite's C library. apt-get works on lists of its own, so the system does not change; it checks the packages by
# Debian's signature.
unpack_suite() {
    suite=$1 keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    shift
    command -v apt-get >/dev/null && [ -r "$keyring" ] || fail "$1 comes from Debian's suite $suite, and there is no apt-get with Debian's keys"
    say "fetching $* of Debian's suite $suite"
    mkdir -p "$work/suite/lists/partial" "$work/suite/archives/partial" "$work/packages" "$work/tree"
    : >"$work/suite/installed"
    echo "deb [signed-by=$keyring] http://deb.debian.org/debian $suite main" >"$work/suite/sources"
    as_root=
    suite_apt_get update || fail "apt-get could not read the lists of Debian's suite $suite ($(tail -n 1 "$work/log")); check the network"
    suite_apt_get install --simulate --no-install-recommends "$@" ||
        fail "Debian's suite $suite has no $* that can be installed ($(tail -n 1 "$work/log"))"
    # Programs and services of the suite's own base system are left out: only libraries are missing here.
    libraries=$(sed -n 's/^Inst \([^ ]*\) .*/\1/p' "$work/log" | grep -E '^(lib|zlib1g)' | grep -vE '^lib(perl|systemd-shared|pam-modules|c-bin|c-l10n)|-perl$')
    # shellcheck disable=SC2086 # a list of packages
    (cd "$work/packages" && suite_apt_get download "$@" $libraries) ||
        fail "apt-get could not fetch $* of Debian's suite $suite ($(tail -n 1 "$work/log")); check the network"
    for package in "$work"/packages/*.deb; do
        dpkg-deb --extract "$package" "$work/tree" || fail "$package cannot be unpacked"
    done
}

suite_apt_get() {
    apt_get -o Dir::Etc::sourcelist="$work/suite/sources" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$work/suite/lists" \
        -o Dir::State::status="$work/suite/installed" -o Dir::Cache="$work/suite" -o APT::Sandbox::User="$(id -un)" "$@"
}

# The version of an unpacked package, without what Debian adds.
unpacked_version() {
    dpkg-deb --field "$work"/packages/"$1"_*.deb Version | sed 's/^[0-9]*://; s/[-+].*//'
}
