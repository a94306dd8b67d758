//! Viewers over loopback: complete, late, foreign and refused ones.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use archive::stream::StreamEvent;
use live::{Address, Hub, LiveError, Server};

fn said(text: &str) -> StreamEvent {
    StreamEvent::Remark { text: text.into() }
}

fn serve(hub: &Arc<Hub>, address: &str) -> Server {
    Server::start(Arc::clone(hub), address.parse().unwrap()).unwrap()
}

fn ask(port: u16, path: &str, more: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\n{more}\r\n").unwrap();
    BufReader::new(stream)
}

fn answer(port: u16, path: &str, more: &str) -> String {
    let mut text = String::new();
    ask(port, path, more).read_to_string(&mut text).unwrap();
    text
}

const HERE: &str = "Host: 127.0.0.1:7411\r\n";

fn events(stream: &mut BufReader<TcpStream>, count: usize) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut id = String::new();
    for line in stream.lines() {
        let line = line.unwrap();
        if let Some(text) = line.strip_prefix("id: ") {
            id = text.to_owned();
        }
        if let Some(json) = line.strip_prefix("data: ") {
            let StreamEvent::Remark { text } = serde_json::from_str(json).unwrap() else {
                panic!("{json}");
            };
            found.push((id.clone(), text));
            if found.len() == count {
                break;
            }
        }
    }
    found
}

fn texts(events: &[(String, String)]) -> Vec<&str> {
    events.iter().map(|(_, text)| text.as_str()).collect()
}

#[test]
fn a_viewer_who_comes_back_misses_nothing_and_gets_nothing_twice() {
    let hub = Arc::new(Hub::new(None));
    let server = serve(&hub, "0");
    let port = server.address().port();
    ["a", "b"].iter().for_each(|text| hub.publish(&said(text)));
    let mut first = ask(port, "/events", HERE);
    let received = events(&mut first, 2);
    assert_eq!(texts(&received), ["a", "b"]);
    hub.publish(&said("c"));
    let third = events(&mut first, 1);
    assert_eq!(texts(&third), ["c"], "as it happens");
    drop(first);
    ["d", "e"].iter().for_each(|text| hub.publish(&said(text)));
    let again = format!("{HERE}Last-Event-ID: {}\r\n", received[1].0);
    let mut again = ask(port, "/events", &again);
    assert_eq!(texts(&events(&mut again, 3)), ["c", "d", "e"]);
    // An id of another process has no meaning in this one.
    let foreign = format!("{HERE}Last-Event-ID: 12345678-4\r\n");
    let mut foreign = ask(port, "/events", &foreign);
    assert_eq!(texts(&events(&mut foreign, 5)), ["a", "b", "c", "d", "e"]);
    hub.publish(&said("the end"));
    drop(server);
    assert_eq!(
        texts(&events(&mut again, 9)),
        ["the end"],
        "before it closes"
    );
}

#[test]
fn on_loopback_only_this_machine_may_ask() {
    let hub = Arc::new(Hub::new(None));
    let server = serve(&hub, "0");
    let port = server.address().port();
    assert_eq!(server.link(), format!("http://127.0.0.1:{port}/"));
    for host in ["127.0.0.1:1", "localhost", "[::1]:80"] {
        let page = answer(port, "/", &format!("Host: {host}\r\n"));
        assert!(page.starts_with("HTTP/1.1 200"), "{host}: {page}");
        assert!(page.contains("Content-Security-Policy: default-src 'none'"));
        assert!(!page.contains("Access-Control-Allow"), "no other origin");
    }
    for host in ["Host: rebound.example\r\n", "Host: 10.0.0.1\r\n", ""] {
        for path in ["/", "/events", "/metrics"] {
            let refused = answer(port, path, host);
            assert!(refused.starts_with("HTTP/1.1 403"), "{host}: {refused}");
        }
    }
    assert!(answer(port, "/x", HERE).starts_with("HTTP/1.1 404"));
}

#[test]
fn elsewhere_the_token_of_the_link_counts() {
    let hub = Arc::new(Hub::new(None));
    let server = serve(&hub, "0.0.0.0:0");
    let port = server.address().port();
    let link = server.link();
    let token = link.split("token=").nth(1).unwrap();
    assert_eq!(token.len(), 32);
    for path in ["/", "/metrics"] {
        let with = answer(port, &format!("{path}?token={token}"), "Host: x\r\n");
        assert!(with.starts_with("HTTP/1.1 200"), "{with}");
        for query in ["", "?token=", "?token=0123456789abcdef0123456789abcdef"] {
            let without = answer(port, &format!("{path}{query}"), HERE);
            assert!(without.starts_with("HTTP/1.1 403"), "{query}: {without}");
        }
    }
}

#[test]
fn a_viewer_that_stops_reading_is_dropped_and_counted() {
    let hub = Arc::new(Hub::new(None));
    let patience = Duration::from_millis(200);
    let server = Server::with_patience(Arc::clone(&hub), "0".parse().unwrap(), patience).unwrap();
    let port = server.address().port();
    let mut idle = ask(port, "/events", HERE);
    let long = said(&"x".repeat(100_000));
    // The buffers between them are full sooner or later.
    while hub.viewers_dropped() == 0 {
        hub.publish(&long);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(answer(port, "/metrics", HERE).contains("dbdyno_viewers_dropped_total 1\n"));
    let mut rest = Vec::new();
    // It is cut off in the middle of an event.
    let _ = idle.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"\n\n"));
}

#[test]
fn a_port_in_use_is_said() {
    let hub = Arc::new(Hub::new(None));
    let server = serve(&hub, "0");
    let taken: SocketAddr = server.address();
    let error = Server::start(Arc::new(Hub::new(None)), Address(taken)).unwrap_err();
    assert!(matches!(error, LiveError::Listen { .. }));
    let sentence = error.to_string();
    assert!(sentence.contains("the port is in use"), "{sentence}");
    assert!(sentence.contains("--live=0"), "{sentence}");
}
