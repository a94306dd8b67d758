//! Settings of a running server in the sessions that are measured, and nowhere else.

use crate::common::*;

on_both! {
    every_session_has_them_and_the_server_keeps_its_own,
    what_no_session_can_set_is_refused_by_name_with_what_to_do,
}

fn shown(session: &mut dyn engine::Session, name: &str) -> String {
    let rows = session.texts(&format!("SELECT @@SESSION.{name}")).unwrap();
    rows[0][0].clone().unwrap()
}

fn every_session_has_them_and_the_server_keeps_its_own(kind: &Kind) {
    let server = kind.server();
    let global =
        "SELECT @@GLOBAL.sort_buffer_size, @@GLOBAL.optimizer_switch, @@GLOBAL.join_buffer_size";
    let mut other = stage(&server);
    let before = other.texts(global).unwrap();
    let asked =
        "&sort_buffer_size=3M&Join_Buffer_Size=4M&optimizer_switch=mrr=on&innodb_strict_mode=OFF";
    let url = format!("{}{asked}", url_of(&server, "root", "dbdyno"));
    let target = opened(&url).unwrap();
    let secondary = target.secondary_schema("x").unwrap();
    let mut sessions = [
        target.open_session().unwrap(),
        target.open_session().unwrap(),
        secondary.open_session().unwrap(),
    ];
    for session in &mut sessions {
        let session = session.as_mut();
        assert_eq!(shown(session, "sort_buffer_size"), "3145728");
        assert_eq!(shown(session, "join_buffer_size"), "4194304");
        assert_eq!(shown(session, "innodb_strict_mode"), "0");
        assert!(shown(session, "optimizer_switch").contains("mrr=on,"));
    }
    let record = target.record();
    assert_eq!(record.settings["sort_buffer_size"], "3145728");
    assert_eq!(
        record.settings["dbdyno.session_settings"],
        "innodb_strict_mode, join_buffer_size, optimizer_switch, sort_buffer_size"
    );
    assert_eq!(other.texts(global).unwrap(), before);
    drop((sessions, secondary, target));
    assert_eq!(other.texts(global).unwrap(), before);
}

fn what_no_session_can_set_is_refused_by_name_with_what_to_do(kind: &Kind) {
    let server = kind.server();
    let cases = [
        ("sort_buffer_size=lots", "Incorrect argument type", false),
        // The server would quietly take the least that it knows.
        ("sort_buffer_size=1", "sort_buffer_size", false),
        ("innodb_flush_log_at_trx_commit=2", "global variable", true),
        ("innodb_buffer_pool_size=1G", "global variable", true),
        ("innodb_page_size=4096", "while the server runs", true),
        ("no_such_setting=1", "no setting \"no_such_setting\"", false),
        (
            "sort_buffer_size=1; DROP DATABASE dbdyno",
            "sort_buffer_size",
            false,
        ),
        ("tmpdir=x'; DROP DATABASE dbdyno; --", "tmpdir", true),
    ];
    for (setting, says, of_server) in cases {
        let url = format!("{}&{setting}", url_of(&server, "root", "dbdyno"));
        cannot_be_set(&url, setting, says, of_server);
    }
    let mut other = stage(&server);
    let there = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'dbdyno'";
    assert_eq!(number(other.as_mut(), there), 1);
}
