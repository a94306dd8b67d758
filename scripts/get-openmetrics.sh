#!/bin/sh
# Gets the parser of OpenMetrics that the tests hold /metrics against: that of Prometheus' own client for
# Python, from PyPI, checked against the digest pinned here. Does nothing when it is there. Nothing is
# installed: Python reads modules out of the package as it is.
set -eu
. "$(dirname "$0")/packages.sh"

version=0.26.0
sha256=fa93d06737aa02bacd05794768508bb97d2fbee28cb3bca04eaae92f0ca953d6
parent=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno
package=$parent/prometheus_client.whl
[ -e "$package" ] && exit 0
command -v python3 >/dev/null || fail "python3 is not installed, and the parser of OpenMetrics is written in it; install it"
make_work "$parent"
echo "prometheus_client==$version --hash=sha256:$sha256" >"$work/wanted"
say "fetching prometheus_client $version"
python3 -m pip download --quiet --no-deps --only-binary=:all: --require-hashes \
    --dest "$work" --requirement "$work/wanted" >"$work/log" 2>&1 ||
    fail "pip could not fetch prometheus_client $version ($(tail -n 1 "$work/log" | cut -c1-200)); check the network and PyPI"
mv "$work/prometheus_client-$version-py3-none-any.whl" "$package"
