//! Logins that fail, each with its sentence.

use std::net::TcpListener;

use crate::common::*;

#[test]
fn a_wrong_password_is_named_without_being_shown() {
    let url = testing::oracle_stand_in().url_of("stranger");
    is_unreachable(&url.replace(":secret@", ":hush@"), "ORA-01017");
    is_unreachable(&url.replace(":secret@", ":hush@"), "$ORACLE_PASSWORD");
    is_unreachable(&url.replace("stranger:secret", "nobody:hush"), "ORA-01017");
}

#[test]
fn a_listener_that_is_down_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("oracle://dbdyno:hush@127.0.0.1:{port}/ORCL");
    is_unreachable(&url, "ORA-12541");
    is_unreachable(&url, "lsnrctl start");
}

#[test]
fn another_protocol_is_no_oracle() {
    let port = port_of_another_protocol(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    is_unreachable(
        &format!("oracle://dbdyno:hush@127.0.0.1:{port}/ORCL"),
        "cannot log in at",
    );
}

#[test]
fn the_password_is_in_no_url_that_is_shown() {
    let url = engines::parse(&new_url()).unwrap();
    assert!(!url.to_string().contains("secret"), "{url}");
    let record = opened(&new_url()).unwrap().record();
    assert!(!record.url.contains("secret"), "{record:?}");
    assert_eq!(record.engine, "Oracle Database");
}
