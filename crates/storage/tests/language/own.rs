//! Keywords that the original does not have: `precondition=` and `steady=`.

use storage::language::{PRECONDITION_NAME, heading, summary};
use storage::run::{CurvePoint, Range, Rate, Run, Seek, Sizes, Steady};

use super::{refusal, runs};

const FILES: &str = "sd=sd1,lun=/d/a,size=1m\nsd=sd2,lun=/d/b,size=4m,threads=3\nsd=sd3,lun=/d/c,size=1m\nsd=sd4,lun=/d/b,size=4m\n";

#[test]
fn preconditioning_writes_over_all_that_is_used_first() {
    let text = format!(
        "precondition=(2,1m)\n{FILES}wd=wd1,sd=(sd1,sd2,sd4),range=(10,20)\nrd=rd1,wd=wd1,iorate=curve,curve=(50),elapsed=2\n"
    );
    let runs = runs(&text);
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let first = PRECONDITION_NAME;
    assert_eq!(names, [first, first, "rd1", "rd1_(50%)"]);
    assert_eq!(
        heading(&runs[1]),
        "RD=SD_precondition; I/O rate: Uncontrolled MAX; elapsed=(none); For loops: time=2"
    );
    // sd3 is unused, and sd4 is the file of sd2.
    let sds: Vec<(&str, u32)> = runs[0]
        .storage
        .iter()
        .map(|sd| (sd.name.as_str(), sd.threads))
        .collect();
    assert_eq!(sds, [("sd1", 8), ("sd2", 3)]);
    for (stream, transfer) in runs[0].streams.iter().zip([512 << 10, 1 << 20]) {
        assert_eq!((stream.read_pct, stream.range), (0.0, Range::Whole));
        assert_eq!(stream.seek, Seek::SequentialToEnd);
        assert_eq!(stream.sizes, Sizes::Fixed(transfer));
    }
    let point = CurvePoint {
        pct: 50.0,
        maximum_run: 2,
        shares_observed: true,
    };
    assert_eq!(runs[3].rate, Rate::Curve(point));
}

#[test]
fn the_ios_of_a_run_are_described_in_words() {
    let said = |wd: &str, rate: &str| {
        let text = format!("{FILES}wd=wd1,sd=sd1,{wd}\nrd=rd1,wd=wd1,iorate={rate},elapsed=2\n");
        summary(&runs(&text)[0])
    };
    for (wd, rate, words) in [
        (
            "xfersize=4k,rdpct=100",
            "max",
            "4k random reads at the maximum rate",
        ),
        (
            "xfersize=64k,seekpct=seq,rdpct=0",
            "200",
            "64k sequential writes at 200/s",
        ),
        (
            "xfersize=(4k,50,8k,50),seekpct=30,rdpct=70",
            "max",
            "4k to 8k 30 % random I/Os, 70 % reads, at the maximum rate",
        ),
    ] {
        assert_eq!(said(wd, rate), words);
    }
}

#[test]
fn rounds_are_shown_in_the_list_and_nothing_else_is_changed() {
    let rounds = |steady: &str| {
        let text = format!("{FILES}rd=rd1,sd=sd1,iorate=max{steady}\n");
        let run = runs(&text).remove(0);
        let heading = heading(&run);
        let shown = heading.split_once("; steady=");
        (run.steady, shown.map(|(_, shown)| shown.to_owned()))
    };
    let of = |rounds_max, matrix| Some(Steady { rounds_max, matrix });
    let shown = |text: &str| Some(text.to_owned());
    assert_eq!(rounds(""), (None, None));
    assert_eq!(rounds(",steady=no"), (None, None));
    assert_eq!(rounds(",steady=yes"), (of(25, None), shown("25")));
    assert_eq!(rounds(",steady=7"), (of(7, None), shown("7")));
    let matrix = rounds(",steady=matrix");
    assert_eq!(matrix, (of(25, Some(0)), shown("(matrix,25)")));
    let matrix = rounds(",steady=(matrix,9)");
    assert_eq!(matrix, (of(9, Some(0)), shown("(matrix,9)")));
    // Abbreviations keep their meaning.
    let run = runs(&format!("{FILES}rd=rd1,sd=sd1,iorate=max,st=20\n")).remove(0);
    assert_eq!((run.stop.response_ms_max, run.steady), (Some(20.0), None));
}

#[test]
fn a_matrix_is_that_of_one_rd() {
    let text = format!(
        "precondition=1\n{FILES}rd=default,iorate=max,steady=matrix\nrd=rd1,sd=sd1,xf=(4k,8k),rdpct=(0,100)\n\
         rd=rd2,sd=sd1,th=(1,2)\nrd=rd3,sd=sd1,steady=no\n"
    );
    let runs = runs(&text);
    let groups: Vec<usize> = runs
        .chunk_by(Run::takes_turns_with)
        .map(<[Run]>::len)
        .collect();
    assert_eq!(groups, [1, 4, 2, 1]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (general, rd, said) in [
        ("precondition=0\n", "", "from 1 to 100"),
        ("precondition=(1,1000)\n", "", "multiple of 512"),
        ("precondition=(1,2,3)\n", "", "number of overwrites"),
        ("", ",steady=4", "from 5 to 1000"),
        ("", ",steady=(matrix,4)", "from 5 to 1000"),
        ("", ",steady=(5,matrix)", "matrix, or (matrix,rounds)"),
        ("", ",steady=matrix,iorate=(10,50%)", "or a percentage"),
        ("", ",steady=matrix,iorate=curve", "not a curve"),
        (
            "",
            ",steady=matrix,threads=(1-501,1)",
            "cycle through 501 runs",
        ),
        ("journal=recover\nprecondition=1\n", "", "journal=recover"),
    ] {
        let text = format!("{general}{FILES}rd=rd1,sd=sd1,iorate=max{rd}\n");
        let refused = refusal(&text);
        assert!(refused.contains(said), "{text}: {refused}");
    }
    let percent = format!("precondition=1\n{FILES}rd=rd1,sd=sd1,iorate=50%\n");
    assert!(refusal(&percent).contains("percentage of the previous run"));
}
