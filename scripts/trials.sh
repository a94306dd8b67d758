#!/bin/bash
# What three long trials of dbdyno ran into (by an analyst, a DBA and a storage engineer), tried again: each finding is a
# check that carries out its command, shortened, and asserts what should happen, on any machine.
#
#   scripts/trials.sh [CHECK…]        e.g. scripts/trials.sh A B1; without: all, some minutes
#
# The command is bin/dbdyno, or $DBDYNO. PostgreSQL, MariaDB and PgBouncer are those that the scripts get-*.sh bring, in
# folders and on sockets of the trials' own; nothing of the user's is touched, and all of it is gone at the end. What needs
# root (loop devices) or a program that is not there is skipped, with the reason. Exit status 1 where a check failed.
set -u
# Names with letters of any script are written as UTF-8, whatever the shell was started with.
export LC_ALL=C.UTF-8
scripts=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/trials/common.sh
. "$scripts/trials/common.sh"
# shellcheck source=scripts/trials/servers.sh
. "$scripts/trials/servers.sh"

wanted=("$@")
passed=0 failed=0 skipped=0 work='' here=''

# Whether a check is among those that are asked for: by its whole name, or by its beginning (A, B1).
is_wanted() {
    [ ${#wanted[@]} -gt 0 ] || return 0
    local one
    for one in "${wanted[@]}"; do
        [[ $1 == "$one" || $1 == "$one"_* || $one == "${1:0:1}" ]] && return 0
    done
    return 1
}

# check NAME SENTENCE: carries out the function NAME in a folder of its own; the sentence says what should be.
check() {
    local name=$1 sentence=$2 begun=$SECONDS status
    is_wanted "$name" || return 0
    here=$work/$name
    mkdir "$here" && chmod 711 "$here"
    # Not with `||`: within such a list nothing would end a check that has failed in its middle.
    (
        set -e
        cd "$here"
        "$name"
    ) >"$here/log" 2>&1
    status=$?
    end_spawned
    case $status in
        0)
            passed=$((passed + 1))
            echo "$name ok: $sentence ($((SECONDS - begun)) s)"
            ;;
        "$STATUS_SKIPPED")
            skipped=$((skipped + 1))
            echo "$name skipped: $(tail -n 1 "$here/log")"
            ;;
        *)
            failed=$((failed + 1))
            echo "$name FAILED: $sentence"
            tail -n 30 "$here/log" | sed 's/^/    /'
            ;;
    esac
    rm -rf "$here"
}

begin_trials
# shellcheck source=scripts/trials/analyst.sh
. "$scripts/trials/analyst.sh"
# shellcheck source=scripts/trials/dba.sh
. "$scripts/trials/dba.sh"
# shellcheck source=scripts/trials/keeping.sh
. "$scripts/trials/keeping.sh"
# shellcheck source=scripts/trials/storage.sh
. "$scripts/trials/storage.sh"
# shellcheck source=scripts/trials/first_contact.sh
. "$scripts/trials/first_contact.sh"
# shellcheck source=scripts/trials/tables.sh
. "$scripts/trials/tables.sh"
# shellcheck source=scripts/trials/figures.sh
. "$scripts/trials/figures.sh"
# shellcheck source=scripts/trials/settings.sh
. "$scripts/trials/settings.sh"
[ $((passed + failed + skipped)) -gt 0 ] || fail "there is no check ${wanted[*]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
