#!/bin/sh
# Counts the words of the documents against their limits. A word has a letter or a digit, so bars of tables and braces are none.
# Generated are the JSON schema and the parts of documents between <!-- NAME --> and <!-- /NAME -->.
#
#   scripts/words.sh [--each]     --each lists the documents
set -eu
cd "$(dirname "$0")/.."

awk -v each="${1-}" '
    function limit(name, words, most) {
        printf "words: %d %s, at most %d\n", words, name, most
        if (words > most) exceeded = 1
    }
    FNR == 1 { generated = FILENAME ~ /\.json$/ }
    /^<!-- \/[a-z]+ -->$/ { generated = 0 }
    { for (i = 1; i <= NF; i++) if ($i ~ /[A-Za-z0-9]/) { if (generated) made++; else written[FILENAME]++ } }
    /^<!-- [a-z]+ -->$/ { generated = 1 }
    END {
        for (file in written) {
            all += written[file]
            if (each) printf "%6d %s\n", written[file], file
        }
        limit("written by hand", all, 45000)
        limit("generated", made, 15000)
        limit("in docs/METHODOLOGY.md", written["docs/METHODOLOGY.md"], 5000)
        exit exceeded
    }' README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs/*.md docs/dbdyno-result.schema.json
