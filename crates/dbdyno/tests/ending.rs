//! The end of a measurement: its summary, its page, and its progress on a terminal.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Ended, TINY, Workspace};
use testing::Says;

/// Lines of a summary for a terminal of 80 columns.
const LINES_MAX: usize = 15;

fn page_line(text: &str) -> &str {
    let last = text.lines().last().unwrap();
    last.strip_prefix("Page: ")
        .unwrap_or_else(|| panic!("{text}"))
}

fn is_page(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|page| page.trim_end().ends_with("</html>"))
}

/// The words of a summary whose numbers and spaces differ from run to run.
fn words(text: &str) -> String {
    let is_number = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit() || c == '@');
    let of_line = |line: &str| {
        let words = line.split_whitespace().filter(|word| !is_number(word));
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(of_line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_run_ends_with_a_summary_and_its_page() {
    let workspace = Workspace::new();
    let ended = workspace.measure(TINY, "--name before");
    let text = &ended.stdout;
    assert!(text.lines().count() <= LINES_MAX, "{text}");
    let page = workspace.path("pages/before.html");
    assert_eq!(page_line(text), page.display().to_string());
    assert!(is_page(&page));
    let said = words(text);
    said.says_all(&[
        "before: tiny on SQLite",
        "point in",
        "Integer processing kops/s",
        "figures",
    ]);
    text.omits("Scorecard");
    let full = workspace.measure(TINY, "--full").stdout;
    full.says_all(&["Scorecard", "run-2: tiny on SQLite", "Page: "]);
}

#[test]
fn every_measuring_verb_ends_with_its_page() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    let url = workspace.url("sqlite", "bench.db");
    let own = "step.jobs=[2]";
    let ab = workspace.fine(&[
        "ab", &plan, "--target", &url, "--b", own, "--repeat", "1", "--yes", "--name", "jobs",
    ]);
    let ab = ab.stdout;
    assert_eq!(
        page_line(&ab),
        workspace.path("pages/jobs.html").display().to_string()
    );
    ab.says_all(&["jobs: tiny on SQLite", "B step.jobs=[2]: no verdict"]);
    assert!(ab.lines().count() <= LINES_MAX, "{ab}");

    let users = workspace.url("sqlite", "users.db");
    workspace.load_order_entry(&users);
    let oltp = workspace.fine(&common::words(
        "run oltp {} --clients 1,2 --time 0.5 --ramp-up 0 --set warm_up_max_seconds=0 --yes --name users --limit p95=10s",
        &[&users],
    ));
    let oltp = oltp.stdout;
    assert!(is_page(Path::new(page_line(&oltp))));
    oltp.says_all(&["Order entry", "p95", "Supported within"]);
    assert!(oltp.lines().count() <= LINES_MAX, "{oltp}");

    let json = workspace.fine(&[
        "ab", &plan, "--target", &url, "--b", own, "--repeat", "1", "--yes", "--format", "json",
    ]);
    json.json();
    assert!(is_page(Path::new(page_line(&json.stderr))));
}

#[test]
fn the_page_lies_where_its_user_wants_it() {
    let workspace = Workspace::new();
    let there = workspace.measure(TINY, "-o here.html").stdout;
    assert_eq!(page_line(&there), "here.html");
    assert!(is_page(&workspace.path("here.html")) && !workspace.path("pages").exists());
    let none = workspace.measure(TINY, "--no-page").stdout;
    none.omits("Page:");
    assert!(!workspace.path("pages").exists());
    let piped = workspace.measure(TINY, "-o -");
    assert!(
        piped.stdout.starts_with("<!DOCTYPE html>"),
        "{}",
        piped.stdout
    );
    piped.stderr.says("run-3: tiny on SQLite");
    let both = workspace.run(TINY, "-o here.html --no-page");
    assert_eq!(both.status, 2, "{}", both.stderr);
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_the_run() {
    let workspace = Workspace::new();
    workspace.file("file", "");
    std::fs::create_dir(workspace.path("directory")).unwrap();
    for (path, words) in [
        ("nowhere/page.html", "choose another file with -o"),
        ("file/page.html", "choose another file with -o"),
        ("directory", "it is a directory"),
    ] {
        let refused = workspace.run(TINY, &["-o", path]);
        assert_eq!((refused.status, refused.stdout.as_str()), (1, ""), "{path}");
        refused.sentence().says(words);
        assert!(!workspace.archive().exists(), "{path}: measured");
    }
    workspace.file("pages", "");
    let refused = workspace.run(TINY, "");
    assert_eq!(refused.status, 1, "{}", refused.stderr);
    refused
        .sentence()
        .says("is no directory; name a file with -o");
    assert!(!workspace.archive().exists(), "measured");
}

#[test]
fn a_page_without_room_leaves_the_figures_in_the_archive() {
    let workspace = Workspace::new();
    let ended = workspace.run(TINY, "--name full -o /dev/full");
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    ended
        .sentence()
        .says("write their page with dbdyno report full -o FILE");
    ended.stdout.says("full: tiny on SQLite");
    ended.stdout.omits("Page:");
    assert_eq!(workspace.export("full")["run"]["valid"], true);
    workspace.fine("report full -o page.html");
}

#[test]
fn runs_of_one_name_in_two_archives_have_two_pages() {
    let workspace = Workspace::new();
    workspace.measure(TINY, "--name same/name");
    let other = workspace.path("other.dbdyno");
    let other = ["--name", "same/name", "--archive", other.to_str().unwrap()];
    let second = workspace.measure(TINY, &other).stdout;
    let pages =
        ["same_name.html", "same_name-2.html"].map(|name| workspace.path("pages").join(name));
    assert_eq!(page_line(&second), pages[1].display().to_string());
    assert!(pages.iter().all(|page| is_page(page)));
}

/// Runs the command on a terminal of this width; returns all that it shows.
fn on_a_terminal(
    workspace: &Workspace,
    columns: u16,
    variables: &[(&str, &str)],
    more: &[&str],
) -> String {
    let plan = workspace.file("plan.toml", &TINY.replace("jobs = [1]", "jobs = [1, 2, 3]"));
    let url = workspace.url("sqlite", "bench.db");
    let mut command = workspace.command(&[&["run", &plan, "--target", &url], more].concat());
    let (mut screen, side) = terminal(columns);
    command
        .env_remove("COLUMNS")
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .envs(variables.iter().copied())
        .stdout(Stdio::from(side.try_clone().unwrap()))
        .stderr(Stdio::from(side));
    let mut child = command.spawn().unwrap();
    // Its copies of the terminal would keep the reader waiting.
    drop(command);
    let mut shown = Vec::new();
    // The last close of a terminal is an error of its reader.
    let _ = screen.read_to_end(&mut shown);
    assert!(child.wait().unwrap().success());
    String::from_utf8(shown).unwrap()
}

fn terminal(columns: u16) -> (std::fs::File, OwnedFd) {
    let size = libc::winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let (mut screen, mut side) = (0, 0);
    let no_name = std::ptr::null_mut();
    // SAFETY: both descriptors are written, the size is read, and nothing else is used.
    let opened = unsafe { libc::openpty(&mut screen, &mut side, no_name, std::ptr::null(), &size) };
    assert_eq!(opened, 0);
    // SAFETY: both were opened just now and belong to nobody else.
    unsafe {
        (
            std::fs::File::from_raw_fd(screen),
            OwnedFd::from_raw_fd(side),
        )
    }
}

/// The text that stays on the screen: that after the last carriage return of each line, without escape sequences.
fn lines(shown: &str) -> Vec<String> {
    let mut text = String::new();
    let mut rest = shown;
    while let Some(at) = rest.find('\u{1b}') {
        text.push_str(&rest[..at]);
        let tail = &rest[at + 1..];
        let end = tail.find(|c: char| c.is_ascii_alphabetic()).unwrap();
        rest = &tail[end + 1..];
    }
    text.push_str(rest);
    let lines = text.split('\n').map(|line| {
        let line = line.trim_end_matches('\r');
        line.rsplit('\r').next().unwrap_or_default().to_owned()
    });
    lines.collect()
}

#[test]
fn nothing_wraps_on_a_terminal() {
    let workspace = Workspace::new();
    for columns in [80, 40] {
        let output = ["-o", "p.html"];
        let shown = on_a_terminal(&workspace, columns, &[], &output);
        let lines = lines(&shown);
        assert!(lines.len() <= 40, "{shown}");
        for line in &lines {
            assert!(
                line.chars().count() <= usize::from(columns),
                "{columns}: {line}"
            );
        }
        assert!(
            lines.iter().any(|line| line.starts_with("Page: p.html")),
            "{shown}"
        );
        // A line each point would make the terminal scroll.
        shown.omits(" · valid");
    }
}

#[test]
fn progress_is_a_line_on_a_terminal_and_lines_elsewhere() {
    let workspace = Workspace::new();
    let redrawn = on_a_terminal(&workspace, 80, &[], &[]);
    redrawn.says_all(&["\u{1b}[1m", "/3"]);
    let plain = on_a_terminal(&workspace, 80, &[("NO_COLOR", "1")], &[]);
    plain.omits("\u{1b}[1m");
    plain.says("/3");
    for (variables, more) in [(&[("TERM", "dumb")][..], &[][..]), (&[], &["-v"])] {
        let logged = on_a_terminal(&workspace, 80, variables, more);
        assert_eq!(logged.matches(" valid").count(), 3, "{logged}");
        logged.omits("\u{1b}[2K");
    }
    let dumb = on_a_terminal(&workspace, 80, &[("TERM", "dumb")], &[]);
    dumb.omits("\u{1b}");
    let piped = workspace.measure(TINY, "");
    let is_control = |c: char| c.is_control() && c != '\n';
    assert!(!piped.stdout.contains(is_control) && !piped.stderr.contains(is_control));
    assert_eq!(
        piped.stderr.matches(" valid").count(),
        1,
        "{}",
        piped.stderr
    );
}

#[test]
fn a_reader_that_goes_away_does_not_end_the_measurement() {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    let url = workspace.url("sqlite", "bench.db");
    let line = "\"$@\" 2>&1 >&3 3>&- | true; exit ${PIPESTATUS[0]}";
    let command = workspace.command(&["run", &plan, "--target", &url, "--name", "closed"]);
    let mut shell = Command::new("bash");
    shell
        .args(["-c", &format!("exec 3>/dev/null; {line}"), "bash"])
        .arg(command.get_program())
        .args(command.get_args())
        .env("DBDYNO_ARCHIVE", workspace.archive())
        .current_dir(workspace.path(""));
    let ended = Ended::of(shell.output().unwrap());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(is_page(&workspace.path("pages/closed.html")));
}
