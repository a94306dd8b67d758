//! Observations that are compared with each other, and one of a server that stands still.

use std::path::Path;
use std::time::Duration;

use archive::stream::{Snapshot, StreamEvent};
use serde_json::Value;

use crate::common::{Workspace, points};
use crate::observed::{Somebody, until};
use crate::postgres;
use crate::stopped::Stopped;

/// What was told of a run so far.
fn events(file: &Path) -> Vec<StreamEvent> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // The last line may be half.
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

/// Observes a server again, on which two sessions are at work where the run `seen` saw three: what sets the runs beside each other, what
/// holds them against limits, and what follows them.
pub fn assert_one_less(place: &Workspace, url: &str) {
    let file = place.path("events.jsonl");
    let events_file = file.to_str().unwrap();
    let asked = ["observe", "--target", url, "--for", "2s", "--name", "later"];
    place.fine(&[&asked[..], &["--events", events_file]].concat());
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

    // They are not of the same length.
    let compared = place.fine(&["compare", "seen", "later", "--anyway", "--json"]);
    let compared = compared.stdout;
    let compared: Value = serde_json::from_str(&compared).unwrap();
    let text = compared.to_string();
    assert!(text.contains("active_sessions_mean"), "{text}");

    let limit = |figure: &str, at_most: f64| {
        format!("[[limit]]\nmetric = \"OBSERVE.{figure}\"\nat_most = {at_most}\n")
    };
    let judged = |run: &str, limits: &str| {
        let limits = place.file("limits.toml", limits);
        place.dbdyno(&["judge", run, "--sla", &limits])
    };
    let sessions = limit("active_sessions_mean", 2.5) + &limit("waiting_sessions_mean", 3.5);
    let missed = judged("seen", &sessions);
    assert_eq!(missed.status, 4, "{}{}", missed.stdout, missed.stderr);
    assert!(missed.stdout.starts_with("missed "), "{}", missed.stdout);
    let met = judged("later", &sessions);
    assert_eq!(met.status, 0, "{}{}", met.stdout, met.stderr);
    // A server without replicas has no lag, which is not a lag of nothing.
    let unknown = judged("later", &limit("replication_lag_s_max", 10.0));
    assert_eq!(unknown.status, 4, "{}{}", unknown.stdout, unknown.stderr);
}

/// The server's processes stand still for two seconds while they are looked at: what nobody saw is told, and is in no average.
#[test]
fn a_server_that_stands_still_is_left_alone_and_told() {
    let (server, place) = (postgres::server("&autovacuum=off"), Workspace::new());
    let mut somebody = Somebody::postgres(&server);
    somebody.does("SELECT pg_sleep(600);");
    until(|| {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
        postgres::psql(&server, sql) == "1"
    });
    let file = place.path("events.jsonl");
    let url = postgres::url(&server, server.superuser());
    let mut running = place.command(&[
        "observe",
        "--target",
        &url,
        "--for",
        "8s",
        "--name",
        "stood",
        "--events",
        file.to_str().unwrap(),
    ]);
    let mut running = running.spawn().unwrap();
    until(|| snapshots(&file).iter().any(|s| !s.waits.is_empty()));
    let stopped = Stopped::all_of(&server);
    std::thread::sleep(Duration::from_secs(2));
    drop(stopped);
    assert_eq!(running.wait().unwrap().code(), Some(0));
    let point = points(&place.export("stood"))[0].clone();
    let notes = point["notes"].as_array().unwrap();
    let note = |code: &str| notes.iter().find(|note| note["code"] == code);
    let slow = note("observed_slow").unwrap_or_else(|| panic!("{notes:#?}"));
    assert!(slow["unseen_s"].as_f64() > Some(1.0), "{slow}");
    for figure in ["active_sessions_mean", "active_sessions_seen_mean"] {
        let sessions = point[figure].as_f64().unwrap();
        assert!((sessions - 1.0).abs() < 0.05, "{figure}: {sessions}");
    }
}
