#!/bin/sh
# Builds the documents as a book with search, which fetches nothing: target/docs/book/index.html.
# Gets mdBook from crates.io into the user's cache the first time, which takes minutes.
set -eu
cd "$(dirname "$0")/.."

version=0.5.4
tools=${XDG_CACHE_HOME:-$HOME/.cache}/dbdyno/tools
mdbook=$tools/bin/mdbook
if ! "$mdbook" --version 2>/dev/null | grep -qx "mdbook v$version"; then
    echo "docs: building mdbook $version" >&2
    CARGO_TARGET_DIR=$tools/target cargo install --quiet --locked --root "$tools" --version "$version" \
        --no-default-features --features search mdbook
    rm -rf "$tools/target"
fi

# The book is built from a copy, because mdBook reads nothing outside of its source, and documents link to files of the repository.
work=${CARGO_TARGET_DIR:-target}/docs
rm -rf "$work"
mkdir -p "$work/src"
cp README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE-APACHE LICENSE-MIT "$work/src/"
cp -R docs library plans reference "$work/src/"
grep -oh '](\.\./[^)#]*' docs/*.md | sed 's/^](\.\.\///' | sort -u | while read -r linked; do
    [ -e "$work/src/$linked" ] || { mkdir -p "$work/src/$(dirname "$linked")" && cp -R "$linked" "$work/src/$linked"; }
done
# Chapters are named from the copy's root; for a reader of the book the list of documents is its table of contents.
sed -e 's|](\([^.]\)|](docs/\1|g' -e 's|](\.\./|](|g' docs/SUMMARY.md >"$work/src/SUMMARY.md"
sed 's|^src = "\."|src = "src"|' docs/book.toml >"$work/book.toml"
sed -i 's|](docs/SUMMARY.md)|](toc.html)|' "$work/src/README.md" "$work/src/CHANGELOG.md"
rm "$work/src/docs/SUMMARY.md" "$work/src/docs/book.toml"

"$mdbook" build "$work"
echo "docs: $work/book/index.html"
