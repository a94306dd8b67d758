//! Snapshots of every error that a user can cause on purpose, so that a change of words is reviewed.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fmt::Write;

use common::{TINY, Workspace, need_duckdb};
use rusqlite::Connection;

/// Standard error and exit status of each command line.
fn said(workspace: &Workspace, lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        let arguments: Vec<&str> = line.split(' ').collect();
        let ended = workspace.dbdyno(&arguments);
        assert_ne!(ended.status, 0, "{line} is no error");
        let own = workspace.path("");
        let own = own.to_str().unwrap();
        let stderr = ended.stderr.replace(own.trim_end_matches('/'), "DIR");
        writeln!(text, "$ dbdyno {line}").unwrap();
        // Progress before the error differs from run to run.
        let is_progress = |l: &&str| {
            ["run ", "writes ", "pages: "]
                .iter()
                .any(|p| l.starts_with(p))
        };
        let said = stderr.lines().filter(|l| !l.is_empty() && !is_progress(l));
        said.for_each(|l| writeln!(text, "{l}").unwrap());
        writeln!(text, "status {}\n", ended.status).unwrap();
    }
    text
}

/// A workspace with a plan, a measured run "before", another user's database, a text, and a directory.
fn furnished() -> Workspace {
    let workspace = Workspace::new();
    workspace.measure(TINY, "--name before");
    let theirs = Connection::open(workspace.path("theirs.db")).unwrap();
    theirs
        .execute_batch("CREATE TABLE customer (name)")
        .unwrap();
    workspace.file(
        "text",
        &"this is no database, whatever its name\n".repeat(99),
    );
    std::fs::create_dir(workspace.path("folder")).unwrap();
    workspace
}

#[test]
fn plans_and_settings() {
    let workspace = furnished();
    workspace.file("broken.toml", "name = \"x\"\n[[step\n");
    workspace.file("empty.toml", "");
    insta::assert_snapshot!(said(
        &workspace,
        &[
            "run",
            "run quik",
            "run quick smoke sqlite:",
            "run db1",
            "run plan.toml db1.example.com:5432/shop",
            "run me@db1",
            "run plan.toml postgres",
            "run plan.toml postgers://me@db1/shop",
            "run sqlite: --demo",
            "run no/such.toml",
            "run ./folder --demo",
            "run text --demo",
            "run broken.toml --demo",
            "run empty.toml --demo",
            "run plan.toml --demo --set nonsense",
            "run plan.toml --demo --set sise=1",
            "run plan.toml --demo --set step.sise=small",
            "run plan.toml --demo --set step.9.size=small",
            "run plan.toml --demo --set step.size=huge",
            "run plan.toml --demo --set step.tests=[\"T999\"]",
            "run plan.toml --demo --set step.jobs=[0]",
            "run plan.toml --demo --set step.seconds=-1",
            "run plan.toml --demo --repeat 0",
            "run plan.toml --demo --set library=absent",
            "run plan.toml --demo --name last",
            "run plan.toml --demo --platform absent.toml",
            "run plan.toml --demo --platform text",
        ]
    ));
}

#[test]
fn targets() {
    need_duckdb();
    let workspace = furnished();
    insta::assert_snapshot!(said(
        &workspace,
        &[
            "run plan.toml --target plain",
            "run plan.toml --target sqlit:x",
            "run plan.toml --target sqlserver:x",
            "run plan.toml --target sqlite:x?cache=1",
            "run plan.toml --target sqlite:x?cache_mb",
            "run plan.toml --target sqlite:x?cache_mb=much",
            "run plan.toml --target sqlite:x?synchronous=MAYBE",
            "run plan.toml --target sqlite:x --target sqlite:./x",
            "run plan.toml --target sqlite:absent/x.db",
            "run plan.toml --target sqlite:text",
            "run plan.toml --target duckdb:text",
            "run plan.toml --target sqlite:theirs.db",
            "run plan.toml --target postgres://nobody@127.0.0.1:1/db",
            "run plan.toml --target mysql://nobody@127.0.0.1:1/db",
            "run plan.toml --target mysql://u:p@",
            "run plan.toml --target postgres://u@h/d?sslmode=perfer",
            "run plan.toml --target postgres://u@h/d?sslmode=verify-full",
            "run plan.toml --target postgres://u@h/d?channel_binding=require",
            "run plan.toml --target postgres://u@h/d --ssh ssh://h?disk=sda",
            "run plan.toml --target sqlite:x --ssh ssh://h",
            "run plan.toml --demo --ssh ssh://",
            "check duckdb+none:",
            "check duckdb+none: --compatibility --yes",
            "check sqlite:text",
            "check postgres://nobody@127.0.0.1:1/db",
            "check mock: --allow-busy",
            "check sqlite:x.db --compatibility",
            "check mock: -o folder",
            "check",
            "check mock: --time 2s",
            "check mock: --self-test --time 2min",
            "check mock: --inventory",
            "check mock: --against last",
            "observe",
            "observe postgres://u@h/d --time soon",
        ]
    ));
}

#[test]
fn archives_runs_and_reports() {
    let workspace = furnished();
    workspace.file(
        "limits.toml",
        "[[limit]]\nmetric = \"T132.nosuch\"\nat_most = 1\n",
    );
    workspace.file("broken.toml", "[[limit\n");
    insta::assert_snapshot!(said(
        &workspace,
        &[
            "run plan.toml --target sqlite:x --archive text",
            "run plan.toml --target sqlite:x --archive folder",
            "run plan.toml --target sqlite:x --archive text/below",
            "run --resume before",
            "run --resume after",
            "report after --format json",
            "report last --format json --archive absent.dbdyno",
            "report last --format xml",
            "report last --format junit",
            "report last --format csv --prices limits.toml",
            "report last --format text --against after",
            "report last --limits limits.toml -o page.html",
            "report last --limits limits.toml --replay",
            "report last --format plan",
            "report after",
            "report last --against ref:dl980",
            "report last -o folder",
            "report last -o archive.dbdyno",
            "report last --array absent.csv",
            "compare before after",
            "compare before before",
            "compare before before --band 2",
            "report last --limits absent.toml",
            "report last --limits broken.toml",
            "report last --limits limits.toml",
            "list runs",
            "list tests T132",
            "runs delete before",
            "runs delete after --yes",
            "runs rename before last",
            "runs rename before 7",
        ]
    ));
}

#[test]
fn studies() {
    let workspace = furnished();
    insta::assert_snapshot!(said(
        &workspace,
        &[
            "ab quik --b repeat=2",
            "ab plan.toml sqlite:ab.db",
            "ab sqlite:ab.db --aa",
            "ab",
            "ab plan.toml smoke sqlite:ab.db --aa",
            "ab plan.toml db1.example.com --aa",
            "ab plan.toml --aa --b repeat=2",
            "ab plan.toml --target sqlite:ab.db --repeat 0 --b target.cache_mb=8",
            "ab plan.toml --target sqlite:ab.db --b nosuch.key=8",
            "ab plan.toml --target sqlite:ab.db --b target.cache=8",
            "ab plan.toml --target sqlite:ab.db --b repeat=2",
            "ab plan.toml --target sqlite:ab.db --b target.cache_mb=8 --band 700",
            "ab plan.toml --target sqlite:ab.db --aa --until 0",
            "ab plan.toml --target sqlite:ab.db --aa --until 2%",
            "ab plan.toml --target sqlite:ab.db --aa --until 3% --band learned",
            "ab plan.toml --target sqlite:ab.db --aa --until 3% --repeat 5",
            "ab plan.toml --target sqlite:ab.db --aa --max-time 5m",
            "ab plan.toml --target sqlite:ab.db --aa --until 3% --max-time soon",
            "ab --resume nosuch --until 3%",
            "ab --resume nosuch",
            "study",
            "study backup --size quick",
            "study layouts --demo",
            "ab smoke --b target.cache_mb=8",
            "study layout",
            "study layouts redo",
            "study layouts db1:5432",
            "study layouts --set protocol=published",
            "study settings --set protocol=ours",
            "study settings --set configurations=many",
            "study layouts sqlite:ab.db",
            "study layouts --target postgres+local:folder",
            "study layouts --target postgres+local: --target mariadb+local:",
            "study layouts --vary layout=shared",
            "study layouts --vary layout=shared,shared",
            "study layouts --vary layout=shared,nosuch",
            "study layouts --vary layout=shared,xfs --band learned",
            "study redo --vary layout=shared,xfs",
            "study settings --vary layout=shared,xfs",
        ]
    ));
}

#[test]
fn slices() {
    let workspace = furnished();
    workspace.file(
        "timed.toml",
        "name = \"t\"\n[[step]]\nuse = \"library\"\ntests = [\"T716\"]\njobs = [1]\nmode = \"time\"\nseconds = 2.0\n",
    );
    insta::assert_snapshot!(said(
        &workspace,
        &[
            "ab timed.toml --target sqlite:ab.db --aa --interleave 5ms --yes",
            "ab timed.toml --target sqlite:ab.db --aa --interleave 500ms --yes",
            "ab timed.toml --target sqlite:ab.db --interleave 100ms --b target.cache_mb=8 --yes",
            "ab timed.toml --target sqlite: --aa --interleave 100ms --yes",
        ]
    ));
}

#[test]
fn workloads() {
    need_duckdb();
    let workspace = furnished();
    workspace.fine("data load olap --target sqlite:olap.db --scale 0.01");
    insta::assert_snapshot!(said(
        &workspace,
        &[
            "data load oltp --target sqlite:o.db --warehouses 0",
            "data load oltp --target duckdb: --warehouses 1",
            "data load oltp --target sqlite:olap.db --warehouses 1",
            "data load oltp --target sqlite:theirs.db --warehouses 1",
            "data check oltp --target sqlite:empty.db",
            "data check oltp",
            "data check oltp empty.db",
            "data load oltp sqlite:o.db --warehouses 1 --set rows=tenth",
            "data load oltp sqlite:o.db --warehouses 1 --set warehouse_rows=many",
            "run oltp sqlite:empty.db --set jornal=true",
            "run oltp sqlite:empty.db --time 10years",
            "run oltp --target sqlite:empty.db --clients 1 --name a --yes",
            "run oltp --target sqlite:empty.db --clients 0",
            "run oltp --target sqlite:empty.db --clients 4..2",
            "run oltp --target sqlite:empty.db --clients 1 --limit p95",
            "run oltp --target sqlite:empty.db --clients 1 --find-rate often",
            "run oltp --target sqlite:empty.db --clients 1 --repeat 2",
            "data load olap --target sqlite:o.db --scale 0",
            "data load olap --target mock: --scale 0.01",
            "data load olap --target sqlite:olap.db --scale 0.01",
            "data load olap --target sqlite:olap.db --scale 0.02",
            "run olap --target sqlite:empty.db --name b",
            "run olap --target sqlite:olap.db --scale 0.02 --name c",
            "run olap --target sqlite:olap.db --queries 99",
            "run olap --target sqlite:olap.db --dop 0",
            "run olap --target sqlite:olap.db --timeout 0",
            "data load columnar --target sqlite:theirs.db --levels nosuch",
            "data load columnar --target sqlite:theirs.db --levels query-low --tables nosuch",
            "data estimate --target sqlite:theirs.db --tables customer:x",
            "data estimate --target sqlite:absent.db",
        ]
    ));
}

#[test]
fn storage_and_host() {
    let workspace = furnished();
    workspace.file(
        "short.txt",
        "sd=sd1,lun=x\nwd=wd1,sd=sd1,xfersize=4k\nrd=rd1,wd=wd1,iorate=max,elapsed=1\n",
    );
    workspace.file(
        "typo.txt",
        "sd=sd1,lun=x\nwd=wd1,sd=sd1,xfersise=4k\nrd=rd1,wd=wd1,iorate=max,elapsed=10\n",
    );
    workspace.file(
        "unknown.txt",
        "sd=sd1,lun=x\nwd=wd1,sd=sd2,xfersize=4k\nrd=rd1,wd=wd1,iorate=max,elapsed=10\n",
    );
    workspace.file(
        "absent.txt",
        "sd=sd1,lun=absent\nwd=wd1,sd=sd1,xfersize=4k\nrd=rd1,wd=wd1,iorate=max,elapsed=10\n",
    );
    insta::assert_snapshot!(said(
        &workspace,
        &[
            "vdbench -f absent",
            "vdbench -f text",
            "vdbench -f short.txt",
            "vdbench -f typo.txt",
            "vdbench -f unknown.txt",
            "vdbench -f absent.txt",
            "vdbench -f profile:nosuch",
            "vdbench -f profile:database",
            "vdbench -f short.txt --check",
            "check --inventory --platform text",
            "check --inventory --against absent.json",
            "check --inventory --ssh ssh://",
        ]
    ));
}

#[test]
fn fleets() {
    need_duckdb();
    let workspace = furnished();
    let head = "system,time,side,operation,low_us,high_us,count\n";
    workspace.file("ms.csv", &head.replace("_us", "_ms"));
    workspace.file(
        "overlap.csv",
        &format!(
            "{head}a,2026-01-31T12:00:00Z,before,write,0,120,5\n\
             a,2026-01-31T12:00:00Z,before,write,100,1000,5\n"
        ),
    );
    workspace.file(
        "before.csv",
        &format!("{head}a,2026-01-31T12:00:00Z,before,write,0,120,5\n"),
    );
    workspace.fine("storage fleet import before.csv");
    // A target without devices, whose run has no device times with any rights.
    workspace.fine("run plan.toml --target mock: --name nowhere");
    insta::assert_snapshot!(said(
        &workspace,
        &[
            "storage fleet import absent.csv",
            "storage fleet import folder",
            "storage fleet import text",
            "storage fleet import ms.csv",
            "storage fleet import overlap.csv",
            "storage fleet import archive.dbdyno?before=absent",
            "storage fleet import archive.dbdyno?between=absent",
            "storage fleet import archive.dbdyno?before=nowhere&after=nowhere",
            "storage fleet import before.csv folder?system=a",
            "storage fleet import before.csv -o theirs.db",
            "storage fleet import before.csv -o folder",
            "storage fleet report",
            "storage fleet report absent.duckdb",
            "storage fleet report --set limits=120",
            "storage fleet report --primary writes",
            "storage fleet export -o text",
        ]
    ));
}
