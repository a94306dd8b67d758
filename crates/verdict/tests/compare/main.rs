//! Two runs compared: pairing, refusals, labels, primary metrics, advice.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod alternatives;
mod analyses;
#[path = "../sla/runs.rs"]
#[allow(dead_code)] // the limits' tests use the rest
mod runs;
mod screening;
mod shift;

use archive::{CacheState, Remark, Run, RunState, StudyPart};
use runs::{frame, point};
use stats::Warning;
use stats::compare::{Band, Design, Verdict};
use stats::forecast::Further;
use stats::random::Random;
use testing::Says;
use verdict::compare::{
    CompareError, Comparison, Named, NotComparable, Options, Terms, compare, json,
};
use verdict::metric::Metric;

/// Ten repetitions of T611 at one and four jobs that scatter by one percent around `rate`.
fn run(label: &str, rate: f64) -> Run {
    const WOBBLE: [f64; 10] = [
        1.0, 1.01, 0.99, 1.005, 0.995, 1.002, 0.998, 1.007, 0.993, 1.0,
    ];
    let mut run = frame(10);
    run.id = label.len() as i64 * 100 + i64::from(label.as_bytes()[0]);
    run.label = label.into();
    for (repetition, wobble) in (1..).zip(WOBBLE) {
        for jobs in [1, 4] {
            let rate = rate * wobble * f64::from(jobs).sqrt();
            run.points.push(point(repetition, 0, "T611", jobs, rate));
        }
    }
    run.points_planned = 20;
    run
}

/// The two sides of one study, with independent noise.
fn study(rate_b: f64) -> (Run, Run) {
    let (mut a, mut b) = (run("s-a", 1000.0), run("s-b", rate_b));
    for (at, point) in b.points.iter_mut().enumerate() {
        let own = 1.0 + 0.002 * ((at * 7 % 5) as f64 - 2.0);
        point.figures.operations_per_s = point.figures.operations_per_s.map(|v| v * own);
    }
    for (run, side) in [(&mut a, "a"), (&mut b, "b")] {
        run.study = Some(StudyPart {
            name: "s".into(),
            side: side.into(),
            order: "abba".repeat(5),
            settings: Vec::new(),
            slice_ms: None,
            ..StudyPart::default()
        });
    }
    (a, b)
}

fn with_defaults(a: &Run, b: &Run) -> Comparison {
    compare(a, b, &Options::default()).unwrap()
}

fn refusal(a: &Run, b: &Run) -> String {
    compare(a, b, &Options::default()).unwrap_err().to_string()
}

#[test]
fn queries_per_hour_decide_where_that_is_what_a_test_amounts_to() {
    let (mut a, mut b) = study(1100.0);
    for run in [&mut a, &mut b] {
        for point in &mut run.points {
            let figures = &mut point.figures;
            figures.scaled_queries_per_h = figures.operations_per_s.take();
        }
    }
    let found = with_defaults(&a, &b);
    let primary: Vec<_> = found.primary().collect();
    let metric = primary[0].metric.to_string();
    assert_eq!(metric, "sqlite:T611.scaled_queries_per_h");
    assert_eq!(primary[0].result.verdict, Verdict::Better);
}

#[test]
fn the_sides_of_a_study_are_compared_in_pairs() {
    let (a, b) = study(1100.0);
    let found = with_defaults(&a, &b);
    assert_eq!((found.design, found.named), (Design::Paired, Named::ByRule));
    let primary: Vec<_> = found.primary().collect();
    assert_eq!(primary.len(), 1);
    assert_eq!(
        primary[0].metric.to_string(),
        "sqlite:T611.operations_per_s"
    );
    assert_eq!(primary[0].result.verdict, Verdict::Better);
    let ratio = primary[0].result.ratio.unwrap();
    assert!((ratio.estimate - 1.1).abs() < 0.01, "{ratio:?}");
    assert!(primary[0].advised.is_some_and(|n| (6..=10).contains(&n)));
    assert!(primary[0].holm_p.is_some_and(|p| p < 0.01));
    // The best level has four jobs; each level and its response times are secondary.
    let others: Vec<String> = found.rows[1..]
        .iter()
        .map(|r| r.metric.to_string())
        .collect();
    assert_eq!(others.len(), 6, "{others:?}");
    assert!(others.contains(&"sqlite:T611@4.response_us_p99".to_owned()));
    let equal = with_defaults(&study(1000.0).0, &study(1000.0).1);
    assert!(equal.any_primary(Verdict::Equivalent) && equal.cautions.is_empty());
}

#[test]
fn runs_one_after_the_other_carry_no_verdict_unless_they_are_trusted() {
    let (a, b) = (run("before", 1000.0), run("after", 900.0));
    for (trust_sequential, verdict) in [(false, Verdict::Inconclusive), (true, Verdict::Worse)] {
        let options = Options {
            terms: Terms {
                trust_sequential,
                ..Terms::default()
            },
            ..Options::default()
        };
        let found = compare(&a, &b, &options).unwrap();
        let trusted = trust_sequential;
        assert_eq!(found.design, Design::Sequential { trusted });
        let row = found.primary().next().unwrap();
        assert_eq!(row.result.verdict, verdict);
        // The ratio is still shown, and more repetitions are not advised because they cannot decide.
        assert!(row.result.ratio.is_some_and(|r| r.high < 0.92), "{row:?}");
        assert!(row.result.warnings.contains(&Warning::NotInterleaved));
        assert_eq!(row.result.further, None);
        assert_eq!(row.advised.is_some(), trusted);
        assert!(found.cautions[0].contains("nothing that is recorded differs"));
        assert_eq!(json(&found, &[], &[])["decides"], trusted);
    }
}

#[test]
fn the_intervals_of_several_primary_metrics_hold_together() {
    let (a, b) = study(1100.0);
    let requested: Vec<Metric> = ["operations_per_s", "response_us_p50", "response_us_p99"]
        .iter()
        .map(|figure| format!("sqlite:T611@4.{figure}").parse().unwrap())
        .collect();
    let of = |a: &Run, b: &Run, primary: &[Metric]| {
        let options = Options {
            primary,
            ..Options::default()
        };
        let found = compare(a, b, &options).unwrap();
        let first = found.primary().next().unwrap().result.clone();
        (found.confidence, first)
    };
    let (each, alone) = of(&a, &b, &requested[..1]);
    assert!((each - 0.95).abs() < 1e-12);
    let (each, one_of_three) = of(&a, &b, &requested);
    assert!((each - (1.0 - 0.05 / 3.0)).abs() < 1e-12);
    let (narrow, wide) = (alone.ratio.unwrap(), one_of_three.ratio.unwrap());
    assert!(wide.confidence >= each && narrow.confidence < wide.confidence);
    assert!(
        wide.low < narrow.low && wide.high > narrow.high,
        "{wide:?} {narrow:?}"
    );
    // Missing figures do not count: here the check of a database, which has no throughput.
    let with_check = |mut run: Run| {
        for repetition in 1..=10 {
            let mut check = point(repetition, 0, "OLTP-BEFORE", 1, 1.0);
            check.figures.operations_per_s = None;
            run.points.push(check);
        }
        run
    };
    let by_rule = with_defaults(&with_check(a.clone()), &with_check(b.clone()));
    assert_eq!((by_rule.primary().count(), by_rule.confidence), (2, 0.95));
    // Six pairs have an interval for one metric, and none for three simultaneously.
    let cut = |mut run: Run| {
        run.repetitions = 6;
        run.points.retain(|p| p.key.repetition <= 6);
        run
    };
    let (a, b) = (cut(a), cut(b));
    assert_eq!(of(&a, &b, &requested[..1]).1.verdict, Verdict::Better);
    let found = of(&a, &b, &requested).1;
    assert_eq!(found.verdict, Verdict::Inconclusive);
    assert_eq!(found.further, Some(Further::More(1)));
}

#[test]
fn one_repetition_of_each_carries_no_verdict() {
    let cut = |mut run: Run| {
        run.repetitions = 1;
        run.points.retain(|p| p.key.repetition == 1);
        run
    };
    let (a, b) = (cut(run("before", 1000.0)), cut(run("after", 900.0)));
    let found = with_defaults(&a, &b);
    assert!(found.is_one_each());
    let row = found.primary().next().unwrap();
    assert_eq!(row.result.verdict, Verdict::Inconclusive);
    assert_eq!((row.result.ratio, row.result.further), (None, None));
    let trusted = Options {
        terms: Terms {
            trust_sequential: true,
            ..Terms::default()
        },
        ..Options::default()
    };
    let found = compare(&a, &b, &trusted).unwrap();
    let row = found.primary().next().unwrap();
    assert_eq!(row.result.further, Some(Further::More(3)));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let (a, b) = (run("before", 1000.0), run("after", 900.0));
    assert!(refusal(&a, &a).contains("with itself"));
    let mut altered = b.clone();
    altered.reasons.push(Remark::RunAltered);
    assert!(refusal(&a, &altered).contains("record of the run was changed"));
    let mut other = b.clone();
    other
        .points
        .iter_mut()
        .for_each(|p| p.key.test = "T421".into());
    assert!(matches!(
        compare(&a, &other, &Options::default()),
        Err(CompareError::NotComparable(
            NotComparable::NothingInCommon { .. }
        ))
    ));
}

#[test]
fn scale_protocol_and_definition_must_be_alike_or_are_labelled() {
    let a = run("before", 1000.0);
    type Change = fn(&mut archive::Point);
    let changes: [(Change, &str); 5] = [
        (|p| p.work.size = "small".into(), "the size of the data"),
        (
            |p| p.work.schedule = "open, constant, 5/s".into(),
            "the schedule",
        ),
        (
            |p| p.work.cache = CacheState::Cold,
            "the state of the cache",
        ),
        (|p| p.work.seconds = Some(3.0), "the length of a point"),
        (
            |p| p.definition = "beef".into(),
            "the definition of the test",
        ),
    ];
    for (change, expected) in changes {
        let mut b = run("after", 900.0);
        b.points.iter_mut().for_each(change);
        let said = refusal(&a, &b);
        assert!(said.contains(expected) && said.contains("T611"), "{said}");
        let allow_mismatch = Options {
            allow_mismatch: true,
            ..Options::default()
        };
        let labelled = compare(&a, &b, &allow_mismatch).unwrap();
        let label = labelled.cautions.join(" ");
        label.says_all(&["measured differently", expected]);
    }
    let mut b = run("after", 900.0);
    b.points[3].reasons.push(Remark::NoIo);
    b.state = RunState::Interrupted;
    let said = with_defaults(&a, &b).cautions.join("; ");
    said.says_all(&["1 of 20 points of run after are invalid", "not complete"]);
}

#[test]
fn what_a_study_varies_on_purpose_is_not_told_as_measured_differently() {
    let (mut a, mut b) = study(1100.0);
    for point in &mut b.points {
        point.work.seconds = Some(3.0);
        point.work.schedule = "open, constant, 5/s".into();
        point.work.cache = CacheState::Cold;
    }
    let message = |a: &Run, b: &Run| with_defaults(a, b).cautions.join("; ");
    let set = |run: &mut Run, settings: &[&str]| {
        let settings = settings.iter().map(ToString::to_string).collect();
        run.study.as_mut().unwrap().settings = settings;
    };
    // Neither settings of the database nor none change the plan.
    for settings in [&[][..], &["target.shared_buffers=1GB"]] {
        set(&mut b, settings);
        let said = message(&a, &b);
        said.says_all(&[
            "the length of a point",
            "the schedule",
            "the state of the cache",
        ]);
    }
    set(&mut a, &["step.seconds=1"]);
    let said = message(&a, &b);
    assert!(
        !said.contains("the length of a point") && !said.contains("the schedule"),
        "{said}"
    );
    // Properties that no plan determines are still reported.
    assert!(said.contains("the state of the cache"), "{said}");
}

#[test]
fn an_invalid_half_breaks_its_pair_alone() {
    let (a, mut b) = study(1100.0);
    for point in b.points.iter_mut().filter(|p| p.key.repetition == 2) {
        point.reasons.push(Remark::NoIo);
    }
    let found = with_defaults(&a, &b);
    let row = found.primary().next().unwrap();
    assert_eq!(row.b.len(), 9);
    assert!(
        row.result
            .warnings
            .contains(&Warning::NotFinite { dropped: 1 })
    );
    assert_eq!(row.result.verdict, Verdict::Better);
}

#[test]
fn a_plan_names_the_primary_metrics_and_a_later_wish_is_said() {
    let (mut a, b) = study(1100.0);
    a.plan_toml = "name = \"p\"\nprimary = [\"T611@1.response_us_p50\"]\n".into();
    let found = with_defaults(&a, &b);
    assert_eq!(found.named, Named::InPlan);
    let names: Vec<String> = found.primary().map(|r| r.metric.to_string()).collect();
    assert_eq!(names, ["sqlite:T611@1.response_us_p50"]);
    let requested: Vec<Metric> = vec!["sqlite:T611@4.operations_per_s".parse().unwrap()];
    let options = Options {
        primary: &requested,
        ..Options::default()
    };
    assert_eq!(compare(&a, &b, &options).unwrap().named, Named::Afterwards);
    let undirected: Vec<Metric> = vec!["T611.cpu_pct_avg".parse().unwrap()];
    let options = Options {
        primary: &undirected,
        ..Options::default()
    };
    assert!(matches!(
        compare(&a, &b, &options),
        Err(CompareError::NoDirection(_))
    ));
}

#[test]
fn a_plan_narrowed_to_other_tests_is_compared_by_the_rule() {
    let (mut a, b) = (run("before", 1000.0), run("after", 900.0));
    a.plan_toml = "name = \"p\"\nprimary = [\"T999.operations_per_s\"]\n".into();
    let found = compare(&a, &b, &Options::default()).unwrap();
    assert_eq!(found.named, Named::ByRule);
    assert!(found.primary().next().is_some());
}

#[test]
fn noise_is_learned_from_studies_against_themselves_and_grants_nothing() {
    let (a, b) = study(1030.0);
    fn with(studies: &[(Run, Run)]) -> Options<'_> {
        Options {
            studies,
            ..Options::default()
        }
    }
    let noisy = |factors: [f64; 3]| {
        let mut noisy = study(1000.0);
        for (at, point) in noisy.1.points.iter_mut().enumerate() {
            let figure = &mut point.figures.operations_per_s;
            *figure = figure.map(|v| v * factors[at % 3]);
        }
        [noisy]
    };
    let of = |studies: &[(Run, Run)]| {
        let found = compare(&a, &b, &with(studies)).unwrap();
        let row = found.primary().next().unwrap();
        (row.band, row.result.verdict)
    };
    let (band, verdict) = of(&[study(1000.0)]);
    assert!(band.noise > 0.0 && band.noise < 0.02, "{band:?}");
    assert_eq!((band.equivalence, verdict), (0.02, Verdict::Better));
    // A machine with noise of 12 % can call 3 % neither better nor equal.
    let (band, verdict) = of(&noisy([0.96, 1.0, 1.04]));
    assert!(band.noise > 0.04, "{band:?}");
    assert_eq!((band.equivalence, verdict), (0.02, Verdict::Inconclusive));
    let error = compare(&a, &b, &with(&noisy([0.5, 1.0, 2.0])))
        .unwrap_err()
        .to_string();
    assert!(error.contains("vary so much"), "{error}");
    let banded = |share: f64| Options {
        terms: Terms {
            band: Band::of(share),
            ..Terms::default()
        },
        ..Options::default()
    };
    for wild in [1.5, -0.1, f64::NAN] {
        assert!(matches!(
            compare(&a, &b, &banded(wild)),
            Err(CompareError::NotAShare)
        ));
    }
    let without = compare(&a, &b, &banded(0.0)).unwrap();
    assert!(without.any_primary(Verdict::Better));
}

#[test]
fn the_json_holds_values_ratio_and_reasons() {
    let (a, b) = study(1100.0);
    let value = json(&with_defaults(&a, &b), &[], &[]);
    assert_eq!(value["schema"], "dbdyno-comparison/1");
    let first = &value["metrics"][0];
    assert_eq!(first["verdict"], "better");
    assert_eq!(first["primary"], true);
    assert_eq!(first["values_a"].as_array().unwrap().len(), 10);
    assert!(first["ratio_low"].as_f64().unwrap() > 1.02);
    assert_eq!(value["design"], "pairs");
}

#[test]
fn odd_figures_never_panic() {
    for odd in [f64::NAN, 0.0, -1.0, f64::INFINITY, 7.0] {
        let (mut a, mut b) = study(1000.0);
        for point in a.points.iter_mut().chain(&mut b.points) {
            point.figures.operations_per_s = Some(odd);
        }
        let found = with_defaults(&a, &b);
        let row = found.primary().next().unwrap();
        assert!(!row.result.warnings.is_empty(), "{odd}: {row:?}");
    }
}

/// A real comparison gives cost and gain: 50 % faster for a third more.
#[test]
fn a_change_costs_and_brings() {
    use verdict::price::{PriceList, bill, change};
    let (a, b) = study(1500.0);
    let of = |list: u32, run: &Run| {
        let text = format!(
            "currency = \"USD\"\n[[item]]\npart = \"p\"\nquantity = 1\nlist = {list}\nsource = \"s\"\ndate = \"2025\"\n"
        );
        bill(&PriceList::parse("f", &text).unwrap(), run)
    };
    let compared = with_defaults(&a, &b);
    let found = change(&of(90_000, &a), &of(120_000, &b), &compared);
    assert_eq!((found.extra(), &found.refused), (Some(30_000.0), &None));
    let gain = &found.gains[0];
    let ratio = compared.primary().next().unwrap().result.ratio.unwrap();
    assert_eq!(gain.performance, ratio);
    let worth = gain.price_of_performance.unwrap();
    assert!(
        (worth.low - 4.0 / 3.0 / ratio.high).abs() < 1e-12,
        "{worth:?}"
    );
    assert!(
        (worth.high - 4.0 / 3.0 / ratio.low).abs() < 1e-12,
        "{worth:?}"
    );
    assert!((0.88..0.90).contains(&worth.estimate), "{worth:?}");
    // The best level has four jobs and 2,000 ops/s: 30,000 USD for about 1,000 more.
    let per_unit = gain.per_unit.unwrap();
    assert!((29.0..31.0).contains(&per_unit.estimate), "{per_unit:?}");
    assert!(per_unit.low < per_unit.estimate && per_unit.estimate < per_unit.high);
}

/// Rates with such a scatter, including outliers, that a side's median says little of a ratio.
fn scattered(run: &mut Run, random: &mut Random) {
    for point in &mut run.points {
        let tail = random.normal() / random.unit().max(0.05);
        let rate = &mut point.figures.operations_per_s;
        *rate = rate.map(|rate| rate * (0.3 * tail).exp());
    }
}

/// A and B of a row never contradict the ratio, in pairs and in consecutive runs.
#[test]
fn no_row_contradicts_itself() {
    let mut random = Random::new(4);
    let mut medians_differ = 0;
    for round in 0..24 {
        let (mut a, mut b) = study(1000.0);
        scattered(&mut a, &mut random);
        scattered(&mut b, &mut random);
        if round % 2 == 1 {
            (a.study, b.study) = (None, None);
        }
        for row in &with_defaults(&a, &b).rows {
            let [Some(a), Some(b)] = row.sides() else {
                panic!("{row:?}");
            };
            let ratio = row.ratio().unwrap();
            assert!((b / a / ratio - 1.0).abs() < 1e-9, "{a} {b} {ratio}");
            let [a, b] = [&row.a, &row.b].map(|side| stats::summary::median(side).unwrap());
            medians_differ += u32::from((b > a) != (ratio > 1.0));
        }
    }
    assert!(medians_differ > 0, "the data show the difference");
}

#[test]
fn sides_that_were_set_apart_differ() {
    let (mut a, mut b) = study(1000.0);
    for (run, path) in [(&mut a, "/a"), (&mut b, "/b")] {
        run.study.as_mut().unwrap().settings = vec![format!("target=sqlite:{path}")];
    }
    let found = with_defaults(&a, &b);
    assert!(found.cautions.is_empty(), "{:?}", found.cautions);
}
