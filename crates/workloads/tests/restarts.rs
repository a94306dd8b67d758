//! A server that is restarted between two points of a run: the run reports it, and checks the database again.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::sync::Arc;

use ::mysql::local::MARIADB;
use ::postgres::local::PostgresServer;
use archive::{Point, PointKey, Run};
use lab::{Observer, Plan, RunOptions};
use load::Progress;
use local_server::{LocalServer, ServerKind};
use workload::Library;

const PLAN: &str = "name = \"restart\"\n\
    [validity]\ndriver_pct_max = 100.0\ndriver_thread_pct_max = 100.0\nlate_starts_pct_max = 100.0\n\
    stall_pct_max = 100.0\nwaiting_pct_max = 100.0\n\
    [[step]]\nuse = \"oltp\"\n[step.oltp]\ndo = \"load\"\nwarehouses = 1\n\
    [[step]]\nuse = \"oltp\"\nseconds = 0.5\n\
    [step.oltp]\ndo = \"run\"\nusers = \"1,2\"\ncheck = \"light\"\nstop = false\n";

struct Restarting<'s> {
    server: &'s LocalServer,
    restarts: u32,
}

impl Observer for Restarting<'_> {
    fn begins(&mut self, _label: &str, _planned: usize, _todo: usize) {}

    fn point_begins(&mut self, _: &PointKey, _: &str, _: &str, _: &Arc<Progress>) {}

    fn point_ends(&mut self, point: &Point) {
        if point.key.test == "OLTP" && self.restarts == 0 {
            self.server.restart().unwrap();
            self.restarts += 1;
        }
    }
}

fn started(kind: &'static dyn ServerKind, url: &str) -> LocalServer {
    LocalServer::start_for(kind, &engines::parse(url).unwrap()).unwrap()
}

fn restarted_between_levels(server: &LocalServer, url: String) -> Run {
    let place = tempfile::tempdir().unwrap();
    let workloads = workloads::registry(Library::embedded().unwrap());
    let plan = Plan::parse(&workloads, PLAN, &[]).unwrap();
    let targets = vec![engines::parse(&url).unwrap()];
    let archive = place.path().join("archive.dbdyno");
    let options = RunOptions::new(plan, targets, &archive, 1, workloads);
    let mut observer = Restarting {
        server,
        restarts: 0,
    };
    let run = lab::run(options, &mut observer).unwrap();
    assert_eq!(observer.restarts, 1);
    run
}

/// The notes of the first level do not mention the restart, those of the second do.
fn assert_reported(run: &Run) {
    assert!(run.valid(), "{:#?}", run.points);
    let levels: Vec<&Point> = run.points.iter().filter(|p| p.key.test == "OLTP").collect();
    let [before, after] = levels[..] else {
        panic!("two levels")
    };
    let (was, is) = (&before.work.server_since, &after.work.server_since);
    assert!(was.is_some() && was < is, "{was:?} {is:?}");
    let says =
        |point: &Point, words: &str| point.notes.iter().any(|n| n.to_string().contains(words));
    for words in ["was restarted since", "the database was checked again"] {
        assert!(
            !says(before, words) && says(after, words),
            "{words}: {after:#?}"
        );
    }
    // No later point saw another restart.
    let last = run.points.last().unwrap();
    assert_eq!(&last.work.server_since, is);
    assert!(!says(last, "was restarted since"), "{last:#?}");
}

#[test]
fn a_restart_of_postgres_is_reported_and_the_database_checked_again() {
    let server = started(
        &PostgresServer,
        "postgres+local:?version=15&shared_buffers=32MB",
    );
    let directory = server.socket_directory().display().to_string();
    let url = format!(
        "postgres://dbdyno@{}/postgres",
        directory.replace('/', "%2F")
    );
    assert_reported(&restarted_between_levels(&server, url));
}

#[test]
fn a_restart_of_mariadb_is_told_and_the_database_checked_again() {
    let server = started(
        &MARIADB,
        "mariadb+local:?innodb_buffer_pool_size=32M&innodb_log_file_size=32M",
    );
    let socket = server.socket_path().display().to_string();
    let url = format!("mysql://root@localhost/dbdyno?socket={socket}");
    assert_reported(&restarted_between_levels(&server, url));
}
