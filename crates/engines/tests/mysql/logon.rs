//! Logons, and the errors of refused ones.

use engine::ErrorKind;

use crate::common::*;
use testing::Says;

on_both! {
    passwords_sockets_and_ports,
    too_many_sessions_say_which_limit,
}

fn os_user() -> String {
    let id = std::process::Command::new("id")
        .arg("-un")
        .output()
        .unwrap();
    String::from_utf8(id.stdout).unwrap().trim().to_owned()
}

fn passwords_sockets_and_ports(kind: &Kind) {
    // MySQL tells the numbers of its threads with its instruments alone.
    let server = kind.server_with("&innodb_flush_method=nosync&performance_schema=ON");
    let mut root = stage(&server);
    let me = os_user();
    root.batch(kind.knows_sockets).unwrap();
    root.batch(
        "CREATE USER secretive@localhost IDENTIFIED BY 'hu:sh@1'; \
         GRANT ALL ON *.* TO secretive@localhost WITH GRANT OPTION",
    )
    .unwrap();
    // The kernel's word instead of a password; the superuser may be of the same name.
    root.batch(&kind.words(&format!(
        "CREATE USER IF NOT EXISTS '{me}'@localhost; \
         ALTER USER '{me}'@localhost IDENTIFIED VIA unix_socket; \
         GRANT ALL ON *.* TO '{me}'@localhost WITH GRANT OPTION; \
         CREATE USER somebody@localhost IDENTIFIED VIA unix_socket"
    )))
    .unwrap();
    drop(root);
    assert!(opened(&url_of(&server, "secretive:hu%3Ash@1", "dbdyno")).is_ok());
    assert!(opened(&url_of(&server, &me, "dbdyno")).is_ok());
    for user in ["secretive:wrong_one", "secretive", "somebody"] {
        let error = refused(&url_of(&server, user, "dbdyno"));
        assert_eq!(error.kind, ErrorKind::Unreachable, "{user}: {error}");
        error.message.says_all(&["Access denied", "MYSQL_PWD"]);
        assert!(!error.message.contains("wrong_one"), "{error}");
    }
    // MySQL hides that it does not know a user: it asks for a password in one of its ways, by the name.
    let unknown = refused(&url_of(&server, "nobody_known:wrong_one", "dbdyno"));
    assert_eq!(unknown.kind, ErrorKind::Unreachable, "{unknown}");
    let ways = ["Access denied", "a user that it does not know"];
    assert!(
        ways.iter().any(|way| unknown.message.contains(way)),
        "{unknown}"
    );
    assert!(!unknown.message.contains("wrong_one"), "{unknown}");
    let port = port_of(server.socket_path());
    through_a_port(port, server.pid().unwrap(), kind.wrong_in_clear);
}

fn through_a_port(port: u16, pid: u32, wrong: &str) {
    let url = |password: &str| format!("mysql://secretive:{password}@127.0.0.1:{port}/dbdyno");
    let target = opened(&url("hu%3Ash%401")).unwrap();
    // The server tells the numbers of its threads, whatever lies between.
    assert_eq!(target.server_process(), Some(Ok(pid)));
    let record = target.record();
    assert_eq!(
        record.url,
        format!("mysql://secretive@127.0.0.1:{port}/dbdyno")
    );
    assert!(!format!("{record:?}").contains("hu:sh"));
    let mut session = target.open_session().unwrap();
    loads_and_reads(session.as_mut(), 20_000);
    let error = refused(&url("nonsense"));
    assert!(error.message.contains(wrong), "{error}");
}

#[test]
fn nobody_there_is_a_clear_sentence() {
    let port = free_port();
    let nobody = format!("mysql://u:hush@127.0.0.1:{port}/dbdyno");
    is_unreachable(&nobody, "no server answers");
    let nowhere = "mysql://u@localhost/dbdyno?socket=/nowhere/at/all";
    is_unreachable(nowhere, "/nowhere/at/all");
    let port = port_of_another_protocol(b"SSH-2.0-OpenSSH_9.2\r\n");
    is_unreachable(&format!("mysql://u@127.0.0.1:{port}/dbdyno"), "");
}

fn too_many_sessions_say_which_limit(kind: &Kind) {
    let target = kind.local("&max_connections=10");
    let mut sessions = Vec::new();
    let error = (0..20)
        .find_map(|_| match target.open_session() {
            Ok(session) => {
                sessions.push(session);
                None
            }
            Err(error) => Some(error),
        })
        .unwrap();
    // The server is there: a point with fewer jobs may do.
    assert_eq!(error.kind, ErrorKind::Statement);
    error
        .message
        .says_all(&["Too many connections", "max_connections"]);
    // Those that are open work on, and what was counted is not lost.
    assert_eq!(number(sessions[0].as_mut(), "SELECT 1"), 1);
    assert!(target.counters().buffer_gets.is_some());
}
