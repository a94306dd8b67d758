#!/bin/sh
# Gets what packages are built and tried with: zig from PyPI as the linker for an old glibc, and Debian's tools.
set -eu
. scripts/dist/common.sh

wanted="auditwheel==6.8.2 cargo-zigbuild==0.24.1 pipx==1.18.4 uv==0.13.9 wheel==0.48.0 ziglang==0.17.1"
make_work "$cache"
if [ "$(cat "$tools/wanted" 2>/dev/null)" != "$wanted" ]; then
    say "fetching $wanted"
    python3 -m venv --clear "$tools" || fail "python3 makes no virtual environment; install python3-venv"
    # shellcheck disable=SC2086 # a list of packages
    "$tools/bin/pip" install --quiet --disable-pip-version-check $wanted ||
        fail "pip could not fetch $wanted; check the network and PyPI"
    echo "$wanted" >"$tools/wanted"
fi
missing=
for need in rpmbuild:rpm mmdebstrap:mmdebstrap bwrap:bubblewrap buildah:buildah objdump:binutils; do
    command -v "${need%:*}" >/dev/null || missing="$missing ${need#*:}"
done
# shellcheck disable=SC2086 # a list of packages
[ -z "$missing" ] || install_packages "$missing" "install them" $missing || fail "apt-get could not install$missing"
