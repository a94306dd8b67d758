//! Refusals name file, line and the valid alternative.

use super::{read, refusal};

const SD: &str = "sd=sd1,lun=/d/f\n";

/// Checks texts after an SD and a WD against parts of their refusals.
fn refused(table: &str) {
    for (text, said) in testing::rows(table) {
        is_refused(&text.replace("\\n", "\n"), said);
    }
}

fn is_refused(text: &str, said: &str) {
    let sentence = refusal(text);
    assert!(sentence.contains(said), "{text:?}: {sentence}");
    assert!(
        !sentence.contains('\n') && !sentence.ends_with('.'),
        "{sentence}"
    );
}

#[test]
fn what_is_right_beside_it_is_taken() {
    let rd = "rd=rd1,wd=wd1,iorate=1,elapsed=4,interval=2,warmup=2";
    assert!(read(&format!("{SD}wd=wd1,sd=sd1,xfersize=(4k,90,8k,10)\n{rd}")).is_ok());
}

#[test]
fn lines_that_cannot_be_read() {
    refused(
        r#"
            sd=sd1,lun="/d/f => p:1: a double quote is not closed
            sd=sd1,lun => p:1: "lun" is no parameter; write keyword=value
            \n\nsd=sd1,x=3 => p:3: x= is too short
            sd=sd1,lun= => a value is missing
            wd=wd1,xf=(4k, 8k) => a parenthesis is not closed
            wd=wd1,xf=(4k,8k, => a parenthesis is not closed
            wd=wd1,xf=4k) => a closing parenthesis has no opening one
            wd=wd1,xf=(4k,,8k) => a value is missing
            wd=wd1,xf=(4k)k => nothing may follow
            sd=sd1,lun=$lun => the variable lun has no value; give lun=VALUE
        "#,
    );
}

#[test]
fn definitions_that_contradict_themselves() {
    refused(
        r#"
            sd=sd1,lun=/d/f\nsd=sd1,lun=/d/g => p:2: sd=sd1: this name is already used
            sd=sd1\nrd=rd1,sd=sd1,iorate=1 => sd=sd1 has no lun=
            sd=sd,lun=/d/f,count=(1,2)\nsd=sd1,lun=/d/g\nrd=rd1,sd=sd1,iorate=1 => count= creates this name twice
            sd=sd1,lun=/d/f,threads=0 => p:1: threads=0: must be a whole number from 1
            sd=../../x,lun=/d/f\nwd=wd1,sd=../../x\nrd=rd1,wd=wd1,iorate=1 => sd=../../x: the name contains a slash
            sd=/etc/x,lun=/d/f,count=(1,2)\nrd=rd1,sd=*,iorate=1 => sd=/etc/x1: the name contains a slash
            sd=sd1,lun=/d/f,offset=100 => a multiple of 512
            sd=sd1,lun=/d/f,openflags=o_fast => supported values are o_direct
            sd=sd1,lun=/d/f,openflags=0x240 => would create, truncate or append
            sd=sd1,lun=/d/f,lun=/d/g => an SD has one lun=
            sd=sd1,lun=/d/f,range=(20,10) => give the lower bound first
            sd=sd1,lun=/dev/sdx\nrd=rd1,sd=sd1,iorate=1 => sd=sd1 is a device; give it openflags=o_direct
            wd=wd1,xfersize=(4k,50,8k,40) => add up to 90
            wd=wd1,xfersize=(4k,8k,12k,16k,20k) => pairs (size,percent,…)
            wd=wd1,rdpct=101 => a percentage from 0 to 100
            wd=wd1,seekpct=sometimes => give a percentage, random
            sd=sd1,lun=/d/f\nwd=wd1,sd=(sd1,sd*)\nrd=rd1,wd=wd1,iorate=1 => p:2: sd=sd*: sd1 is named twice
            sd=sd1,lun=/d/f\nwd=wd1,sd=sd2\nrd=rd1,wd=wd1,iorate=1 => p:2: sd=sd2: there is no such sd; defined: sd1
            sd=sd1,lun=/d/f\nwd=wd1,sd=sd1,xf=(4k,8k,4k)\nrd=rd1,wd=wd1,iorate=1 => needs align=4096 at sd=sd1
            sd=sd1,lun=/d/f\nwd=wd1,sd=sd1,streams=4\nrd=rd1,wd=wd1,iorate=1 => streams= is for sequential workloads
        "#,
    );
}

#[test]
fn runs_that_cannot_be() {
    let run = |rd: &str| format!("{SD}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,{rd}");
    for (rd, said) in testing::rows(
        r#"
            elapsed=5 => p:3: rd=rd1: iorate= parameter is missing
            iorate=0 => iorate= parameter is missing
            iorate=1,elapsed=5,interval=2 => elapsed=5 is not a multiple of interval=2
            iorate=1,elapsed=5,interval=3 => less than two intervals
            iorate=1,elapsed=4,interval=2,warmup=1 => warmup=1 is not a multiple
            iorate=50% => there is none
            iorate=(curve,100) => curve cannot be combined
            iorate=(100,200,300),dist=variable => give pairs
            iorate=(100,3000,200,3000),dist=variable => 6000 s in total
            iorate=fast => fast is not a number
            iorate=1,dist=normal => supported values are exponential
            iorate=1,curve=(0,50) => percentages from 1
            iorate=1,forx=(1-9999,1),forthreads=(1-100,1) => would make 999900 runs
            iorate=1,forthreads=(1-99999999,1) => more than 10000 values
            iorate=1,openflags=(o_direct => a parenthesis is not closed
        "#,
    ) {
        is_refused(&run(rd), said);
    }
    refused(
        r#"
            sd=sd1,lun=/d/f => there is no rd=
            sd=sd1,lun=/d/f\nrd=rd1,iorate=1 => neither wd= nor sd=
            sd=sd1,lun=/d/f\nwd=wd1,skew=1\nrd=rd1,wd=wd1,iorate=1,sd=sd1 => Total skew must add up to 100: 1.00
            sd=sd1,lun=/d/f\nwd=wd1\nrd=rd1,wd=wd1,iorate=1 => wd=wd1 has no sd=
            rd=rd1,sd=sd1,iorate=1 => no sd= is defined before it
        "#,
    );
}

/// In every section an unknown keyword gets a suggestion.
#[test]
fn misspelled_keywords_get_a_suggestion() {
    refused(
        r#"
            sd=sd1,lun=/d/f,sise=1g => sd= has no such keyword; did you mean size=?
            sd=sd1,lun=/d/f,thread_s=4 => did you mean threads=?
            sd=default,offst=1k => did you mean offset=?
            wd=wd1,xfresize=4k => wd= has no such keyword; did you mean xfersize=?
            wd=wd1,redpct=50 => did you mean rdpct=?
            sd=sd1,lun=/d/f\nrd=rd1,sd=sd1,iorat3=1 => rd= has no such keyword; did you mean iorate=?
            sd=sd1,lun=/d/f\nrd=rd1,sd=sd1,iorate=1,elasped=4 => did you mean elapsed=?
            hd=default,jmvs=2 => hd= has no such keyword; did you mean jvms=?
            histogarm=(1m) => the general parameters have no such keyword; did you mean histogram=?
            sdd=sd1,lun=/d/f => did you mean sd=?
            sd=sd1,lun=/d/f\nrdx=rd1 => did you mean rd=?
            sd=sd1,lun=/d/f,quetzal=1 => see docs/VDBENCH.md for the supported keywords
        "#,
    );
}

/// A list of sizes is a loop, which belongs to the RD.
#[test]
fn sizes_at_a_workload_are_pairs_and_a_loop_is_at_the_run() {
    let hint = "a list of sizes is a loop at the rd=";
    for sizes in ["(4k,8k)", "(4k,8k,16k,32k)", "(512,1k)", "(4k,8k,16k)"] {
        is_refused(&format!("{SD}wd=wd1,sd=sd1,xfersize={sizes}"), hint);
    }
    let wrong = refusal(&format!("{SD}wd=wd1,sd=sd1,xfersize=(4k,50,8k,40)"));
    assert!(!wrong.contains("loop"), "{wrong}");
    let text = format!("{SD}wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=1,xfersize=(4k,8k)");
    assert_eq!(read(&text).unwrap().runs.len(), 2);
}

#[test]
fn parts_of_the_language_that_are_not_done_are_refused_by_name() {
    refused(
        r#"
            fsd=fsd1,anchor=/d => p:1: fsd=fsd1: workloads of directories and files (fsd, fwd) are not supported
            fwd=fwd1,fsd=fsd1 => (fsd, fwd) are not supported
            sd=sd1,lun=/d/f\nrd=rd1,fwd=fwd1,fwdrate=max => (fsd, fwd) are not supported
            sd=sd1,lun=/d/f\nrd=rd1,sd=sd1,format=yes => (fsd, fwd) are not supported
            rg=g1,devices=1 => recorded traces cannot be replayed
            hd=one,system=elsewhere => only on this machine
            hd=default,system=elsewhere => only on this machine
            sd=sd1,host=one,lun=/d/f => only on this machine
            startcmd="rm -rf /" => commands in a parameter file are not executed
            data_errors="script $lun" => commands and the removal
            dedupflipflop=yes => flip-flop for deduplication are not supported
            timeout=5 => a time-out is not supported
            sd=sd1,lun=/d/f\nwd=wd1,user=a => user classes are not supported
        "#,
    );
}

#[test]
fn runs_have_a_limit_to_their_parts() {
    let sds = "sd=sd,lun=/d/f,count=(1,4000)\n";
    let wds: String = (0..60).map(|n| format!("wd=wd{n},sd=*\n")).collect();
    for rest in [
        &format!("{wds}rd=rd1,wd=*,iorate=1"),
        "rd=rd1,sd=*,iorate=(1-100,1)",
        "rd=rd1,sd=range,iorate=1",
    ] {
        is_refused(&format!("{sds}{rest}"), "multiply to more than 200000");
    }
}

#[test]
fn validation_and_concatenation_have_their_conditions() {
    refused(
        r#"
            validate=yes\nsd=sd1234567,lun=/d/f\nrd=rd1,sd=*,iorate=1 => p:2: sd=sd1234567: with data validation
            validate=yes\nsd=sd1,lun=/d/f\nrd=rd1,sd=*,iorate=1,xf=(4k,10k) => 10240 is not a multiple of 4096
            validate=yes\nconcat=yes\nsd=sd1,lun=/d/f,offset=4k\nrd=rd1,sd=*,iorate=1,threads=2 => offset= and align= cannot be used with concatenated
            validate=yes\njournal=recover\nformatsds=yes\nsd=sd1,lun=/d/f\nrd=rd1,sd=sd1,iorate=1 => formatsds=yes would overwrite what journal=recover verifies
            validate=yes\nsd=sd1,lun=/d/f,openflags=fdatasync\nrd=rd1,sd=sd1,iorate=1 => o_dsync can
        "#,
    );
}

#[test]
fn priorities_are_whole_or_not_there() {
    let wds = |one: &str, two: &str| {
        format!("{SD}wd=wd1,sd=sd1{one}\nwd=wd2,sd=sd1{two}\nrd=rd1,wd=*,iorate=10")
    };
    for (one, two, said) in [
        (",iorate=5", "", "needs priority="),
        (",priority=1", "", "some WDs have priority="),
        (",priority=1", ",priority=3", "have no gaps"),
        (",priority=1,skew=50", ",priority=2", "exclude each other"),
        (
            ",openflags=fsync",
            "",
            "open sd=sd1 with different openflags=",
        ),
    ] {
        is_refused(&wds(one, two), said);
    }
}
