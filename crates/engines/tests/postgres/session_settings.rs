//! Settings of a running server in the sessions that are measured, and nowhere else.

use crate::common::*;
use crate::pgbouncer::Pooler;

const ASKED: &str = "?work_mem=7168&Synchronous_Commit=off&jit=false&temp_tablespaces=";

fn shown(session: &mut dyn engine::Session, name: &str) -> String {
    let rows = session.texts(&format!("SHOW {name}")).unwrap();
    rows[0][0].clone().unwrap()
}

#[test]
fn every_session_has_them_and_the_server_keeps_its_own() {
    let server = server();
    let before = psql(&server, "SHOW work_mem; SHOW synchronous_commit; SHOW jit");
    let target = opened(&url_of(&server, "dbdyno", ASKED)).unwrap();
    let mut sessions = [0; 2].map(|_| target.open_session().unwrap());
    target.set_threads(3).unwrap();
    let secondary = target.secondary_schema("x").unwrap();
    let further = [
        target.open_session().unwrap(),
        secondary.open_session().unwrap(),
    ];
    for session in sessions
        .iter_mut()
        .chain(&mut further.into_iter().collect::<Vec<_>>())
    {
        let session = session.as_mut();
        assert_eq!(shown(session, "work_mem"), "7MB");
        assert_eq!(shown(session, "synchronous_commit"), "off");
        assert_eq!(shown(session, "jit"), "off");
    }
    let record = target.record();
    assert_eq!(record.settings["work_mem"], "7MB");
    assert_eq!(record.settings["synchronous_commit"], "off");
    let names = &record.settings["dbdyno.session_settings"];
    assert_eq!(names, "jit, synchronous_commit, temp_tablespaces, work_mem");
    assert!(record.url.contains("work_mem=7168"), "{}", record.url);
    // While they are set, and after.
    let asked = "SHOW work_mem; SHOW synchronous_commit; SHOW jit";
    assert_eq!(psql(&server, asked), before);
    drop((sessions, target));
    assert_eq!(psql(&server, asked), before);
    let persistent = "SELECT count(*) FROM pg_db_role_setting; \
                      SELECT count(*) FROM pg_file_settings WHERE sourcefile LIKE '%auto.conf'";
    assert_eq!(psql(&server, persistent), "0\n0");
}

/// A setting of more than the workers of a sweep asks for is the user's.
#[test]
fn they_win_over_what_a_sweep_of_threads_sets() {
    let server = server();
    let target = opened(&url_of(&server, "dbdyno", "?maintenance_work_mem=5MB")).unwrap();
    target.set_threads(3).unwrap();
    let mut session = target.open_session().unwrap();
    assert_eq!(shown(session.as_mut(), "maintenance_work_mem"), "5MB");
}

#[test]
fn what_no_session_can_set_is_refused_by_name_with_what_to_do() {
    let server = server();
    psql(
        &server,
        "CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE postgres TO plain; GRANT pg_checkpoint TO plain",
    );
    let cases = [
        ("dbdyno", "work_mem=lots", "\"lots\"", false),
        ("dbdyno", "work_mem=1", "outside the valid range", false),
        ("dbdyno", "shared_buffers=1GB", "context postmaster", true),
        ("dbdyno", "Checkpoint_Timeout=1h", "context sighup", true),
        (
            "dbdyno",
            "block_size=4096",
            "data directory was created",
            true,
        ),
        (
            "dbdyno",
            "log_connections=on",
            "when a session starts",
            true,
        ),
        (
            "dbdyno",
            "no_such_setting=1",
            "no setting \"no_such_setting\"",
            false,
        ),
        ("dbdyno", "my.own=1", "no setting \"my.own\"", false),
        (
            "plain",
            "track_io_timing=on&schema=own",
            "permission denied",
            false,
        ),
    ];
    for (user, setting, says, of_server) in cases {
        let url = url_of(&server, user, &format!("?{setting}"));
        cannot_be_set(&url, setting, says, of_server);
    }
}

/// The value is no part of the statement.
#[test]
fn a_value_is_a_value_whatever_it_holds() {
    let server = server_with("&standard_conforming_strings=off");
    let asked = r"?default_text_search_config=pg_catalog.simple&temp_tablespaces=";
    let target = opened(&url_of(&server, "dbdyno", asked)).unwrap();
    drop(target.open_session().unwrap());
    drop(target);
    for hostile in [
        "');DROP SCHEMA dbdyno CASCADE;--",
        r"\');DROP SCHEMA dbdyno CASCADE;--",
    ] {
        let error = refused(&url_of(&server, "dbdyno", &format!("?work_mem={hostile}")));
        assert!(error.message.contains("invalid value"), "{error}");
    }
    let there = "SELECT count(*) FROM pg_namespace WHERE nspname = 'dbdyno'";
    assert_eq!(psql(&server, there), "1");
}

/// A pool of sessions keeps them while they last; whoever gets the session next has the server's own.
#[test]
fn they_hold_behind_a_pool_of_sessions_and_go_with_them() {
    let server = server();
    let settings = "pool_mode = session\nserver_reset_query =\ndefault_pool_size = 3";
    let pooler = Pooler::before(&server, settings);
    let target = opened(&pooler.url("?work_mem=7MB")).unwrap();
    let mut session = target.open_session().unwrap();
    assert_eq!(shown(session.as_mut(), "work_mem"), "7MB");
    drop((session, target));
    for _ in 0..4 {
        assert_eq!(psql_at(&server, &pooler, "SHOW work_mem"), "4MB");
    }
    let pooler = Pooler::before(&server, "pool_mode = transaction");
    let error = refused(&pooler.url("?work_mem=7MB"));
    assert!(error.message.contains("pool_mode = session"), "{error}");
}
