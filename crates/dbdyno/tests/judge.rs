//! `dbdyno report --limits`: a measured run checked against limits, from the file to the exit status.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Ended, TINY, Workspace};
use roxmltree::Document;
use rusqlite::Connection;
use serde_json::Value;
use testing::Says;

/// Limits that any machine meets, and one that no machine meets.
const KEPT: &str = "[[limit]]\nmetric = \"T132.operations_per_s\"\nat_least = 1\n\
    [[limit]]\nmetric = \"sqlite:T132@1.errors\"\nat_most = 0\n";
const MISSED: &str =
    "[[limit]]\nmetric = \"T132@1.elapsed_s\"\nat_most = 0.001\nreason = \"a joke\"\n";
const UNJUDGED: &str = "[[limit]]\nmetric = \"T611.operations_per_s\"\nat_least = 0\n";

fn measured() -> Workspace {
    let workspace = Workspace::new();
    workspace.measure(TINY, "--name night");
    workspace
}

fn judge(workspace: &Workspace, limits: &str, more: &str) -> Ended {
    workspace.file("limits.toml", limits);
    workspace.dbdyno(format!("report night --limits limits.toml {more}").as_str())
}

fn change(workspace: &Workspace, sql: &str) {
    let connection = Connection::open(workspace.archive()).unwrap();
    // A manual change to an archive may run without foreign keys.
    connection
        .pragma_update(None, "foreign_keys", false)
        .unwrap();
    assert_eq!(connection.execute(sql, []).unwrap(), 1, "{sql}");
}

#[test]
fn met_limits_end_with_status_0() {
    let ended = judge(&measured(), KEPT, "");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    // Every limit with its figure, met or not.
    let lines: Vec<&str> = ended.stdout.lines().collect();
    let [one, other, count] = lines[..] else {
        panic!("{lines:?}")
    };
    for line in [one, other] {
        assert!(
            line.starts_with("met     sqlite:T132") && line.contains(": met, from one repetition"),
            "{line}"
        );
    }
    assert_eq!(count, "2 of 2 limits met (2 from one repetition)");
}

#[test]
fn a_missed_limit_is_the_first_line_and_status_4() {
    let ended = judge(&measured(), &(KEPT.to_owned() + MISSED), "");
    assert_eq!((ended.status, ended.stderr.as_str()), (4, ""));
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{}", ended.stdout);
    assert!(
        lines[0].starts_with("missed  sqlite:T132@1.elapsed_s: "),
        "{}",
        lines[0]
    );
    assert!(lines[0].contains(" s, at most 0.001 s: "), "{}", lines[0]);
    assert!(
        lines[0].ends_with(" % above, from one repetition, at DOP 1 (a joke)"),
        "{}",
        lines[0]
    );
    assert_eq!(
        lines[3],
        "2 of 3 limits met (2 from one repetition); 1 missed"
    );
}

#[test]
fn an_unmeasured_limit_is_not_passed() {
    let ended = judge(&measured(), UNJUDGED, "");
    assert_eq!(ended.status, 4);
    ended
        .stdout
        .says("cannot be judged: the run has no point of the test \"T611\"");
    assert!(
        ended
            .stdout
            .ends_with("0 of 1 limits met; 1 cannot be judged\n")
    );
}

#[test]
fn six_repetitions_carry_an_interval() {
    let workspace = Workspace::new();
    workspace.measure(TINY, "--name night --repeat 6");
    let ended = judge(&workspace, KEPT, "--format json");
    let json = ended.json();
    let row = &json["limits"][0];
    assert_eq!(row["surety"], "clear");
    assert_eq!(row["values"].as_array().unwrap().len(), 6);
    let number = |value: &Value| value.as_f64().unwrap();
    let (low, high) = (&row["interval"]["low"], &row["interval"]["high"]);
    let (low, value, high) = (number(low), number(&row["value"]), number(high));
    assert!(low <= value && value <= high, "{row}");
    assert_eq!(row["levels"][0]["dop"], 1);
}

#[test]
fn the_json_agrees_with_the_lines() {
    let limits = [KEPT, MISSED, UNJUDGED].concat();
    let ended = judge(&measured(), &limits, "--format json");
    assert_eq!(ended.status, 4);
    let json = ended.json();
    assert_eq!(json["schema"], "dbdyno-judgement/1");
    assert_eq!(json["run"]["label"], "night");
    let outcomes: Vec<&str> = json["limits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["met", "met", "missed", "unjudged"]);
    assert_eq!((&json["met"], &json["missed"]), (&2.into(), &1.into()));
    assert!(json["limits"][2]["missed_by_pct"].as_f64().unwrap() > 1000.0);
}

#[test]
fn the_junit_file_can_be_read_by_others() {
    use std::os::unix::fs::PermissionsExt;
    let workspace = measured();
    let limits = [KEPT, MISSED, UNJUDGED].concat();
    let ended = judge(&workspace, &limits, "--format junit -o limits.xml");
    assert_eq!(ended.status, 4);
    // A build's log has the sentences, and the file alone is for the server.
    assert_eq!(ended.stdout, judge(&workspace, &limits, "").stdout);
    let printed = judge(&workspace, &limits, "--format junit").stdout;
    assert_eq!(printed, workspace.text("limits.xml"));
    let path = workspace.path("limits.xml");
    let xml = std::fs::read_to_string(&path).unwrap();
    let document = Document::parse(&xml).unwrap();
    let suite = document.descendants().find(|n| n.has_tag_name("testsuite"));
    let counts = ["name", "tests", "failures", "errors"].map(|n| suite.unwrap().attribute(n));
    assert_eq!(counts, [Some("night"), Some("5"), Some("1"), Some("1")]);
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o644
    );
    // The directory holds only the archive, the database, the plan and the two files.
    let left = std::fs::read_dir(workspace.path(".")).unwrap();
    let names: Vec<_> = left.map(|e| e.unwrap().file_name()).collect();
    assert!(
        !names
            .iter()
            .any(|n| n.to_string_lossy().starts_with(".dbdyno-output")),
        "{names:?}"
    );
}

#[test]
fn a_changed_point_fails_the_limits_on_it() {
    let workspace = measured();
    change(
        &workspace,
        "UPDATE point SET operations_per_s = operations_per_s * 2",
    );
    let ended = judge(&workspace, KEPT, "");
    assert_eq!(ended.status, 4);
    let first = ended.stdout.lines().next().unwrap();
    assert_eq!(
        first,
        "invalid points: 1 of 1 in run night; limits on these points fail"
    );
    assert!(ended.stdout.contains("is invalid: "), "{}", ended.stdout);
    assert!(
        ended
            .stdout
            .ends_with("0 of 2 limits met; 2 cannot be judged\n")
    );
}

#[test]
fn a_changed_or_incomplete_run_is_said_first_and_wins_with_status_3() {
    for sql in ["UPDATE run SET seed = '9'", "DELETE FROM point"] {
        let workspace = measured();
        change(&workspace, sql);
        let ended = judge(
            &workspace,
            &(KEPT.to_owned() + MISSED),
            "--format junit -o limits.xml",
        );
        assert_eq!(ended.status, 3, "{sql}: {}", ended.stdout);
        assert!(
            ended.stdout.starts_with("invalid run night: "),
            "{}",
            ended.stdout
        );
        assert!(
            ended
                .stdout
                .trim_end()
                .ends_with("the run is invalid, so this result does not count")
        );
        let xml = workspace.text("limits.xml");
        assert!(xml.contains("type=\"invalid run\""), "{xml}");
    }
}

#[test]
fn errors_are_one_sentence_with_the_right_status() {
    let workspace = measured();
    let cases = [
        ("", "has no limit"),
        ("[[limit", "is not TOML; line 1"),
        (
            "[[limits]]
",
            "did you mean \"limit\"?",
        ),
        (&KEPT.repeat(2), "already occurs in limit 1"),
    ];
    let changes = r#"
        at_least -> at_lest => did you mean "at_least"?
        at_most = 0 -> # => has no bound
        = 1 -> = nan => at_least = NaN is not a valid limit
        = 1 -> = 2; at_most = 1 => is above at_most
        operations_per_s -> operations_per_h => did you mean "operations_per_s"?
    "#;
    let changed = testing::rows(changes).map(|(change, expected)| {
        let (from, to) = change.split_once(" -> ").unwrap();
        (
            KEPT.replace(
                from,
                &to.replace(
                    "; ", "
",
                ),
            ),
            expected,
        )
    });
    let cases = cases.map(|(limits, expected)| (limits.to_owned(), expected));
    for (limits, expected) in cases.into_iter().chain(changed) {
        workspace.file("limits.toml", &limits);
        let judged = "report night --limits limits.toml --format junit -o limits.xml";
        workspace.refuses(2, &format!("{judged} => {expected}"));
        assert!(!workspace.path("limits.xml").exists(), "{limits}");
    }
    workspace.file("limits.toml", KEPT);
    workspace.refuses(
        2,
        "
        report night --limits gone.toml => gone.toml cannot be read
        report day --limits limits.toml => day
        ",
    );
    let nowhere = judge(&workspace, KEPT, "--format junit -o no/such/limits.xml");
    assert_eq!((nowhere.status, nowhere.stdout.as_str()), (1, ""));
    nowhere.sentence().says("choose another file with -o");
}

#[test]
fn the_example_file_is_one() {
    let workspace = measured();
    let example = common::repository("docs/examples/limits.toml");
    let ended = workspace.ends(
        4,
        &["report", "night", "--limits", example.to_str().unwrap()],
    );
    ended.stdout.says("cannot be judged");
}
