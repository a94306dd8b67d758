#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod outputs;
mod runs;

use archive::{Remark, Run, RunState};
use runs::{both, frame, point, repeated};
use testing::Says;
use verdict::sla::{Bound, Judgement, Outcome, Sla, Surety, judge};

/// Judges with a file of one `metric bounds` per line, such as `T611.rows_per_s at_least = 1`.
fn held(run: &Run, limits: &[&str]) -> Judgement {
    judge(run, &sla(limits))
}

fn sla(limits: &[&str]) -> Sla {
    let table = |line: &&str| {
        let (metric, bounds) = line.split_once(' ').unwrap();
        let bounds = bounds.replace("; ", "\n");
        format!("[[limit]]\nmetric = \"{metric}\"\n{bounds}\n")
    };
    Sla::parse("limits.toml", &limits.iter().map(table).collect::<String>()).unwrap()
}

fn outcome(run: &Run, limit: &str) -> Outcome {
    let mut judgement = held(run, &[limit]);
    assert_eq!(judgement.rows.len(), 1, "{judgement:?}");
    judgement.rows.remove(0).outcome
}

fn why(run: &Run, limit: &str) -> String {
    match outcome(run, limit) {
        Outcome::Unjudged { why } => why,
        other => panic!("{limit} was judged: {other:?}"),
    }
}

#[test]
fn a_value_on_the_bound_keeps_the_limit() {
    let run = repeated(&[1_000.0]);
    for bounds in [
        "at_least = 1000",
        "at_most = 1000",
        "at_least = 1000; at_most = 1000",
    ] {
        let outcome = outcome(&run, &format!("T611.operations_per_s {bounds}"));
        assert!(matches!(outcome, Outcome::Met(_)), "{bounds}: {outcome:?}");
    }
}

#[test]
fn a_missed_limit_says_which_bound_and_by_how_much() {
    let run = repeated(&[1_000.0]);
    let low = outcome(
        &run,
        "T611.operations_per_s at_least = 1250; at_most = 2000",
    );
    assert_eq!(low.missed_by_pct(), Some(20.0));
    assert!(matches!(low, Outcome::Missed { bound: Bound::AtLeast, limit, .. } if limit == 1250.0));
    let high = outcome(&run, "T611.operations_per_s at_most = 800");
    assert_eq!(high.missed_by_pct(), Some(25.0));
    assert!(matches!(
        high,
        Outcome::Missed {
            bound: Bound::AtMost,
            ..
        }
    ));
}

#[test]
fn a_limit_of_nothing_has_no_percentage() {
    let mut run = repeated(&[1_000.0]);
    assert!(matches!(
        outcome(&run, "T611.errors at_most = 0"),
        Outcome::Met(_)
    ));
    run.points[0].figures.errors = Some(3.0);
    let missed = outcome(&run, "T611.errors at_most = 0");
    assert!(matches!(missed, Outcome::Missed { .. }));
    assert_eq!(missed.missed_by_pct(), None);
}

#[test]
fn the_median_over_the_repetitions_decides() {
    // The mean is far below the limit, the median above it.
    let run = repeated(&[100.0, 1_010.0, 1_020.0]);
    let Outcome::Met(finding) = outcome(&run, "T611.operations_per_s at_least = 1000") else {
        panic!("the median keeps the limit");
    };
    assert_eq!((finding.value, finding.interval), (1_010.0, None));
    assert_eq!(finding.surety, Surety::FewRepetitions);
}

#[test]
fn six_repetitions_tell_noise_from_certainty() {
    let six = [990.0, 1_010.0, 1_020.0, 1_030.0, 1_040.0, 1_050.0];
    let surety = |limit: &str| {
        let outcome = outcome(&repeated(&six), &format!("T611.operations_per_s {limit}"));
        let kept = matches!(outcome, Outcome::Met(_));
        (kept, outcome.finding().unwrap().surety)
    };
    assert_eq!(surety("at_least = 980"), (true, Surety::Clear));
    assert_eq!(surety("at_least = 990"), (true, Surety::Clear));
    assert_eq!(surety("at_least = 1000"), (true, Surety::WithinNoise));
    assert_eq!(surety("at_least = 1030"), (false, Surety::WithinNoise));
    assert_eq!(surety("at_least = 1060"), (false, Surety::Clear));
    assert_eq!(surety("at_most = 1045"), (true, Surety::WithinNoise));
    assert_eq!(surety("at_most = 900"), (false, Surety::Clear));
    assert_eq!(
        surety("at_least = 1000; at_most = 2000"),
        (true, Surety::WithinNoise)
    );
    // The whole band is inside the interval: both ends violate a bound, the median none.
    assert_eq!(
        surety("at_least = 1020; at_most = 1030"),
        (true, Surety::WithinNoise)
    );
    let outcome = outcome(&repeated(&six), "T611.operations_per_s at_least = 1");
    let interval = outcome.finding().unwrap().interval.unwrap();
    assert_eq!((interval.low, interval.high), (990.0, 1_050.0));
}

#[test]
fn one_repetition_says_so() {
    let outcome = outcome(&repeated(&[5.0]), "T611.operations_per_s at_least = 1");
    assert_eq!(outcome.finding().unwrap().surety, Surety::OneRepetition);
}

#[test]
fn a_limit_without_target_holds_on_every_target_that_has_the_test() {
    let judgement = held(&both(), &["T611.operations_per_s at_least = 2000"]);
    let rows: Vec<_> = judgement
        .rows
        .iter()
        .map(|r| r.metric.to_string())
        .collect();
    assert_eq!(
        rows,
        [
            "sqlite:T611.operations_per_s",
            "duckdb:T611.operations_per_s"
        ]
    );
    assert_eq!((judgement.met(), judgement.missed()), (1, 1));
    // The best level differs between the targets.
    let levels = |at: usize| judgement.rows[at].outcome.finding().unwrap().levels.clone();
    assert_eq!(levels(0), [(4, 1)].into());
    assert_eq!(levels(1), [(1, 1)].into());
    assert!(judgement.left_out.is_empty());
}

#[test]
fn a_target_without_the_test_is_left_out_aloud() {
    let judgement = held(&both(), &["T332.operations_per_s at_least = 1"]);
    assert_eq!((judgement.rows.len(), judgement.met()), (1, 1));
    assert_eq!(judgement.left_out.len(), 1);
    let left_out = &judgement.left_out[0];
    assert_eq!(left_out.metric.to_string(), "sqlite:T332.operations_per_s");
    assert!(left_out.reason.contains("no compressed tables"));
}

#[test]
fn what_is_not_there_is_never_passed() {
    let run = both();
    let cases = r#"
        T612.operations_per_s at_least = 0 => no point of the test "T612" (did you mean "T611"?)
        sqlit:T611.operations_per_s at_least = 0 => no target "sqlit" (did you mean "sqlite"?)
        sqlite:T332.operations_per_s at_least = 0 => no compressed tables
        duckdb:T311.operations_per_s at_least = 0 => no point of the test "T311"
        sqlite:T611@8.operations_per_s at_least = 0 => not measured at this level, but at DOP 1 and 4
        sqlite:T611.read_mb_per_s at_most = 1 => no value of read_mb_per_s
        sqlite:T611.service_us_p99 at_most = 1 => no value of service_us_p99
    "#;
    for (limit, expected) in testing::rows(cases) {
        let why = why(&run, limit);
        assert!(why.contains(expected), "{limit}: {why}");
    }
    assert_eq!(held(&frame(1), &["T611.rows at_least = 0"]).unjudged(), 1);
    // The same holds for a run without targets.
    let mut bare = frame(1);
    bare.targets.clear();
    assert_eq!(held(&bare, &["T611.rows at_least = 0"]).unjudged(), 1);
}

#[test]
fn an_unreached_level_fails_the_target_that_lacks_it() {
    let mut run = both();
    run.points.retain(|p| p.key.target == 0 || p.key.jobs == 1);
    let judgement = held(&run, &["T611@4.operations_per_s at_least = 1"]);
    assert_eq!((judgement.met(), judgement.unjudged()), (1, 1));
}

#[test]
fn an_invalid_point_fails_the_limits_that_cover_it_and_only_those() {
    let mut run = both();
    run.points[0].reasons = vec![Remark::TransactionsFailed { errors: 7 }];
    let best = "sqlite:T611.operations_per_s at_least = 1";
    let reason = why(&run, best);
    reason.says("DOP 1 in repetition 1 is invalid: 7 transactions failed");
    let other = outcome(&run, "sqlite:T611@4.operations_per_s at_least = 1");
    assert!(matches!(other, Outcome::Met(_)));
    let judgement = held(&run, &[best]);
    assert!(judgement.sound(), "the run as a whole is still sound");
    assert_eq!(judgement.soundness.points_invalid, 1);

    run.points[1].reasons = vec![Remark::NoIo];
    assert!(why(&run, best).contains("(and 1 more of 2 points)"));
}

#[test]
fn a_run_that_is_stopped_or_changed_is_unsound_whatever_its_limits_say() {
    let limit = ["sqlite:T611.operations_per_s at_least = 1"];
    for state in [RunState::Interrupted, RunState::Running] {
        let mut run = both();
        run.state = state;
        run.points_planned = 9;
        let judgement = held(&run, &limit);
        assert!(!judgement.sound());
        assert_eq!(
            judgement.soundness.faults,
            ["it is not complete: 6 of 9 points are finished"]
        );
        assert_eq!(judgement.met(), 1);
    }
    let mut run = both();
    run.reasons = vec![Remark::RunAltered];
    assert!(!held(&run, &limit).sound());
}

#[test]
fn latencies_are_read_from_the_histograms() {
    let run = repeated(&[1.0]);
    let outcome = outcome(&run, "T611@4.response_us_p99 at_most = 1000");
    let value = outcome.finding().unwrap().value;
    assert!((989.0..992.0).contains(&value), "{value}");
}

#[test]
fn several_steps_under_one_limit_are_said() {
    let mut run = repeated(&[10.0]);
    let mut second = point(1, 0, "T611", 4, 20.0);
    second.key.step = 3;
    run.points.push(second);
    let outcome = outcome(&run, "T611@4.operations_per_s at_least = 15");
    assert_eq!(outcome.finding().unwrap().steps, [1, 3].into());
}

#[test]
fn odd_figures_are_no_figures() {
    for odd in [f64::NAN, f64::INFINITY] {
        let why = why(&repeated(&[odd]), "T611.operations_per_s at_least = 0");
        assert!(why.contains("has no value of"), "{why}");
    }
    let mut run = repeated(&[1.0, 2.0]);
    run.points[0].key.repetition = 0;
    run.points[1].key.repetition = 9;
    assert!(why(&run, "T611.operations_per_s at_least = 0").contains("has no value of"));
}
