//! The three forms of output, for a run with every outcome.

use archive::{Remark, Run, RunState};
use roxmltree::{Document, Node};
use verdict::sla::{Judgement, json, junit, text};

use super::runs::{both, repeated};
use super::{held, sla};
use testing::Says;

const LIMITS: [&str; 6] = [
    "T611.operations_per_s at_least = 2000; reason = \"the shop's <peak> & more\"",
    "sqlite:T611@4.response_us_p99 at_most = 800",
    "T332.operations_per_s at_least = 10",
    "T311.read_mb_per_s at_most = 5",
    "T999.rows_per_s at_least = 1",
    "sqlite:T311.errors at_most = 0",
];

fn example() -> (Run, Judgement) {
    let mut run = both();
    run.points[5].figures.errors = Some(3.0);
    let text = "the \"sum\" is <wrong> & \u{1b}[31mred\u{ffff}".into();
    run.points[4].reasons = vec![Remark::Text { text }];
    let judgement = held(&run, &LIMITS);
    (run, judgement)
}

fn noisy() -> (Run, Judgement) {
    let mut run = repeated(&[990.0, 1_010.0, 1_020.0, 1_030.0, 1_040.0, 1_050.0]);
    run.points[5].figures.errors = None;
    let limits = [
        "T611.operations_per_s at_least = 1000",
        "sqlite:T611.operations_per_s at_least = 1030",
        "T611.errors at_most = 0",
    ];
    let judgement = held(&run, &limits);
    run.state = RunState::Interrupted;
    run.points_planned = 8;
    let judgement = Judgement {
        soundness: held(&run, &limits).soundness,
        ..judgement
    };
    (run, judgement)
}

#[test]
fn the_text_has_a_line_for_each_failure_and_the_count() {
    let (run, judgement) = example();
    insta::assert_snapshot!("text", text(&run, &judgement));
    let (run, judgement) = noisy();
    insta::assert_snapshot!("text_noisy", text(&run, &judgement));
    let run = repeated(&[5.0]);
    let judgement = held(&run, &["T611.operations_per_s at_least = 1"]);
    assert_eq!(
        text(&run, &judgement),
        "met     sqlite:T611.operations_per_s: 5 ops/s, at least 1 ops/s: met, from one repetition, at DOP 4\n\
         1 of 1 limits met (1 from one repetition)\n"
    );
}

#[test]
fn the_json_holds_the_same_rows() {
    let (run, judgement) = example();
    insta::assert_snapshot!("json", format!("{:#}", json(&run, &judgement)));
    let (run, judgement) = noisy();
    let noisy = json(&run, &judgement);
    assert_eq!(noisy["run"]["sound"], false);
    assert_eq!(noisy["limits"][0]["surety"], "within_noise");
    assert_eq!(noisy["limits"][0]["interval"]["low"], 990.0);
}

#[test]
fn the_junit_document_looks_like_this() {
    let (run, judgement) = example();
    insta::assert_snapshot!("junit", junit(&run, &judgement));
}

fn all<'a>(document: &'a Document<'_>, name: &str) -> Vec<Node<'a, 'a>> {
    let nodes = document.descendants();
    nodes.filter(|node| node.has_tag_name(name)).collect()
}

fn count(node: Node<'_, '_>, name: &str) -> usize {
    node.attribute(name).unwrap().parse().unwrap()
}

#[test]
fn the_junit_document_reads_back_with_the_same_counts() {
    for (run, judgement) in [example(), noisy()] {
        let xml = junit(&run, &judgement);
        let document = Document::parse(&xml).unwrap();
        let suite = all(&document, "testsuite")[0];
        assert_eq!(suite.attribute("name"), Some("nightly"));
        assert_eq!(count(suite, "tests"), judgement.rows.len() + 1);
        assert_eq!(count(suite, "tests"), all(&document, "testcase").len());
        assert_eq!(count(suite, "failures"), judgement.missed());
        assert_eq!(count(suite, "failures"), all(&document, "failure").len());
        assert_eq!(count(suite, "errors"), all(&document, "error").len());
        let errors = judgement.unjudged() + usize::from(!judgement.sound());
        assert_eq!(count(suite, "errors"), errors);
        for (case, row) in all(&document, "testcase")
            .iter()
            .skip(1)
            .zip(&judgement.rows)
        {
            assert_eq!(
                case.attribute("name"),
                Some(row.metric.to_string().as_str())
            );
        }
    }
}

#[test]
fn the_junit_document_tells_the_run_and_the_reasons() {
    let (run, judgement) = example();
    let xml = junit(&run, &judgement);
    let document = Document::parse(&xml).unwrap();
    let property = |name: &str| {
        let properties = all(&document, "property");
        let found = properties
            .iter()
            .find(|p| p.attribute("name") == Some(name));
        found.and_then(|p| p.attribute("value")).map(str::to_owned)
    };
    assert_eq!(property("run.plan").as_deref(), Some("quick"));
    assert_eq!(property("target.sqlite").as_deref(), Some("sqlite 1.2"));
    assert_eq!(
        property("platform.kernel"),
        None,
        "what is not known is left out"
    );
    assert!(
        !xml.contains("/var/tmp"),
        "addresses of targets are not told"
    );
    let failure = all(&document, "failure")[0];
    let message = failure.attribute("message").unwrap();
    assert!(message.contains("the shop's <peak> & more"), "{message}");
    assert_eq!(failure.text(), Some(message));
    let error = all(&document, "error")[0].attribute("message").unwrap();
    error.says("the \"sum\" is <wrong> & [31mred\u{fffd}");
}

#[test]
fn names_of_cases_are_unique_also_where_limits_overlap() {
    let limits = [
        "T611.operations_per_s at_least = 1",
        "sqlite:T611.operations_per_s at_least = 2",
    ];
    let run = both();
    let xml = junit(&run, &verdict::sla::judge(&run, &sla(&limits)));
    let document = Document::parse(&xml).unwrap();
    let cases = all(&document, "testcase");
    let mut names: Vec<_> = cases
        .iter()
        .map(|c| (c.attribute("classname"), c.attribute("name")))
        .collect();
    let before = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!((names.len(), before), (4, 4));
}
