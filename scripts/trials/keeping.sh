# shellcheck shell=bash disable=SC2154,SC2034,SC2015 # variables of the other files; what fails ends the check
# Part K: what dbdyno says and leaves behind, whatever its surroundings. Sourced by trials.sh.

# ended COMMAND…: its status in $status, what it said in the files out and err.
ended() {
    status=0
    "$@" >"$here/out" 2>"$here/err" </dev/null || status=$?
}

K1() {
    tiny_plan >/dev/null
    ended env -u HOME -u XDG_DATA_HOME -u XDG_CACHE_HOME -u DBDYNO_ARCHIVE "$dbdyno" runs list
    [ ! -e dbdyno ] || wrong "something was made in the current directory"
    ended env -u XDG_DATA_HOME -u DBDYNO_ARCHIVE HOME=relative "$dbdyno" runs list
    says "set \$HOME"
}
check K1 "without a home nothing is put into the current directory"

K2() {
    local signal
    for signal in HUP QUIT; do
        begins run "$(tiny_plan)" --target sqlite: --name "s$signal" --set step.seconds=60.0
        until_true 30 grep -q 's'"$signal" spawned.log
        sleep 0.3
        kill -"$signal" "$spawned"
        has_ended 130
        grep -q "resume with: dbdyno run --resume s$signal" spawned.log || wrong "it does not say how to resume"
    done
    ends 0 runs list
    says_not "running"
}
check K2 "a terminal that goes away interrupts a run as Ctrl-C does"

K3() {
    (ulimit -s 256 && "$dbdyno" --version >/dev/null) || wrong "a small stack is too small"
    local variable
    for variable in TERM=dumb NO_COLOR=1; do
        env "$variable" script -qec "$dbdyno --archive $here/a.dbdyno run $(tiny_plan) --target sqlite:" typescript >/dev/null
        ! grep -q $'\e' typescript || wrong "$variable gets escape sequences"
    done
}
check K3 "a shell with a small stack, a dumb terminal and one without colours are served"

K4() {
    local name
    for name in file:zz.dbdyno :memory: 'file:a?mode=memory'; do
        ended "$dbdyno" --archive "$name" run "$(tiny_plan)" --target sqlite:
        [ "$status" -eq 0 ] && [ -s "$name" ] || wrong "the archive $name is not a file"
    done
    printf '# caf\xe9\nname = "x"\n' >latin.toml
    ends 2 run latin.toml --target sqlite:
    says "not UTF-8: byte 0xe9 in line 1"
    says_not "built-in"
    printf '\xff\xfen\0a\0' >utf16.toml
    ends 2 run utf16.toml --target sqlite:
    says "UTF-16"
    ends 2 run "$(tiny_plan)" --target sqlite: --name --help
    ends 2 run "$(tiny_plan)" --target sqlite: --name $'a\u202eb'
    says "cannot be the label"
    ends 0 run "$(tiny_plan)" --target sqlite: --name '-10% mem'
    ends 0 report -o - -- '-10% mem'
    head -c 15 out | grep -qi '<!doctype html>' || wrong "the page is not on standard output"
    [ ! -e - ] || wrong "there is a file called -"
    ln -s nowhere/at/all link
    ends 1 report last -o link
    says "dangling symbolic link"
    measures 0 ab "$(tiny_plan)" --target sqlite: --aa --repeat 1 --name c54 --yes
    ends 2 report c54 --format json
    says "c54-a, c54-b"
}
check K4 "names of archives, plans, labels and pages are taken as they are, or refused by name"
