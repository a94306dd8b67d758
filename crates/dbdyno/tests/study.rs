//! Built-in studies: a run, a change by a command or by the user, and a run.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "study/screening.rs"]
mod screening;
mod sleep;

use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::words;
use common::{Ended, Workspace, points};
use testing::Says;

/// The smallest settings of the study.
const LITTLE: &str = "--set repeat=1 --set step.1.tests=[\"T311\"] --set step.1.jobs=[1] \
    --set step.oltp.warehouse_rows=tenth --set step.oltp.users=2 --set step.3.seconds=0.5 \
    --set step.3.ramp_up_seconds=0 --set step.oltp.warm_up_max_seconds=1 --set step.oltp.check=none";

fn study<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let head = words("study storage-update --name disk --target {}", &[target]);
    [&head[..], &words(LITTLE, &[]), more].concat()
}

fn state(workspace: &Workspace, label: &str) -> Option<(String, usize)> {
    let runs = workspace.fine("runs list").stdout;
    let line = runs
        .lines()
        .find(|line| line.split_whitespace().nth(1) == Some(label))?;
    let state = line.split_whitespace().nth(3)?.to_owned();
    Some((state, points(&workspace.export(label)).len()))
}

#[test]
fn a_change_made_by_a_command_lies_between_two_runs_of_one_plan() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "bench.db");
    let hook = "echo hook; echo $DBDYNO_STUDY >> changed";
    let ended = workspace.fine(&study(
        &url,
        &["--change-cmd", hook, "-o", "page.html", "--full"],
    ));
    let changed = workspace.text("changed");
    assert_eq!(changed, "disk\n");
    // Output of the hook is no result.
    assert!(ended.stderr.contains("hook\n") && !ended.stdout.contains("hook\n"));
    assert!(ended.stdout.contains("inconclusive"), "{}", ended.stdout);
    ended.stdout.says("--trust-sequential");
    let [before, after] = ["disk-before", "disk-after"].map(|label| workspace.export(label));
    assert_eq!(before["run"]["plan_toml"], after["run"]["plan_toml"]);
    assert_eq!(before["run"]["seed"], after["run"]["seed"]);
    assert_eq!(points(&before).len(), points(&after).len());
    let notes = [&before, &after].map(|run| run["run"]["note"].as_str().unwrap());
    assert!(notes[0].starts_with("before: ") && notes[1].starts_with("after: "));
    // Commands may hold secrets.
    assert!(!notes.concat().contains("DBDYNO_STUDY"), "{notes:?}");
    let page = workspace.text("page.html");
    assert!(page.contains("disk-before") && page.contains("disk-after"));

    // A second study of this name gets a number.
    workspace.fine(&study(&url, &["--change-cmd", "true"]));
    assert_eq!(state(&workspace, "disk-2-after").unwrap().0, "complete");
    let complete = workspace.ends(2, "study --resume disk --change-cmd true");
    assert!(complete.sentence().contains("there is nothing to resume"));
}

#[test]
fn a_study_with_a_failed_change_resumes_with_the_change() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "bench.db");
    let failed = workspace.ends(1, &study(&url, &["--change-cmd", "exit 7"]));
    let said = failed.sentence();
    assert!(said.contains("exit status: 7"), "{said}");
    said.says("resume with: dbdyno study --resume disk --change-cmd CMD");
    let (state_before, measured) = state(&workspace, "disk-before").unwrap();
    assert_eq!(state_before.as_str(), "complete");
    assert_eq!(state(&workspace, "disk-after"), None);

    // The archive does not contain the change, so that it must be given again.
    let nobody = workspace.ends(2, "study --resume disk");
    nobody.sentence().says("--change-cmd CMD");
    workspace.fine("study --resume disk --change-cmd true");
    let after = state(&workspace, "disk-after").unwrap();
    assert_eq!(after, ("complete".to_owned(), measured));
}

#[test]
fn a_study_that_was_interrupted_says_how_it_is_resumed() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "bench.db");
    // The parent of the command's shell is dbdyno.
    let stopped = workspace.ends(130, &study(&url, &["--change-cmd", "kill -INT $PPID"]));
    let said = stopped.sentence();
    said.says("resume with: dbdyno study --resume disk --change-cmd CMD");
    workspace.fine("study --resume disk --change-cmd true");
    assert_eq!(state(&workspace, "disk-after").unwrap().0, "complete");
}

#[test]
fn the_user_gets_an_instruction_and_the_study_waits() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "bench.db");
    let typed = study(&url, &["--change", "update the array"]);
    let refused = workspace.ends(2, &typed);
    refused.sentence().says("is no terminal");
    assert!(
        !workspace.archive().exists(),
        "measured before it was refused"
    );

    let command = workspace.command(&typed);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|word| quoted(word.to_str().unwrap())).collect();
    // A separate terminal, on which Enter is pressed.
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &words.join(" "), "/dev/null"]);
    terminal.current_dir(command.get_current_dir().unwrap());
    terminal.env("DBDYNO_ARCHIVE", workspace.archive());
    terminal.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut terminal = terminal.spawn().unwrap();
    terminal.stdin.take().unwrap().write_all(b"\n").unwrap();
    let ended = Ended::of(terminal.wait_with_output().unwrap());
    let said = ended.stdout;
    assert_eq!(ended.status, 0, "{said}");
    said.says("Now: update the array. Press Enter");
    let after = workspace.export("disk-after");
    assert_eq!(after["run"]["note"], "after: update the array");
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[test]
fn impossible_studies_are_refused_before_anything_is_measured() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "bench.db");
    let ended = workspace.ends(2, &study(&url, &[]));
    ended.stderr.says("--change TEXT");
    workspace.refuses(
        2,
        r#"
        study storage-updat --change-cmd true => did you mean "storage-update"?
        study storage-update --target sqlite:x --change-cmd true --set step.9.seconds=1 => step.9
        "#,
    );
    workspace.refuses(1, "study --resume disk --change-cmd true => archive");
    assert!(!workspace.archive().exists());
    let listed = workspace.fine("list studies").stdout;
    assert!(listed.contains("storage-update  002"), "{listed}");
    assert!(listed.contains("published"), "{listed}");
    assert!(listed.contains("writes at most") && listed.contains("fits here"));
}

/// The announcement before the first run covers all runs, as does the list of studies.
#[test]
fn a_study_needs_consent_for_the_writes_of_all_its_runs() {
    let workspace = Workspace::new();
    let listed = workspace.fine("list studies").stdout;
    let of_study = listed.split_once("storage-update  ").unwrap().1;
    let quick = of_study
        .lines()
        .find(|line| line.trim().starts_with("quick"))
        .unwrap();
    let listed_gb: f64 = quick.split_whitespace().nth(1).unwrap().parse().unwrap();
    // The run ends at once: the file is no database.
    let target = format!("sqlite:{}", workspace.file("text", "text"));
    let typed = words(
        "study storage-update --size quick --target {}",
        &[target.as_str()],
    );
    let ended = workspace.dbdyno(&[&typed[..], &["--change-cmd", "true"]].concat());
    let said = ended.stderr.split_once("writes at most ").unwrap().1;
    let announced_gb: f64 = said.split_whitespace().next().unwrap().parse().unwrap();
    assert!(
        (announced_gb / listed_gb - 1.0).abs() < 0.05,
        "{announced_gb} GB, and {listed_gb} GB in the list"
    );
    assert_ne!(ended.status, 0);
}

#[test]
fn a_study_of_several_runs_is_one_page_and_goes_on_where_it_ended() {
    common::need_duckdb();
    let workspace = Workspace::new();
    let little = words(
        "--set step.olap.scale=0.01 --set step.olap.queries=6 --set step.olap.streams=1 --set \
        step.olap.dop=[1] --set step.columnar.dop=[1]",
        &[],
    );
    let url = workspace.url("sqlite", "im.db");
    let begun = [
        &[
            "study", "inmemory", "--name", "im", "-o", "im.html", "--full", "--target", &url,
        ][..],
        &little,
    ]
    .concat();
    let ended = workspace.fine(&begun);
    assert!(ended.stdout.contains("im-small") && ended.stdout.contains("im-large"));
    let page = workspace.text("im.html");
    page.says_all(&[
        "im-large: scale 0.01",
        "im-small: scale 0.01",
        "Published: ",
    ]);
    assert!(page.contains("Speed-up of each query") && page.contains("Geometric mean"));
    assert!(page.contains("1 user: time of all queries, s"));

    // Each run loads its own scale, although the database is the same.
    for label in ["im-small", "im-large"] {
        let load = points(&workspace.export(label))[0].clone();
        assert_eq!(load["test"], "OLAP-LOAD");
        assert!(load["rows_per_s"].as_f64() > Some(0.0), "{label}: {load}");
    }
    let measured = points(&workspace.export("im-small")).len();
    workspace.fine("runs delete im-large --yes");
    let again = [
        &["study", "--resume", "im", "-o", "again.html"][..],
        &little,
    ]
    .concat();
    workspace.fine(&again);
    assert_eq!(state(&workspace, "im-small").unwrap().1, measured);
    assert_eq!(state(&workspace, "im-large").unwrap().0, "complete");
    let nobody = workspace.ends(2, "study --resume nobody");
    assert!(nobody.sentence().contains("no study was begun as nobody"));
}

#[test]
fn half_the_memory_is_measured_against_all_of_it() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "memory.db");
    let little = words(
        "--set step.olap.scale=0.01 --set step.olap.queries=6 --set step.olap.rounds=2 --memory \
        64MB --repeat 1 --yes",
        &[],
    );
    let study = ["study", "memory-queries", "--name", "m", "--target", &url];
    let ended = workspace.fine(&[&study[..], &little, &["-o", "m.html", "--full"]].concat());
    assert!(ended.stdout.contains("cache_mb"), "{}", ended.stdout);
    let settings =
        ["m-a", "m-b"].map(|label| workspace.export(label)["run"]["study"]["settings"].clone());
    assert_eq!(settings[0][0], "target.cache_mb=32");
    assert_eq!(settings[1][0], "target.cache_mb=64");
    let page = workspace.text("m.html");
    assert!(page.contains("Time of each query by round"));

    workspace.refuses(
        2,
        "
        study memory --demo                                 => name exactly one
        study memory --target sqlite:memory.db?cache_mb=8   => sets cache_mb
        study memory --target mock:                         => cannot do for mock:
        study memory --target postgres://u@127.0.0.1:1/d    => name a local server
        study memory --target sqlite:memory.db --change x    => does not belong to study memory
        study platform --memory 1GB                         => does not belong to study platform
        study --resume m --size fit                         => settled at its start
        study memory --set protocol=published --repeat 2         => exclude each other
        ",
    );
}

#[test]
fn a_published_protocol_is_repeated_with_its_flaws() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "memory.db");
    let little = words(
        "--set step.olap.scale=0.01 --set step.olap.queries=6 --set step.olap.rounds=2 --memory \
        64MB",
        &[],
    );
    let study = ["study", "memory-queries", "--name", "m", "--target", &url];
    let published = [
        "--set",
        "protocol=published",
        "--size",
        "quick",
        "-o",
        "m.html",
        "--full",
    ];
    let ended = workspace.fine(&[&study[..], &published, &little].concat());
    let once = "each value is measured once";
    assert!(ended.stdout.contains(once), "{}", ended.stdout);
    let page = workspace.text("m.html");
    assert!(page.contains("Published protocol") && page.contains(once));
    assert!(page.contains("half of the memory is measured as a whole before all of it"));
    let runs = ["m-a", "m-b"].map(|label| workspace.export(label)["run"].clone());
    assert!(runs.iter().all(|run| run["study"].is_null()));
    assert_eq!(runs[0]["plan_toml"], runs[1]["plan_toml"]);

    // The second side is measured on the target of the first, which is not named again.
    workspace.fine("runs delete m-b --yes");
    let resumed = words("study --resume m --size quick -o again.html", &[]);
    workspace.fine(&[&resumed[..], &little].concat());
    let urls = ["m-a", "m-b"].map(|label| workspace.export(label)["targets"][0]["url"].clone());
    let [half, all] = urls.map(|url| url.as_str().unwrap().to_owned());
    assert!(
        half.contains("cache_mb=32") && all.contains("cache_mb=64"),
        "{half} {all}"
    );
    assert_eq!(half.replace("=32", "=64"), all);
}

/// Two values of one setting; errors are reported before anything is measured.
#[test]
fn one_setting_is_varied_between_two_sides() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "vary.db");
    let study = ["study", "settings", "--name", "v", "--target", &url];
    let little = words(
        "--vary target.cache_mb=8,16 --set step.2.seconds=0.3 --set step.2.ramp_up_seconds=0 --set \
        step.oltp.users=1 --set step.oltp.check=none --set step.oltp.warm_up_max_seconds=0 \
        --repeat 1 --yes -o v.html",
        &[],
    );
    workspace.fine(&[&study[..], &little].concat());
    let settings =
        ["v-a", "v-b"].map(|label| workspace.export(label)["run"]["study"]["settings"].clone());
    assert_eq!(settings[0][0], "target.cache_mb=8");
    assert_eq!(settings[1][0], "target.cache_mb=16");

    // More memory than any machine has is refused with the size that fits.
    workspace.refuses(
        2,
        "
        study settings                              => --vary KEY=A,B
        study settings --vary target.x=1            => exactly two values
        study versions --vary target.version=15,3   => version 3 of PostgreSQL
        study versions --target sqlite:vary.db      => on servers that dbdyno starts itself
        study versions --set protocol=published         => repeats no published protocol
        study memory --vary target.x=1,2            => does not belong to study memory
        study memory --target sqlite:vary.db --memory 900000GB --size quick => this machine has
        ",
    );
}
