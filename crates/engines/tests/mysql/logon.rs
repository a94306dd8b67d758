//! Logons, and the errors of refused ones.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;

use engine::ErrorKind;

use crate::common::*;

/// Lets a server that listens on its socket only be reached by a port, for as long as the test runs.
fn port_of(socket: PathBuf) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        while let Ok((client, _)) = listener.accept() {
            let server = UnixStream::connect(&socket).unwrap();
            let (mut from_client, mut to_server) =
                (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || {
                forward(&mut from_client, &mut to_server);
                let _ = to_server.shutdown(Shutdown::Both);
            });
            let (mut from_server, mut to_client) = (server, client);
            thread::spawn(move || {
                forward(&mut from_server, &mut to_client);
                let _ = TcpStream::shutdown(&to_client, Shutdown::Both);
            });
        }
    });
    port
}

fn forward(from: &mut impl Read, to: &mut impl Write) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
}

fn os_user() -> String {
    let id = std::process::Command::new("id")
        .arg("-un")
        .output()
        .unwrap();
    String::from_utf8(id.stdout).unwrap().trim().to_owned()
}

#[test]
fn passwords_sockets_and_ports() {
    let server = server();
    let mut root = stage(&server);
    let me = os_user();
    root.batch(
        "CREATE USER secretive@localhost IDENTIFIED BY 'hu:sh@1'; \
         GRANT ALL ON *.* TO secretive@localhost WITH GRANT OPTION",
    )
    .unwrap();
    // The kernel's word instead of a password; the superuser may be of the same name.
    root.batch(&format!(
        "CREATE USER IF NOT EXISTS '{me}'@localhost; \
         ALTER USER '{me}'@localhost IDENTIFIED VIA unix_socket; \
         GRANT ALL ON *.* TO '{me}'@localhost WITH GRANT OPTION; \
         CREATE USER somebody@localhost IDENTIFIED VIA unix_socket"
    ))
    .unwrap();
    drop(root);
    assert!(opened(&url_of(&server, "secretive:hu%3Ash@1", "dbdyno")).is_ok());
    assert!(opened(&url_of(&server, &me, "dbdyno")).is_ok());
    for user in [
        "secretive:wrong_one",
        "secretive",
        "nobody_known:wrong_one",
        "somebody",
    ] {
        let error = refused(&url_of(&server, user, "dbdyno"));
        assert_eq!(error.kind, ErrorKind::Unreachable, "{user}: {error}");
        assert!(
            error.message.contains("Access denied") && error.message.contains("MYSQL_PWD"),
            "{error}"
        );
        assert!(!error.message.contains("wrong_one"), "{error}");
    }
    through_a_port(port_of(server.socket_path()), server.pid().unwrap());
}

fn through_a_port(port: u16, pid: u32) {
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
    session
        .batch("CREATE TABLE dbdyno_t (id BIGINT, pad VARCHAR(40))")
        .unwrap();
    assert_eq!(
        session.bulk_load("dbdyno_t", &mut Rows(0..20_000)).unwrap(),
        20_000
    );
    assert_eq!(
        ask(session.as_mut(), "SELECT * FROM dbdyno_t")
            .unwrap()
            .rows,
        20_000
    );
    let error = refused(&url("nonsense"));
    assert!(error.message.contains("Access denied"), "{error}");
}

#[test]
fn nobody_there_is_a_clear_sentence() {
    let port = TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let error = refused(&format!("mysql://u:secret@127.0.0.1:{port}/dbdyno"));
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(
        error.message.contains("no server answers") && !error.message.contains("secret"),
        "{error}"
    );
    let error = refused("mysql://u@localhost/dbdyno?socket=/nowhere/at/all");
    assert!(error.message.contains("/nowhere/at/all"), "{error}");
    // Something that is no database server.
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").unwrap();
    });
    let error = refused(&format!("mysql://u@127.0.0.1:{port}/dbdyno"));
    assert_eq!(error.kind, ErrorKind::Unreachable, "{error}");
}

#[test]
fn too_many_sessions_say_which_limit() {
    let target = local("&max_connections=10");
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
    assert!(
        error.message.contains("Too many connections") && error.message.contains("max_connections"),
        "{error}"
    );
    // Those that are open work on, and what was counted is not lost.
    assert_eq!(number(sessions[0].as_mut(), "SELECT 1"), 1);
    assert!(target.counters().buffer_gets.is_some());
}
