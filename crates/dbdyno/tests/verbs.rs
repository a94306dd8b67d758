//! The verbs from end to end: measure, list, export, report.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{TINY, Workspace, need_duckdb, points};
use serde_json::json;
use testing::Says;

/// Tests with and without a device.
const STORAGE: &str = "name = \"storage\"\n[[step]]\nuse = \"library\"\n\
    tests = [\"T132\", \"T211\", \"T426\"]\njobs = [1]\nmode = \"time\"\nseconds = 0.05\n";

#[test]
fn a_run_is_measured_listed_exported_and_reported() {
    let workspace = Workspace::new();
    let first = workspace.measure(TINY, "--name before --seed 7 --full");
    assert!(first.stdout.contains("Scorecard"), "{}", first.stdout);
    first.stderr.says("run before: 1 of 1 points to measure");
    workspace.measure(TINY, "--repeat 2 --set step.1.jobs=[1,2]");

    let runs = workspace.fine("runs list").stdout;
    let lines: Vec<Vec<&str>> = runs
        .lines()
        .map(|l| l.split_whitespace().collect())
        .collect();
    assert_eq!(lines.len(), 3, "{runs}");
    assert_eq!(
        &lines[1][..6],
        ["1", "before", "tiny", "complete", "1/1", "yes"]
    );
    assert_eq!(
        &lines[2][..6],
        ["2", "run-2", "tiny", "complete", "4/4", "yes"]
    );

    // Number, label and `last` mean the same run.
    let by_number = workspace.export("1");
    assert_eq!(workspace.export("before"), by_number);
    assert_eq!(workspace.export("2"), workspace.export("last"));
    assert_eq!(workspace.export("run-2"), workspace.export("last"));
    assert_eq!(by_number["run"]["seed"], 7);
    assert_eq!(by_number["run"]["valid"], true);
    let keys: Vec<_> = points(&workspace.export("last"))
        .iter()
        .map(|p| (p["repetition"].clone(), p["jobs"].clone()))
        .collect();
    let expected = [(1, 1), (1, 2), (2, 1), (2, 2)];
    assert_eq!(keys, expected.map(|(r, j)| (json!(r), json!(j))));
}

#[test]
fn every_form_of_a_report_holds_every_point() {
    let workspace = Workspace::new();
    workspace.measure(TINY, &["--set", "step.jobs=[1, 2]"]);
    let csv = workspace.fine("report last --format csv").stdout;
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let heads: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    for name in [
        "redo_mb_per_s",
        "service_us_p99",
        "response_us_p99",
        "valid",
    ] {
        assert!(heads.contains(&name), "{name} is no column of the CSV");
    }
    let markdown = workspace.fine("report last --format md").stdout;
    let rows = markdown
        .lines()
        .filter(|l| l.starts_with('|') && l.contains("T132"));
    assert_eq!(rows.count(), 2, "{markdown}");
    let text = workspace.fine("report last --format text").stdout;
    text.says_all(&[" T132  1  1  1 ", " T132  1  2  1 ", "Scorecard"]);
    // The name of the file gives the form.
    for (file, printed) in [("a.csv", &csv), ("a.md", &markdown), ("a.txt", &text)] {
        let ended = workspace.fine(&["report", "last", "-o", file]);
        assert_eq!(
            (ended.stdout.as_str(), &workspace.text(file)),
            ("", printed)
        );
    }
    workspace.fine("report last -o a.json");
    let exported = workspace.export("last");
    let stored: serde_json::Value = serde_json::from_str(&workspace.text("a.json")).unwrap();
    assert_eq!(stored, exported);
    let point = &points(&exported)[0];
    assert!(point["operations_per_s"].as_f64().unwrap() > 0.0);
    assert!(point["service_us_p99"].as_f64().unwrap() > 0.0);
    let share: f64 = point["timed_events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["share_pct"].as_f64().unwrap())
        .sum();
    assert!((99.0..=101.0).contains(&share), "{share} %");
}

#[test]
fn a_report_shows_one_run_or_a_comparison() {
    let workspace = Workspace::new();
    workspace.measure(TINY, "--name before");
    workspace.measure(TINY, "--name after");
    let ended = workspace.fine("report after");
    ended.stdout.says_all(&["after: tiny on SQLite", "Page: "]);
    let alone = workspace.text("pages/after.html");
    assert!(alone.contains("after") && !alone.contains("HP ProLiant DL980"));
    let reference = workspace.fine("list references").stdout;
    assert!(reference.contains("ref:dl980-violin"), "{reference}");
    let against = ["--against", "ref:dl980-violin", "--against", "before"];
    let page = ["report", "after", "-o", "beside.html"];
    let ended = workspace.fine(&[&page[..], &against].concat());
    assert_eq!(ended.stderr, "beside.html written\n");
    let beside = workspace.text("beside.html");
    assert!(beside.contains("DL980") && beside.contains("before"));
    assert!(beside.ends_with("</html>\n") || beside.ends_with("</html>"));
}

/// The page of a replay stays until Ctrl-C.
#[test]
fn a_run_is_replayed_until_it_is_interrupted() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let workspace = Workspace::new();
    workspace.measure(TINY, "--name before");
    let mut command = workspace.command("report before --replay=1000 --live=0");
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let page = lines.next().unwrap().unwrap();
    assert!(page.starts_with("live page: http://127.0.0.1:"), "{page}");
    let replayed = lines.next().unwrap().unwrap();
    assert_eq!(replayed, "run before was replayed; Ctrl-C ends the page");
    assert!(child.try_wait().unwrap().is_none(), "the page is gone");
    // SAFETY: `kill` only sends a signal, to a child that was not waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_second_run_of_a_name_gets_a_number() {
    let workspace = Workspace::new();
    let first = workspace.measure(TINY, "--name before");
    assert!(!first.stderr.contains("is taken"), "{}", first.stderr);
    for next in ["before-2", "before-3"] {
        let again = workspace.measure(TINY, "--name before");
        let note = format!("dbdyno: note: the name before is taken; this one is {next}\n");
        again.stderr.says(&note);
        again.stderr.says(&format!("run {next}: "));
        assert_eq!(workspace.export(next)["run"]["label"], next);
    }
}

#[test]
fn plan_targets_and_workload_stand_in_any_order() {
    let workspace = Workspace::new();
    workspace.file("tiny.toml", TINY);
    workspace.fine("run sqlite:a.db tiny.toml mock:");
    let exported = workspace.export("last");
    assert_eq!(exported["targets"].as_array().unwrap().len(), 2);
    assert_eq!(exported["run"]["plan_name"], "tiny");
    let misplaced = workspace.ends(2, "run sqlite:a.db -c 2 oltp --set check=light --yes");
    misplaced.sentence().says("dbdyno data load oltp TARGET");
}

#[test]
fn a_run_without_a_database_says_in_three_lines_what_to_type() {
    let workspace = Workspace::new();
    for verb in ["run", "run oltp", "run backup"] {
        let ended = workspace.ends(2, verb);
        assert_eq!(ended.stderr.lines().count(), 3, "{}", ended.stderr);
        ended.sentence().says("no database is given");
        ended.stderr.says(&format!("dbdyno {verb} --demo"));
    }
    assert!(!workspace.archive().exists());
}

#[test]
fn seeds_decide_random_choices_and_nothing_else() {
    let workspace = Workspace::new();
    for seed in ["3", "3", "4"] {
        workspace.measure(TINY, &["--seed", seed]);
    }
    let [a, b, c] = ["1", "2", "3"].map(|run| points(&workspace.export(run))[0].clone());
    assert_eq!(a["seed"], b["seed"]);
    assert_ne!(a["seed"], c["seed"]);
    assert_eq!(a["configuration"], c["configuration"]);
}

#[test]
fn targets_of_one_engine_are_a_cluster() {
    let workspace = Workspace::new();
    let second = workspace.url("sqlite", "second.db");
    workspace.measure(TINY, &["--target", &second, "--set", "step.jobs=[2]"]);
    let exported = workspace.export("last");
    assert_eq!(exported["targets"].as_array().unwrap().len(), 1);
    assert_eq!(exported["targets"][0]["nodes"], 2);
    assert_eq!(points(&exported)[0]["nodes"], 2);
    assert!(workspace.path("bench.db").exists() && workspace.path("second.db").exists());
}

#[test]
fn different_engines_are_targets_of_their_own() {
    need_duckdb();
    let workspace = Workspace::new();
    let duckdb = workspace.url("duckdb", "bench.duckdb");
    workspace.measure(TINY, &["--target", &duckdb]);
    let exported = workspace.export("last");
    let of = |p: &serde_json::Value| (p["target"].clone(), p["nodes"].clone());
    let targets: Vec<_> = points(&exported).iter().map(of).collect();
    assert_eq!(
        targets,
        [(json!("sqlite"), json!(1)), (json!("duckdb"), json!(1))]
    );
}

#[test]
fn a_capability_that_a_target_lacks_is_missing_with_its_reason() {
    need_duckdb();
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", STORAGE);
    workspace.fine(&["run", &plan, "--target", "sqlite:", "--target", "duckdb:"]);
    let exported = workspace.export("last");
    let tests: Vec<_> = points(&exported)
        .iter()
        .map(|p| p["test"].clone())
        .collect();
    assert_eq!(tests, ["T132", "T132"]);
    let missing = exported["missing"].as_array().unwrap();
    assert_eq!(missing.len(), 4, "{missing:?}");
    for one in missing {
        one["reason"]["text"].as_str().unwrap().says("in memory");
    }

    // Quicksort needs a procedural language, which neither engine has.
    let plan = workspace.file(
        "plan.toml",
        &STORAGE.replace("\"T211\", \"T426\"", "\"T153\""),
    );
    workspace.fine(&["run", &plan, "--target", "sqlite:", "--target", "duckdb:"]);
    let exported = workspace.export("last");
    let missing = exported["missing"].as_array().unwrap();
    assert_eq!(missing.len(), 2, "{missing:?}");
    for one in missing {
        assert_eq!(one["test"], "T153");
        one["reason"]["text"].as_str().unwrap().says("procedural");
    }
}

#[test]
fn default_targets_are_removed_when_the_run_is_complete() {
    need_duckdb();
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    workspace.fine(&["run", &plan, "--demo", "--work-dir", "work"]);
    let exported = workspace.export("last");
    assert_eq!(exported["targets"].as_array().unwrap().len(), 2);
    let left = std::fs::read_dir(workspace.path("work")).unwrap().count();
    assert_eq!(left, 0, "files of a complete run are left");
}

#[test]
fn the_help_lists_every_verb() {
    let workspace = Workspace::new();
    let help = help_of(&workspace, &[]);
    let verbs = verbs_of(&help);
    assert!(verbs.len() > 10, "{verbs:?}");
    insta::assert_snapshot!("help", help);
    for verb in &verbs {
        insta::assert_snapshot!(format!("help_{verb}"), whole_help(&workspace, &[verb]));
    }
}

/// The surface is small, and a word means the same in every verb.
#[test]
fn options_are_few_and_each_has_one_form() {
    const VERBS_MAX: usize = 12;
    const OPTIONS_MAX: usize = 70;
    const LINES_MAX: usize = 30;
    let workspace = Workspace::new();
    for columns in ["80", "120"] {
        let mut command = workspace.command("--help");
        let help = command.env("COLUMNS", columns).output().unwrap().stdout;
        let help = String::from_utf8(help).unwrap();
        assert!(help.lines().count() <= LINES_MAX, "{help}");
    }
    let help = help_of(&workspace, &[]);
    let verbs = verbs_of(&help);
    assert!(verbs.len() <= VERBS_MAX, "{verbs:?}");

    let mut forms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    // The first screen has no list of options.
    forms.insert("--version".into(), BTreeSet::from(["-V".into()]));
    let helps = verbs.iter().map(|verb| whole_help(&workspace, &[verb]));
    for (option, form) in helps.flat_map(|help| options_of(&help)) {
        forms.entry(option).or_default().insert(form);
    }
    let options: Vec<&String> = forms.keys().collect();
    assert!(
        options.len() <= OPTIONS_MAX,
        "{} options: {options:?}",
        options.len()
    );
    let several: Vec<_> = forms.iter().filter(|(_, forms)| forms.len() > 1).collect();
    assert!(several.is_empty(), "{several:#?}");
    let mut letters = BTreeMap::new();
    for (option, forms) in &forms {
        for letter in forms.iter().filter_map(|form| form.strip_prefix('-')) {
            let letter = &letter[..1];
            let other = letters.insert(letter, option);
            assert!(other.is_none(), "-{letter} is {other:?} and {option}");
        }
    }
}

/// The long options of a help text, each with its letter and the name of its value.
fn options_of(help: &str) -> Vec<(String, String)> {
    let lines = help.lines().filter_map(|line| {
        let (letter, option) = match line.strip_prefix("      ") {
            Some(option) => ("", option),
            None => line.strip_prefix("  ")?.split_once(", ")?,
        };
        let option = option.split("  ").next()?;
        let end = option.find(['[', ' ', '.']).unwrap_or(option.len());
        let (name, value) = option.split_at(end);
        let kind = value.split(['.', '>']).next().unwrap_or_default();
        let kind = kind.replace("[RUN=]", "");
        name.starts_with("--")
            .then(|| (name.to_owned(), format!("{letter}{kind}")))
    });
    lines.collect()
}

fn help_of(workspace: &Workspace, words: &[&str]) -> String {
    workspace.fine(&[words, &["--help"]].concat()).stdout
}

/// The help of a verb, and of all verbs below it.
fn whole_help(workspace: &Workspace, words: &[&str]) -> String {
    let mut help = help_of(workspace, words);
    for verb in verbs_of(&help).iter().filter(|name| *name != "help") {
        let below = [words, &[verb]].concat();
        let head = format!("\n## dbdyno {}\n\n", below.join(" "));
        help.push_str(&(head + &whole_help(workspace, &below)));
    }
    help
}

#[test]
fn shells_and_man_know_the_verbs() {
    let workspace = Workspace::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = workspace.fine(&["docs", "completions", shell]).stdout;
        assert!(
            script.contains("vdbench") && script.contains("warehouses"),
            "{shell}"
        );
    }
    workspace.fine("docs man man");
    for (page, says) in [
        ("dbdyno.1", "restore"),
        ("dbdyno-run-oltp.1", "think times"),
    ] {
        let text = std::fs::read_to_string(workspace.path("man").join(page)).unwrap();
        assert!(text.contains(says), "{page}: {text}");
    }
}

/// The log of a run that hangs shows what it waits for, and since when: here for a server that accepts connections and sends nothing.
#[test]
fn a_run_that_hangs_logs_its_wait() {
    let workspace = Workspace::new();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let target = format!("postgres://nobody@127.0.0.1:{port}/none?sslmode=disable");
    let log = workspace.path("log.txt");
    let mut child = workspace
        .command(&["run", "quick", "--target", &target, "--log-file", "log.txt"])
        .spawn()
        .unwrap();
    let waits = format!(" > connect to=127.0.0.1:{port}, since 5 s");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(120);
    let text = loop {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        if text.contains(&waits) || std::time::Instant::now() > until {
            break text;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    let _ = child.kill();
    child.wait().unwrap();
    assert!(text.contains(&waits), "{text}");
    assert!(text.contains("waits   open url=postgres://"), "{text}");
}

/// The verbs in a help text, which come before the options.
fn verbs_of(help: &str) -> Vec<String> {
    let above = help.split("\nOptions:").next().unwrap_or_default();
    let above = above.split("\nArguments:").next().unwrap_or_default();
    let listed = above.lines().filter_map(|line| line.strip_prefix("  "));
    let listed = listed.filter(|line| !line.starts_with([' ', '-', '<', '[']));
    let names = listed.filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

#[test]
fn the_lists_are_complete() {
    let workspace = Workspace::new();
    for what in ["plans", "tests"] {
        insta::assert_snapshot!(what, workspace.fine(&["list", what]).stdout);
    }
    assert!(!workspace.archive().exists(), "a list makes no archive");
    assert!(
        workspace
            .fine("runs list")
            .stdout
            .starts_with("no runs yet")
    );
}
