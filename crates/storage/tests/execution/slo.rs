//! The highest rate that holds a response time.

use storage::execution::{Completion, ExecutionError, Slo};
use storage::run::Rate;

use super::Place;

/// One transfer of 8 MiB at a time is a path of some hundred a second on every machine.
const SLOW: &str = "sd=sd1,lun=$dir/f,threads=1\nwd=wd1,sd=sd1,xf=8m,seekpct=0\nrd=rd1,wd=wd1,iorate=max,elapsed=2,distribution=deterministic\n";

/// Roughly: every measurement takes two seconds.
fn slo(text: &str, measurements_max: usize) -> Slo {
    Slo {
        resolution_pct: 90.0,
        repeats: 1,
        measurements_max,
        ..Slo::usual(text.parse().unwrap())
    }
}

#[test]
fn the_highest_rate_that_holds_is_found() {
    let place = Place::new();
    place.file("f", 64 << 20);
    let played = place.search(SLOW, slo("p50=400ms", 8));
    assert_eq!(played.ended.unwrap(), Completion::Whole);
    let [done] = played.onlooker.done.as_slice() else {
        panic!("one run of the list")
    };
    let Rate::Fixed { iops } = done.run.rate else {
        panic!("{:?}", done.run.rate)
    };
    assert!(!done.is_missed && done.run.loops.is_empty());
    let verdict = &done.told[0];
    assert!(
        verdict.starts_with(&format!("{iops:.1} I/Os/s hold p50=400ms, ")),
        "{verdict}"
    );
    assert!(done.told[1].starts_with("rates tried: "), "{:?}", done.told);
    // What is kept was measured at that rate.
    assert!(
        (0.5 * iops..1.5 * iops).contains(&done.rate),
        "{} of {iops}",
        done.rate
    );
    assert!(place.page("totals").contains(verdict.as_str()));
    assert!(
        place
            .page("summary")
            .contains(&format!("I/O rate: {iops};"))
    );
}

#[test]
fn a_time_that_no_rate_holds_is_told_and_fails() {
    let place = Place::new();
    place.file("f", 64 << 20);
    let text = SLOW.replace("iorate=max", "iorate=2000");
    // An I/O of 8 MiB in 1 µs does not exist, however few there are.
    let played = place.search(&text, slo("p99=1us", 3));
    let error = played.ended.unwrap_err();
    assert!(matches!(error, ExecutionError::Missed { .. }), "{error}");
    assert!(error.to_string().contains("not even"), "{error}");
    assert!(played.onlooker.done[0].is_missed);
}

#[test]
fn lists_that_change_their_rate_are_refused() {
    let place = Place::new();
    for (general, rd, said) in [
        ("", "iorate=curve", "rd1"),
        (
            "",
            "iorate=(100,2,200,2),distribution=variable",
            "its rate changes",
        ),
        ("", "iorate=max,steady=yes", "steady="),
        (
            "precondition=1\n",
            "iorate=(100,50%)",
            "depends on another run",
        ),
    ] {
        let text = format!("{general}sd=sd1,lun=$dir/f,size=1m\nrd=rd1,sd=sd1,{rd},elapsed=2\n");
        let refused = Slo::check(&place.script(&text).runs)
            .unwrap_err()
            .to_string();
        assert!(
            refused.starts_with("--slo cannot search") && refused.contains(said),
            "{refused}"
        );
    }
    let fine = place
        .script(&format!("precondition=1\n{SLOW}").replace("lun=$dir/f", "lun=$dir/f,size=16m"));
    assert!(Slo::check(&fine.runs).is_ok());
}
