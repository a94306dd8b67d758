#!/bin/sh
# Installs each package of dist/ in a root that holds only what the package needs, and measures there without network.
#
#   scripts/dist/try.sh [tarball|deb|rpm|wheel|container …]
set -eu
. scripts/dist/common.sh

[ "$(id -u)" -eq 0 ] || fail "the packages are in dist/ and were not tried, because that needs root"
make_work "$cache"

in_root() { # ROOT COMMAND...
    root=$1
    shift
    bwrap --unshare-all --die-with-parent --bind "$root" / --proc /proc --dev /dev --ro-bind /sys /sys --tmpfs /tmp \
        --clearenv --setenv HOME /root --setenv PATH /usr/local/bin:/usr/bin:/bin --chdir /root "$@"
}

# A run whose gates failed (3) has a page too.
measure() { # ROOT COMMAND PACKAGE [PLAN]
    mkdir -p "$1/root"
    # shellcheck disable=SC2086 # no plan is the default
    in_root "$1" "$2" run ${4-smoke} --demo --yes >"$work/log" 2>&1 || [ $? = 3 ] || fail "$3: $(tail -n 5 "$work/log")"
    page=$(sed -n 's/^Page: //p' "$work/log")
    (cd "$1/root" && grep -q '</html>' "${page#/root/}") || fail "$3: the run gave no page: $(tail -n 5 "$work/log")"
    in_root "$1" "$2" check duckdb: >"$work/log" 2>&1 || fail "$3: DuckDB does not run: $(tail -n 5 "$work/log")"
    say "$3: measured and wrote its page, with $(find "$1" -xdev -type f | wc -l) files in the root"
}

# After an uninstallation only what the user measured is left.
is_gone() { # ROOT PACKAGES
    left=$(find "$1" -xdev -path "$1/root" -prune -o -path "$1/dist" -prune -o -name '*dbdyno*' -print | head -n 3)
    [ -z "$left" ] || fail "$2: the uninstallation left $left"
}

unpack_packages "Debian's C library" "try the packages on Debian" libc6 libgcc-s1 libstdc++6
libc=$work/tree

try_tarball() {
    cp -a "$libc" "$work/tarball"
    mkdir "$work/tarball/opt"
    for archive in dist/*.tar.gz; do tar -C "$work/tarball/opt" --no-same-owner -xzf "$archive"; done
    measure "$work/tarball" "/opt/dbdyno-$version-x86_64-linux/bin/dbdyno" tarball
}

try_deb() {
    cp -a "$libc" "$work/deb"
    mkdir -p "$work/deb/var/lib/dpkg/info" "$work/deb/var/lib/dpkg/updates"
    for package in "$work"/packages/*.deb; do
        dpkg-deb --field "$package"
        echo "Status: install ok installed"
        echo
    done >"$work/deb/var/lib/dpkg/status"
    dpkg --root="$work/deb" --install dist/*.deb >"$work/log" 2>&1 || fail ".deb: $(tail -n 5 "$work/log")"
    measure "$work/deb" dbdyno .deb
    dpkg --root="$work/deb" --purge dbdyno dbdyno-duckdb >"$work/log" 2>&1 || fail ".deb: $(tail -n 5 "$work/log")"
    sed -i '/^$/d' "$work/deb/var/lib/dpkg/status"
    is_gone "$work/deb" .deb
}

# rpm resolves against a package that holds Debian's C library under the names that rpm finds in it.
try_rpm() {
    printf '%s\n' "Name: libc" "Version: 1" "Release: 1" "Summary: C library" "License: LGPL" "Provides: rtld(GNU_HASH)" \
        "%description" "C library." "%install" "mkdir -p %{buildroot}" "cp -a $libc/. %{buildroot}" "%files" "/*" >"$work/libc.spec"
    rpmbuild -bb --quiet --target x86_64-linux --define "_topdir $work/rpm" --define "_rpmdir $work" \
        --define "_rpmfilename libc.rpm" --define "__os_install_post %{nil}" --define "debug_package %{nil}" \
        --define "_build_id_links none" "$work/libc.spec" >"$work/log" 2>&1 || fail "rpmbuild: $(tail -n 5 "$work/log")"
    mkdir "$work/root-rpm"
    rpm --root "$work/root-rpm" --install "$work/libc.rpm" dist/*.rpm >"$work/log" 2>&1 || fail ".rpm: $(tail -n 5 "$work/log")"
    measure "$work/root-rpm" dbdyno .rpm
    rpm --root "$work/root-rpm" --erase dbdyno dbdyno-duckdb >"$work/log" 2>&1 || fail ".rpm: $(tail -n 5 "$work/log")"
    is_gone "$work/root-rpm" .rpm
}

python_root() {
    [ -f "$cache/dist-root.tar" ] || {
        say "making a root with Python"
        mmdebstrap --quiet --variant=essential --include=python3-venv,libstdc++6 bookworm "$work/root.tar" >"$work/log" 2>&1 ||
            fail "mmdebstrap: $(tail -n 3 "$work/log")"
        mv "$work/root.tar" "$cache/dist-root.tar"
    }
    mkdir "$1"
    tar -C "$1" -xf "$cache/dist-root.tar"
}

try_wheel() {
    root=$work/wheel
    python_root "$root"
    mkdir "$root/dist"
    cp dist/*.whl "$root/dist"
    in_root "$root" python3 -m venv /opt/venv
    in_root "$root" /opt/venv/bin/pip install --quiet --no-index --find-links /dist 'dbdyno[duckdb]' || fail "wheel: pip failed"
    measure "$root" /opt/venv/bin/dbdyno wheel ""
    in_root "$root" /opt/venv/bin/pip uninstall --quiet --yes dbdyno dbdyno-duckdb
    is_gone "$root" wheel
    for once in "uvx" "pipx run"; do
        # shellcheck disable=SC2086 # a command with its verb
        said=$(unshare --net env -i HOME="$work/home" PATH="$tools/bin:$PATH" UV_OFFLINE=1 UV_NO_INDEX=1 UV_FIND_LINKS="$PWD/dist" \
            $once dbdyno --version 2>"$work/log") || :
        [ "$said" = "dbdyno $version" ] || fail "$once: $said $(tail -n 5 "$work/log")"
    done
    say "wheel: uvx and pipx ran it"
}

try_container() {
    storage="--root $work/containers --runroot $work/run --storage-driver vfs"
    container() {
        # shellcheck disable=SC2086 # options
        unshare --net buildah $storage "$@" 2>>"$work/log" || fail "container: buildah $1: $(tail -n 3 "$work/log")"
    }
    base=$(container from scratch)
    container add --quiet "$base" "$cache/dist-root.tar" / >/dev/null
    container commit --quiet "$base" base >/dev/null
    container build --quiet --isolation chroot --pull-never --build-arg BASE=localhost/base --tag dbdyno \
        --file Containerfile dist >/dev/null
    image=$(container from --pull-never localhost/dbdyno)
    measure "$(container mount "$image")" dbdyno container
}

for package in ${*:-tarball deb rpm wheel container}; do "try_$package"; done
