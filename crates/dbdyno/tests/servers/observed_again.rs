//! Compared observations, and the observation of a stopped server.

use std::path::Path;
use std::time::Duration;

use crate::common::words;
use crate::common::{Workspace, note, points};
use crate::observed::{Somebody, until};
use crate::postgres;
use crate::stopped::Stopped;
use archive::stream::{Snapshot, StreamEvent};
use testing::Says;

fn events(file: &Path) -> Vec<StreamEvent> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // The last line may be incomplete.
    let lines = text.lines();
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

pub fn snapshots(file: &Path) -> Vec<Snapshot> {
    let events = events(file).into_iter();
    let snapshots = events.filter_map(|event| match event {
        StreamEvent::Snapshot(snapshot) => Some(*snapshot),
        _ => None,
    });
    snapshots.collect()
}

/// Observes a server again with two active sessions, after run `seen` with three; then compares, judges and lists the runs.
pub fn assert_one_less(workspace: &Workspace, url: &str) {
    let file = workspace.path("events.jsonl");
    let events_file = file.to_str().unwrap();
    let options = ["observe", url, "--time", "2s", "--name", "later"];
    workspace.fine(&[&options[..], &["--events", events_file]].concat());
    let waits: Vec<_> = snapshots(&file).into_iter().flat_map(|s| s.waits).collect();
    let locks = waits
        .iter()
        .filter(|(class, _)| *class == archive::EventClass::Lock);
    for (_, sessions) in locks.clone() {
        assert!((sessions - 1.0).abs() < 1e-6, "{waits:?}");
    }
    assert!(locks.count() > 0, "{waits:?}");
    let ends = events(&file).pop();
    assert!(
        matches!(ends, Some(StreamEvent::RunEnds { complete: true, .. })),
        "{ends:?}"
    );

    // They differ in length.
    let compared = workspace.json("compare seen later --allow-mismatch --format json");
    compared.to_string().says("active_sessions_mean");

    let limit = |figure: &str, at_most: f64| {
        format!("[[limit]]\nmetric = \"OBSERVE.{figure}\"\nat_most = {at_most}\n")
    };
    let judged = |run: &str, limits: &str| {
        let limits = workspace.file("limits.toml", limits);
        workspace.dbdyno(&["report", run, "--limits", &limits])
    };
    let sessions = limit("active_sessions_mean", 2.5) + &limit("waiting_sessions_mean", 3.5);
    let missed = judged("seen", &sessions);
    assert_eq!(missed.status, 4, "{}{}", missed.stdout, missed.stderr);
    assert!(missed.stdout.starts_with("missed "), "{}", missed.stdout);
    let met = judged("later", &sessions);
    assert_eq!(met.status, 0, "{}{}", met.stdout, met.stderr);
    // A server without replicas has an unknown lag instead of zero.
    let unknown = judged("later", &limit("replication_lag_s_max", 10.0));
    assert_eq!(unknown.status, 4, "{}{}", unknown.stdout, unknown.stderr);
}

/// The server's processes are stopped for two seconds during sampling: the unobserved time is reported, and part of no average.
#[test]
fn a_stopped_server_is_left_alone_and_reported() {
    let (server, workspace) = (postgres::server("&autovacuum=off"), Workspace::new());
    let mut somebody = Somebody::postgres(&server);
    somebody.does("SELECT pg_sleep(600);");
    until(|| {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
        postgres::psql(&server, sql) == "1"
    });
    let file = workspace.path("events.jsonl");
    let url = postgres::url(&server, server.superuser());
    let mut running = workspace.command(&words(
        "observe {} --time 8s --name stood --events {}",
        &[&url, file.to_str().unwrap()],
    ));
    let mut running = running.spawn().unwrap();
    until(|| snapshots(&file).iter().any(|s| !s.waits.is_empty()));
    let stopped = Stopped::all_of(&server);
    std::thread::sleep(Duration::from_secs(2));
    drop(stopped);
    assert_eq!(running.wait().unwrap().code(), Some(0));
    let point = points(&workspace.export("stood"))[0].clone();
    let note = |code: &str| note(&point, code);
    let slow = note("observed_slow").unwrap_or_else(|| panic!("{point:#}"));
    assert!(slow["unseen_s"].as_f64() > Some(1.0), "{slow}");
    for figure in ["active_sessions_mean", "active_sessions_sampled_mean"] {
        let sessions = point[figure].as_f64().unwrap();
        assert!((sessions - 1.0).abs() < 0.05, "{figure}: {sessions}");
    }
}
