# shellcheck shell=bash disable=SC2154,SC2034,SC2015 # variables of the other files; what fails ends the check
# Part C: parameter files on files and block devices. Sourced by trials.sh.

# Whatever fails, as with the original.
readonly FAILED=157

# parameters LINE…: writes the check's parameter file.
parameters() {
    printf '%s\n' "$@" >"$here/parm.txt"
}

# vdbench STATUS ARGUMENT…: carries it out.
vdbench() {
    local expected=$1
    shift
    ends "$expected" vdbench "$@" -f parm.txt -o "$here/pages"
    rm -rf "$here/pages.before" && { [ ! -e "$here/pages" ] || mv "$here/pages" "$here/pages.before"; }
}

C1() {
    loop_device 64M
    parameters "sd=sd1,lun=$loop,openflags=o_direct" "wd=wd1,sd=sd1,rdpct=0,xfersize=4k" "rd=rd1,wd=wd1,iorate=max,elapsed=2,threads=(1,8,32,8)"
    vdbench 0
    vdbench 0 -l 3 -e 2
    parameters "sd=sd1,lun=$loop,openflags=o_direct" "wd=wd1,sd=sd1,rdpct=50,xfersize=4k" "rd=rd1,wd=wd1,iorate=200,elapsed=2"
    ends 0 vdbench --find-rate p90=2s -f parm.txt -o "$here/slo"
    says_not --force
}
check C1 "a list of writes goes over a block device, run by run, without --force"

C1_mounted() {
    loop_device 64M
    command -v mkfs.ext4 >/dev/null || skip "mkfs.ext4 is not installed"
    mkfs.ext4 -q "$loop"
    mkdir mounted
    mount "$loop" mounted 2>/dev/null || skip "nothing can be mounted here"
    parameters "sd=sd1,lun=$loop,openflags=o_direct" "wd=wd1,sd=sd1,rdpct=0" "rd=rd1,wd=wd1,iorate=max,elapsed=2"
    D vdbench -f parm.txt -o "$here/pages"
    umount mounted
    [ "$status" -eq "$FAILED" ] || wrong "a mounted device was written to"
    says "$loop" "in use"
}
check C1_mounted "a device that is mounted is refused"

C2() {
    parameters "sd=sd1,lun=f.dat,size=8m" "wd=wd1,sd=sd1,rdpct=100,xfersize=4k" "rd=rd1,wd=wd1,iorate=max,elapsed=2"
    # No machine serves an I/O in a microsecond: what is tried brings a thousand I/Os all the same, and none of 1/s.
    vdbench "$FAILED" --find-rate p99=1us
    exports
    holds 'not d["points"][-1]["valid"]' 'd["points"][-1]["operations"] >= 500'
    says "p99"
    # 5 s hold whatever the machine does.
    parameters "sd=sd1,lun=f.dat,size=8m" "wd=wd1,sd=sd1,rdpct=100,xfersize=4k" "rd=rd1,wd=wd1,iorate=1000,elapsed=2"
    vdbench 0 --find-rate p90=5s
    exports
    holds 'd["points"][-1]["valid"]' '"I/Os" in str(d["points"][-1]["notes"])'
}
check C2 "an objective is decided by enough I/Os, with what was seen at both ends"

C3() {
    mkfifo fifo
    parameters "sd=sd1,lun=$here/fifo" "wd=wd1,sd=sd1" "rd=rd1,wd=wd1,iorate=max,elapsed=2"
    vdbench "$FAILED"
    says "FIFO"
    ends "$FAILED" vdbench -f fifo -s
    says "FIFO"
    [ -p fifo ] || wrong "the FIFO was replaced"
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
    parameters "sd=sd1,lun=$here/socket" "wd=wd1,sd=sd1" "rd=rd1,wd=wd1,iorate=max,elapsed=2"
    vdbench "$FAILED"
    says "socket"
}
check C3 "FIFOs and sockets are refused by their kind"

C4() {
    head -c 1048576 /dev/zero >a.dat
    head -c 1000 /dev/zero >short.dat
    head -c 1048576 /dev/zero >fixed.dat && chmod 400 fixed.dat
    mkdir folder
    local wrong_one
    for wrong_one in missing.dat folder short.dat fixed.dat; do
        # Root may write what is read-only.
        [ "$wrong_one" != fixed.dat ] || ! is_root || continue
        parameters "formatsds=no" "sd=sd1,lun=$here/a.dat" "sd=sd2,lun=$here/$wrong_one" "rd=rd1,sd=sd1,rdpct=0,iorate=100,elapsed=2" \
            "rd=rd2,sd=sd2,iorate=100,elapsed=2,rdpct=0,xfersize=4k"
        vdbench "$FAILED"
        says "sd2"
        says_not "Starting RD=rd1"
        vdbench "$FAILED" --check -s
        says "sd2"
        [ "$(tr -d '\0' <a.dat | wc -c)" -eq 0 ] || wrong "the first run was carried out"
    done
}
check C4 "the whole list is looked through before the first I/O, and by -s --check"

C5() {
    parameters "data_errors=1000000" "sd=sd1,lun=$here/v.dat,size=4m" "wd=wd1,sd=sd1,rdpct=50,xfersize=4k,seekpct=100" \
        "rd=rd1,wd=wd1,iorate=2000,elapsed=12,interval=1"
    begins vdbench -v -f parm.txt -o "$here/pages"
    until_true 60 grep -q "Starting RD=rd1" spawned.log
    sleep 2
    dd if=/dev/urandom of=v.dat bs=4096 seek=100 count=400 conv=notrunc 2>/dev/null
    until_true 30 grep -q "not a block of dbdyno" spawned.log
    is_running "$spawned" || wrong "it was told at the end only: $(tail -n 5 spawned.log)"
    grep -q "not a block of dbdyno" pages/errorlog.html || wrong "it is not in the error log"
    has_ended "$FAILED"
}
check C5 "a corrupted block is told at once, on the terminal and in the error log"

C6() {
    parameters "sd=sd1,lun=$here/j.dat,size=4m" "wd=wd1,sd=sd1,rdpct=0,xfersize=4k" "rd=rd1,wd=wd1,iorate=500,elapsed=60,interval=1"
    begins vdbench -j -f parm.txt -o "$here/pages"
    until_true 60 grep -q "Starting RD=rd1" spawned.log
    sleep 3
    kill -KILL "$spawned"
    wait "$spawned" 2>/dev/null || true
    ends 0 vdbench -jro -f parm.txt -o "$here/recovered"
    says "verified" "pending"
    exports
    holds 'd["run"]["valid"]'
}
check C6 "recovering a journal tells what was verified and pending, and is valid"

C7() {
    parameters "sd=sd1,lun=$here/f.dat,size=4m" "wd=wd1,sd=sd1,rdpct=0" "rd=rd_random_5w,wd=wd1,iorate=200,elapsed=2"
    vdbench 0
    vdbench 0
    page 2 --against 1
    ! grep -q "7450" "$here/page.html" || wrong "the study of a 3PAR 7450c stands beside another list"
}
check C7 "a name alone brings no published study"

C8() {
    parameters "sd=sd1,lun=$here/f.dat,size=4m" "wd=wd1,sd=sd1,rdpct=50" "rd=rd1,wd=wd1,iorate=200,elapsed=3,interval=1"
    vdbench 0
    vdbench 0
    D compare 1 2
    says_not NaN
    page 2 --against 1
    ! grep -q NaN "$here/page.html" || wrong "the page shows NaN"
}
check C8 "where nothing is divided by nothing there is no NaN"

C9() {
    parameters "sd=sd1,lun=$here/huge.dat,size=100t" "wd=wd1,sd=sd1" "rd=rd1,wd=wd1,iorate=max,elapsed=2"
    vdbench "$FAILED"
    says "are free" "size="
    [ ! -s huge.dat ] || wrong "it began to write"
}
check C9 "a file that there is no room for is not begun"

C10() {
    parameters "sd=sd1,lun=$here/f.dat,sise=4m" "wd=wd1,sd=sd1" "rd=rd1,wd=wd1,iorate=max,elapsed=2"
    vdbench "$FAILED" -s
    says 'did you mean size='
    parameters "sd=sd1,lun=$here/f.dat,size=4m" "wd=wd1,sd=sd1,xfersize=(4k,8k)" "rd=rd1,wd=wd1,iorate=max,elapsed=2"
    vdbench "$FAILED" -s
    says "rd="
    parameters "sd=sd1,lun=$here/none/f.dat" "wd=wd1,sd=sd1" "rd=rd1,wd=wd1,iorate=max,elapsed=2"
    vdbench "$FAILED"
    [ "$(cat err out | grep -o 'os error' | wc -l)" -le 1 ] || wrong "the error stands twice"
}
check C10 "what is misspelt is told with what was meant"

C11() {
    parameters "sd=sd1,lun=$here/f.dat,size=16m" "wd=wd1,sd=sd1,rdpct=100,xfersize=4k" "rd=rd1,wd=wd1,iorate=500,elapsed=10,interval=1,threads=8"
    begins vdbench -f parm.txt -o "$here/pages"
    until_true 60 grep -q "Starting RD=rd1" spawned.log
    sleep 3
    kill -STOP "$spawned"
    sleep 2
    kill -CONT "$spawned"
    has_ended 0
    exports
    holds 'any("the driver was stopped for" in str(note) for note in d["points"][-1]["notes"])' 'd["points"][-1]["late_starts"] >= 900'
}
check C11 "a stop of the driver is named, and all that became due meanwhile is late"

C12() {
    parameters "sd=sd1,lun=$here/f.dat,size=16m" "wd=wd1,sd=sd1,rdpct=0,xfersize=8k,seekpct=eof" "rd=rd1,wd=wd1,iorate=max,elapsed=60,interval=30"
    vdbench 0
    says "net_1-1" "avg_1-1" "its figures are of all of it"
    exports
    holds 'd["points"][-1]["valid"]' 'd["points"][-1]["operations"] == 2048'
    python3 - f.dat <<'PY' || wrong "sectors occur twice"
import sys
data = open(sys.argv[1], "rb").read()
sectors = [data[at : at + 512] for at in range(0, len(data), 512)]
sys.exit(len(set(sectors)) != len(sectors))
PY
}
check C12 "a run that ends in its first interval has figures, and no two sectors that it wrote are alike"

C13() {
    printf '\xef\xbb\xbf* mixed \x96\rsd=sd1,lun=%s/f.dat,size=8m\rwd=wd1,sd=sd1\rrd=rd1,wd=wd1,iorate=max,elapsed=2\r' "$here" >parm.txt
    vdbench 0 -s
    parameters "sd=sd1, lun=$here/f.dat, size=8m" "wd=wd1,sd=sd1" "rd=rd1,wd=wd1,iorate=max,elapsed=2"
    vdbench "$FAILED" -s
    says "a blank begins a comment"
    parameters "sd=sd1,lun=$here/none.dat" "wd=wd1,sd=sd1" "rd=rd1,wd=wd1,iorate=max,elapsed=2"
    vdbench "$FAILED"
    [ ! -e pages.before ] || wrong "a list that fails its checks left pages"
    local file=/dev/shm/dbdyno-trial.$$
    parameters "sd=sd1,lun=$file,size=8m" "wd=wd1,sd=sd1" "rd=rd1,wd=wd1,iorate=max,elapsed=2"
    vdbench 0
    rm -f "$file"
}
check C13 "files as editors leave them are read, and what a blank swallowed is named"

C14() {
    loop_device 64M --sector-size 4096
    parameters "sd=sd1,lun=$loop,openflags=o_direct" "wd=wd1,sd=sd1,xfersize=4k,rdpct=100,stride=(8k,32k)" "rd=rd1,wd=wd1,iorate=max,elapsed=2"
    vdbench 0
}
check C14 "strides on 4Kn begin at its blocks"
