//! Observations that are set beside each other, that follow each other in a ring, and of a server that stands still.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use archive::stream::{Snapshot, StreamEvent};
use rusqlite::Connection;
use serde_json::Value;

use crate::common::{Place, points};
use crate::observed::{Somebody, until};
use crate::postgres;
use crate::stopped::{Stopped, signal};

/// What was told of a run so far.
fn events(file: &Path) -> Vec<StreamEvent> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    // The last line may be half.
    let lines = text.lines();
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn snapshots(file: &Path) -> Vec<Snapshot> {
    let events = events(file).into_iter();
    let snapshots = events.filter_map(|event| match event {
        StreamEvent::Snapshot(snapshot) => Some(*snapshot),
        _ => None,
    });
    snapshots.collect()
}

/// Observes a server again, on which two sessions are at work where the run `seen` saw three: what sets the runs beside each other, what
/// holds them against limits, and what follows them.
pub fn assert_one_less(place: &Place, url: &str) {
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
    let (server, place) = (postgres::server("&autovacuum=off"), Place::new());
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
    let mut running = Ring(running.spawn().unwrap());
    until(|| snapshots(&file).iter().any(|s| !s.waits.is_empty()));
    let stopped = Stopped::all_of(&server);
    std::thread::sleep(Duration::from_secs(2));
    drop(stopped);
    assert_eq!(running.0.wait().unwrap().code(), Some(0));
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

/// A command that goes on until it is ended, here or with this value.
struct Ring(Child);

impl Ring {
    fn begin(place: &Place, arguments: &[&str]) -> (Self, PathBuf) {
        let said = place.path("said");
        let mut command = place.command(arguments);
        command.stderr(File::create(&said).unwrap());
        (Self(command.spawn().unwrap()), said)
    }

    fn interrupted(mut self) -> Option<i32> {
        signal(self.0.id(), libc::SIGINT);
        self.0.wait().unwrap().code()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let ended = self.0.kill().and_then(|()| self.0.wait());
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

/// Numbers and states of the runs that are called after the ring.
fn runs(place: &Place) -> Vec<(i64, String)> {
    if !place.archive().exists() {
        return Vec::new();
    }
    let archive = Connection::open(place.archive()).unwrap();
    archive.busy_timeout(Duration::from_secs(60)).unwrap();
    let sql = "SELECT id, state FROM run WHERE label LIKE 'db-2%' ORDER BY id";
    let mut runs = archive.prepare(sql).unwrap();
    let runs = runs.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    runs.unwrap().map(Result::unwrap).collect()
}

#[test]
fn a_ring_keeps_the_newest_and_outlives_a_kill() {
    let (server, place) = (postgres::server("&autovacuum=off"), Place::new());
    let url = postgres::url(&server, server.superuser());
    let once = [
        "observe",
        "--target",
        &url,
        "--for",
        "1s",
        "--name",
        "db-by-hand",
    ];
    place.fine(&once);
    let asked = [
        "observe", "--target", &url, "--for", "1s", "--every", "3s", "--keep", "6s", "--name", "db",
    ];
    let (ring, _) = Ring::begin(&place, &asked);
    let complete = |place: &Place| {
        let runs = runs(place).into_iter();
        runs.filter(|(_, state)| state == "complete")
            .map(|(id, _)| id)
            .collect::<Vec<_>>()
    };
    until(|| !complete(&place).is_empty());
    // Its user makes it theirs; the next ones go when their time is over.
    let kept = complete(&place)[0];
    place.fine(&["runs", "rename", &kept.to_string(), "monday"]);
    let next = kept + 1;
    until(|| {
        let all = complete(&place);
        all.last() > Some(&next) && !all.contains(&next)
    });
    // In the middle of a turn.
    until(|| runs(&place).iter().any(|(_, state)| state == "running"));
    let running = runs(&place).pop().unwrap().0;
    drop(ring);

    let (ring, said) = Ring::begin(&place, &asked);
    until(|| complete(&place).last() > Some(&running));
    let all = runs(&place);
    assert!(
        all.iter()
            .all(|(id, state)| *id > running || state == "complete"),
        "nothing half stays: {all:?}"
    );
    assert_eq!(ring.interrupted(), Some(130));
    assert!(complete(&place).contains(&kept), "it was renamed");
    let said = std::fs::read_to_string(said).unwrap();
    assert!(said.contains("run db-2"), "{said}");
    place.export("db-by-hand");
}

#[test]
fn a_ring_tells_that_its_server_is_away_and_goes_on() {
    let place = Place::new();
    let url = "postgres://u@127.0.0.1:1/d";
    let asked = ["observe", "--target", url, "--for", "1s", "--every", "2s"];
    let (ring, said) = Ring::begin(&place, &asked);
    let text = || std::fs::read_to_string(&said).unwrap();
    until(|| text().matches("was not measured").count() >= 2);
    assert!(
        text().contains("dbdyno: warning: turn observe-2"),
        "{}",
        text()
    );
    assert_eq!(ring.interrupted(), Some(130));
    // What is wrong in itself is said once.
    for (more, sentence) in [
        (["--every", "1s"], "--for must be shorter"),
        (["--keep", "1d"], "--every"),
    ] {
        let asked = ["observe", "--target", url, "--for", "10s"];
        let refused = place.dbdyno(&[&asked[..], &more].concat());
        assert_eq!(refused.status, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains(sentence), "{}", refused.stderr);
    }
}
