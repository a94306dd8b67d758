//! Statements whose counters were reset, and replicas with several sources.

use std::time::Instant;

use archive::{About, Observed};
use engine::{Activity, Wanted};
use local_server::LocalServer;

use crate::activity::{ask, server};
use crate::common::Kind;
use testing::Says;

on_both! {
    counts_that_were_reset_are_divided_by_the_time_that_they_cover,
    every_source_of_a_replica_is_told_without_its_password,
}

fn activity(server: &LocalServer) -> Box<dyn Activity> {
    let socket = server.socket_path().display().to_string();
    let user = server.superuser();
    let url = format!("mysql://{user}@localhost/nowhere?socket={socket}");
    let target = engines::open_observed(&engines::parse(&url).unwrap()).unwrap();
    let wanted = Wanted {
        texts: true,
        lines: 10,
    };
    target.activity(wanted).unwrap()
}

fn table(activity: &mut dyn Activity, about: About) -> Observed {
    let mut tables = activity.tables().into_iter();
    tables.find(|t| t.about == about).unwrap()
}

fn counts_that_were_reset_are_divided_by_the_time_that_they_cover(kind: &Kind) {
    let server = server(kind);
    let mut activity = activity(&server);
    activity.begin().unwrap();
    ask(&server, "SELECT SLEEP(4)");
    let before = Instant::now();
    let truncate = "TRUNCATE performance_schema.events_statements_summary_by_digest";
    ask(
        &server,
        &format!("{truncate}; SELECT SLEEP(1); SELECT SLEEP(1)"),
    );
    let table = table(activity.as_mut(), About::Statements);
    let since_s = before.elapsed().as_secs_f64();
    let sleep = table
        .rows
        .iter()
        .find(|row| format!("{row:?}").contains("SLEEP"));
    let number = |column: &str| table.number(sleep.unwrap(), column).unwrap();
    assert_eq!(number("calls"), 2.0, "{table:#?}");
    let covered_s = number("time") / number("active sessions");
    // The server tells whole seconds of it.
    assert!(
        (1.5..=since_s + 0.5).contains(&covered_s),
        "{covered_s} of {since_s}: {table:#?}"
    );
    let remark = table.remark.as_deref().unwrap_or("");
    assert!(remark.contains("all counts were reset"), "{table:#?}");
}

fn every_source_of_a_replica_is_told_without_its_password(kind: &Kind) {
    let server = server(kind);
    let source = |name: &str, port: u16| match kind.scheme {
        "mariadb+local" => format!(
            "CHANGE MASTER '{name}' TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='r', MASTER_PASSWORD='CANARY'; "
        ),
        _ => format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='r', \
             SOURCE_PASSWORD='CANARY' FOR CHANNEL '{name}'; "
        ),
    };
    ask(
        &server,
        &format!(
            "SET GLOBAL server_id = 7; {}{}",
            source("src1", 1),
            source("", 2)
        ),
    );
    let mut activity = activity(&server);
    activity.begin().unwrap();
    let table = table(activity.as_mut(), About::Replication);
    let rows = format!("{:?}", table.rows);
    assert_eq!(table.rows.len(), 2, "{table:#?}");
    rows.says_all(&["src1", "receives: No"]);
    assert_eq!(
        activity.load().unwrap().lag_s,
        None,
        "it is no lag of nothing"
    );
    assert!(!format!("{:?}", activity.tables()).contains("CANARY"));
}
