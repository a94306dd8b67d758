#!/bin/sh
# Packages the executable $1, its documents, manual pages and completions; and DuckDB's library, which the command finds at
# ../lib/dbdyno, with the version of DuckDB.
set -eu
. scripts/dist/common.sh

command=$1
summary="Dynamometer for database platforms"
make_work "$CARGO_TARGET_DIR"
rm -rf dist
mkdir dist

# stage: the tree that lies below a prefix, for the command and for DuckDB's library
tree=$work/dbdyno
share=$tree/share
install -D "$command" "$tree/bin/dbdyno"
"$command" docs man "$share/man/man1" >/dev/null
mkdir -p "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d" "$share/doc/dbdyno"
"$command" docs completions bash >"$share/bash-completion/completions/dbdyno"
"$command" docs completions zsh >"$share/zsh/site-functions/_dbdyno"
"$command" docs completions fish >"$share/fish/vendor_completions.d/dbdyno.fish"
cp README.md CHANGELOG.md SECURITY.md LICENSE-APACHE LICENSE-MIT "$share/doc/dbdyno/"
cp -R "$CARGO_TARGET_DIR/docs/book" "$share/doc/dbdyno/"
duckdb=$work/dbdyno-duckdb
install -D --mode=644 "$cache/duckdb/$duckdb_version/libduckdb.so" "$duckdb/lib/dbdyno/libduckdb.so"
install -D --mode=644 scripts/dist/DUCKDB-LICENSE "$duckdb/share/doc/dbdyno-duckdb/LICENSE"
chmod -R u=rwX,go=rX "$work"

tarball() { # NAME VERSION
    tar -C "$work/$1" --owner=0 --group=0 --sort=name --transform "s,^\.,dbdyno-$version-x86_64-linux," \
        -czf "dist/$1-$2-x86_64-linux.tar.gz" .
}

deb() { # NAME VERSION DEPENDS MORE
    root=$work/deb-$1
    mkdir -p "$root/DEBIAN"
    cp -R "$work/$1" "$root/usr"
    # Debian's zsh looks for the functions of packages here.
    [ ! -d "$root/usr/share/zsh" ] || mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
    printf '%s\n' "Package: $1" "Version: $2" "Architecture: amd64" "Maintainer: The dbdyno authors" \
        "Section: database" "Depends: $3" "Installed-Size: $(du -sk "$root/usr" | cut -f 1)" "Description: $summary" ${4:+"$4"} \
        >"$root/DEBIAN/control"
    dpkg-deb --root-owner-group -Zxz -z2 --build "$root" "dist/$1_$2_amd64.deb" >/dev/null
}

rpm() { # NAME VERSION MORE
    tree=$work/$1
    # Folders below a folder of our own are the package's; the others belong to the system.
    (cd "$tree" && find . \( -type d -path '*/dbdyno*' -printf '%%dir /usr/%P\n' \) -o -type f -printf '/usr/%P\n') >"$work/files"
    printf '%s\n' "Name: $1" "Version: $2" "Release: 1" "Summary: $summary" "License: MIT OR Apache-2.0" ${3:+"$3"} \
        "%description" "$summary." "%install" "mkdir -p %{buildroot}" "cp -R $tree %{buildroot}/usr" "%files -f $work/files" \
        >"$work/$1.spec"
    rpmbuild -bb --quiet --target x86_64-linux --define "_topdir $work/rpm" --define "_rpmdir $PWD/dist" --define "_rpmfilename %%{NVRA}.rpm" \
        --define "_build_id_links none" --define "debug_package %{nil}" --define "__os_install_post %{nil}" \
        --define "_binary_payload w2.xzdio" "$work/$1.spec" >"$work/log" 2>&1 || fail "rpmbuild: $(tail -n 3 "$work/log")"
}

wheel() { # NAME VERSION TAGS MORE
    root=$work/wheel/$1-$2
    name=$(echo "$1" | tr - _)
    info=$root/$name-$2.dist-info
    data=$root/$name-$2.data
    mkdir -p "$info/licenses" "$data"
    cp -R "$work/$1" "$data/data"
    # pip makes executable what lies in this folder.
    [ ! -d "$data/data/bin" ] || mv "$data/data/bin" "$data/scripts"
    printf '%s\n' "Metadata-Version: 2.4" "Name: $1" "Version: $2" "Summary: $summary" "License-Expression: MIT OR Apache-2.0" \
        "Requires-Python: >=3.6" ${4:+"$4"} >"$info/METADATA"
    printf '%s\n' "Wheel-Version: 1.0" "Generator: dbdyno" "Root-Is-Purelib: false" >"$info/WHEEL"
    for tag in $3; do echo "Tag: py3-none-$tag" >>"$info/WHEEL"; done
    "$tools/bin/wheel" pack "$root" --dest-dir dist >/dev/null
    audit=$("$tools/bin/auditwheel" show "dist/$name-$2"-*.whl)
    case $audit in *\""${3%% *}"\"*) ;; *) fail "$audit" ;; esac
}

tarball dbdyno "$version"
tarball dbdyno-duckdb "$duckdb_version"
deb dbdyno "$version" "libc6 (>= $glibc)" "Suggests: dbdyno-duckdb (= $duckdb_version)"
deb dbdyno-duckdb "$duckdb_version" "libc6 (>= 2.26), libgcc-s1, libstdc++6 (>= 7)"
rpm dbdyno "$version" "Suggests: dbdyno-duckdb = $duckdb_version"
rpm dbdyno-duckdb "$duckdb_version" "Provides: libduckdb"
wheel dbdyno "$version" "manylinux_2_17_x86_64 manylinux2014_x86_64" "Provides-Extra: duckdb
Requires-Dist: dbdyno-duckdb==$duckdb_version; extra == 'duckdb'"
wheel dbdyno-duckdb "$duckdb_version" manylinux_2_26_x86_64
