//! Every command of the tutorial and the guides runs in a shell as a reader types it, on real servers, with small plans and times
//! (`documents/shell.sh`). Output that a document shows is compared.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/mysql.rs"]
mod mysql;
#[path = "common/postgres.rs"]
mod postgres;
#[path = "common/sshd.rs"]
mod sshd;

mod common;

use std::process::{Command, Stdio};
use std::sync::Arc;

use common::{DBDYNO, ON_ANY_MACHINE, Workspace, repository, small_library};
use local_server::LocalServer;
use sshd::Sshd;
use testing::Shared;

/// Most blocks that cannot run here. Above each, a comment gives the reason: `<!-- not run: REASON -->`.
const NOT_RUN_MAX: usize = 7;
/// A line of output before that of each block.
const MARK: &str = "=== block ";

/// A block of commands. A block of text directly below it shows its output.
struct Block<'d> {
    commands: &'d str,
    shown: Option<&'d str>,
    not_run: Option<&'d str>,
}

fn document(name: &str) -> String {
    std::fs::read_to_string(repository("docs").join(name)).unwrap()
}

fn blocks(markdown: &str) -> Vec<Block<'_>> {
    let parts: Vec<&str> = markdown.split("```").collect();
    let block = |at: usize| {
        let commands = parts[at].strip_prefix("sh\n")?;
        let (_, comment) = parts[at - 1].rsplit_once("<!-- not run: ").unzip();
        let is_below = parts[at + 1].trim().is_empty();
        let below = parts
            .get(at + 2)
            .and_then(|part| part.strip_prefix("text\n"));
        Some(Block {
            commands,
            shown: below.filter(|_| is_below),
            not_run: comment.and_then(|comment| comment.trim_end().strip_suffix(" -->")),
        })
    };
    (1..parts.len()).step_by(2).filter_map(block).collect()
}

/// Documents of the table of contents before the concepts.
fn guides() -> Vec<String> {
    let contents = document("SUMMARY.md");
    let guides = contents.split("\n# Concepts\n").next().unwrap();
    let links = guides
        .split("](")
        .skip(1)
        .map(|rest| rest.split(')').next().unwrap());
    links
        .filter(|name| name.ends_with(".md"))
        .map(str::to_owned)
        .collect()
}

struct Servers {
    postgres: LocalServer,
    mariadb: LocalServer,
    sshd: Sshd,
}

fn servers() -> Arc<Servers> {
    static SERVERS: Shared<Arc<Servers>> = Shared::new();
    SERVERS.get("all", || {
        let servers = Servers {
            postgres: postgres::server("&fsync=off"),
            mariadb: mysql::server(""),
            sshd: Sshd::start(),
        };
        postgres::psql(
            &servers.postgres,
            "CREATE ROLE reader LOGIN; GRANT pg_checkpoint, pg_monitor TO reader;",
        );
        Arc::new(servers)
    })
}

/// Runs the commands of a document after `prepare_NAME` of the shell's file.
fn works(name: &str) {
    common::need_duckdb();
    let (servers, workspace) = (servers(), Workspace::new());
    let text = document(name);
    let guide = name.trim_start_matches("../").trim_end_matches(".md");
    let guide = guide.to_lowercase();
    let database = format!("{guide}_guide");
    let sql = format!("CREATE DATABASE {database} OWNER reader");
    postgres::psql(&servers.postgres, &sql);
    let blocks = blocks(&text);
    let mut script = format!(
        "set -eu\n. '{}'\nprepare_{guide} >&2\n",
        repository("crates/dbdyno/tests/documents/shell.sh").display()
    );
    for (number, block) in blocks.iter().enumerate() {
        if block.not_run.is_none() {
            script += &format!("echo '{MARK}{number}'\n{}", block.commands);
        }
    }
    let programs = servers.postgres.program().parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", programs.display());
    // The documents share the servers.
    let postgres = postgres::url_of(&servers.postgres, "reader", &database) + "?others=allow";
    let mariadb = mysql::url(&servers.mariadb, servers.mariadb.superuser()) + "&others=allow";
    let tree = servers.mariadb.program().ancestors().nth(2).unwrap();
    let done = Command::new("sh")
        .args(["-c", &script])
        .current_dir(workspace.path(""))
        .stdin(Stdio::null())
        .env("PATH", path)
        .env("COLUMNS", "120")
        .env("DBDYNO", DBDYNO)
        .env("DBDYNO_ARCHIVE", workspace.archive())
        .env("DBDYNO_SSH", servers.sshd.client())
        .env("PGHOST", servers.postgres.socket_directory())
        .env("PGUSER", servers.postgres.superuser())
        .env("POSTGRES", postgres)
        .env(
            "MARIADB",
            mariadb.replace("/dbdyno?", &format!("/{database}?")),
        )
        .env("MARIADB_CLIENT", tree.join("bin/mariadb"))
        .env("MARIADB_SOCKET", servers.mariadb.socket_path())
        .env("SSH", servers.sshd.url())
        .env("DOCS", repository("docs"))
        .env("LIBRARY", small_library())
        .env("ON_ANY_MACHINE", ON_ANY_MACHINE.join(" "))
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&done.stdout);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{script}\n{output}\n{errors}");
    for (number, block) in blocks.iter().enumerate() {
        let of_block = output.split(&format!("{MARK}{number}\n")).nth(1);
        let of_block = of_block.and_then(|rest| rest.split(MARK).next());
        let missing = block
            .shown
            .and_then(|shown| missing(shown, of_block.unwrap_or_default()));
        assert_eq!(
            missing, None,
            "{name} shows this line, but:\n{output}\n{errors}"
        );
    }
}

/// The first line shown that the output lacks: lines come in order, and all numbers are alike.
fn missing<'s>(shown: &'s str, output: &str) -> Option<&'s str> {
    let mut lines = output.lines().map(alike);
    let mut lacks = |line: &&str| !lines.any(|of_output| fits(&of_output, &alike(line)));
    shown
        .lines()
        .filter(|line| line.trim() != "…")
        .find(|line| lacks(line))
}

/// True for a line that the pattern describes, in which `…` stands for any text.
fn fits(line: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('…').map(str::trim);
    let rest = parts.next().and_then(|start| line.strip_prefix(start));
    let rest = parts.fold(rest, |rest, part| Some(rest?.split_once(part)?.1));
    rest.is_some_and(|rest| rest.is_empty() || pattern.ends_with('…'))
}

/// A line with single spaces, and `#` for each number.
fn alike(line: &str) -> String {
    let mut masked = line.split_whitespace().collect::<Vec<_>>().join(" ");
    while let Some(at) = masked.find(|c: char| c.is_ascii_digit()) {
        let number = masked[at..].find(|c: char| !c.is_ascii_digit() && !",.".contains(c));
        masked.replace_range(at..number.map_or(masked.len(), |length| at + length), "#");
    }
    masked
}

macro_rules! tested {
    ($($test:ident $document:literal)+) => {
        $(#[test]
        fn $test() {
            works($document);
        })+

        #[test]
        fn every_guide_is_tested_and_few_blocks_are_not() {
            let (mut tested, mut not_run) = (Vec::new(), 0);
            for name in guides() {
                let text = document(&name);
                let (run, not) = blocks(&text).into_iter().partition::<Vec<_>, _>(|block| block.not_run.is_none());
                not_run += not.len();
                tested.extend((!run.is_empty()).then_some(name));
            }
            assert_eq!(tested, [$($document),+]);
            assert!(not_run <= NOT_RUN_MAX, "{not_run}");
        }
    };
}

tested! {
    readme "../README.md"
    tutorial "TUTORIAL.md"
    usage "USAGE.md"
    check "CHECK.md"
    observe "OBSERVE.md"
    script "SCRIPT.md"
    live "LIVE.md"
    fleet "FLEET.md"
    noise "NOISE.md"
}

#[test]
fn output_is_compared_without_its_numbers() {
    let output = "first: smoke on PostgreSQL 15.18\n  T311 1,234 /s @4\nPage: first.html\n";
    for shown in [
        "first: smoke on PostgreSQL 17.2\n…\nPage: first.html\n",
        "T311 98 /s @16\n",
        "first: … PostgreSQL 15\n",
        "…/s @4",
    ] {
        assert_eq!(missing(shown, output), None, "{shown}");
    }
    for shown in [
        "first: smoke on MariaDB 10",
        "Page: first.html\nfirst: …",
        "first: smoke on",
    ] {
        assert!(missing(shown, output).is_some(), "{shown}");
    }
}
