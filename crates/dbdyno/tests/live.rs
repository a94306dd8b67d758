//! The event stream of a real run: a browser that loses its connection, and a scraper.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[allow(dead_code, reason = "the report's own tests use the rest")]
#[path = "../../report/tests/suite/chromium/mod.rs"]
mod chromium;
mod common;
#[path = "live/proxy.rs"]
mod proxy;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::common::words;
use archive::stream::{Snapshot, StreamEvent};
use chromium::Chromium;
use common::{TINY, Workspace};
use live::{Hub, Server};
use proxy::Proxy;
use testing::Says;

/// Events of the command while it measures and judges two sides.
fn events() -> Vec<StreamEvent> {
    let workspace = Workspace::new();
    let file = workspace.path("ab.jsonl");
    let plan = workspace.file("plan.toml", TINY);
    let url = workspace.url("sqlite", "bench.db");
    workspace.fine(&words(
        "ab {} --target {} --b step.seconds=0.06 --repeat 6 --events {}",
        &[&plan, &url, file.to_str().unwrap()],
    ));
    let text = std::fs::read_to_string(file).unwrap();
    let events: Vec<StreamEvent> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let is_verdict = |event: &StreamEvent| matches!(event, StreamEvent::Verdict { .. });
    assert!(events.iter().any(is_verdict), "no verdict in {text}");
    events
}

#[test]
fn a_browser_follows_a_run_to_its_verdict_over_a_broken_connection() {
    let events = events();
    let verdict = events.iter().find_map(|event| match event {
        StreamEvent::Verdict { text } => Some(text.clone()),
        _ => None,
    });
    let ended = |event: &&StreamEvent| matches!(event, StreamEvent::PointEnds(_));
    let points = events.iter().filter(ended).count();

    let hub = Arc::new(Hub::new(None));
    let server = Server::start(Arc::clone(&hub), "0".parse().unwrap()).unwrap();
    // The connection breaks in the middle of the run.
    let half = events.len() / 2;
    let mut proxy = Proxy::start(server.address(), half);
    let browser = Chromium::new();
    let _page = browser.open(&proxy.link());

    for event in &events[..half] {
        hub.publish(event);
    }
    proxy.wait_until_cut();
    // Events in the meantime are not lost.
    for event in &events[half..] {
        hub.publish(event);
    }
    let page = proxy.wait_for_text();
    assert!(proxy.came_back_with_an_id(), "everything was sent again");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let page = words(&page);
    assert!(page.contains(&words(&verdict.unwrap())), "{page}");
    assert!(page.contains("complete"), "{page}");
    let rows = page.matches("Integer processing (T132)").count();
    assert_eq!(rows, points, "each point once: {page}");
}

#[test]
fn a_scraper_understands_the_metrics() {
    let hub = Arc::new(Hub::new(None));
    let server = Server::start(Arc::clone(&hub), "0".parse().unwrap()).unwrap();
    for event in &events() {
        hub.publish(event);
        if matches!(event, StreamEvent::Snapshot(_)) {
            parsed(&metrics(&server)).unwrap();
        }
    }
    let of = |operation: &str| archive::stream::OperationSnapshot {
        operation: operation.into(),
        operations: 1,
        response_ns: vec![(1023, 1)],
        ..Default::default()
    };
    hub.publish(&StreamEvent::Snapshot(Box::new(Snapshot {
        by_operation: vec![of("new-order"), of("payment")],
        ..Snapshot::default()
    })));
    let text = metrics(&server);
    text.says("operation=\"payment\",le=\"+Inf\"} 1");
    let families = parsed(&text).unwrap();
    families.says_all(&[
        "dbdyno_run info 1",
        "dbdyno_operations counter",
        "dbdyno_errors counter",
        "dbdyno_response_time_seconds histogram",
        "dbdyno_service_time_seconds histogram",
        "dbdyno_viewers_dropped counter 1",
    ]);
    // The parser refuses a histogram whose counts fall, so that this test can fail.
    let (bucket, _) = text.split_once("le=\"1.024e-6\"} ").unwrap();
    let broken = format!("{bucket}le=\"1.024e-6\"}} 9999999999");
    let rest = &text[bucket.len()..];
    let broken = format!("{broken}{}", &rest[rest.find('\n').unwrap()..]);
    assert!(parsed(&broken).unwrap_err().contains("ValueError"));
}

fn metrics(server: &Server) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert!(head.contains(kind), "{head}");
    body.to_owned()
}

/// Names, kinds and numbers of samples of the families, by the parser of Prometheus' own client for Python.
fn parsed(text: &str) -> Result<String, String> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(std::path::PathBuf::from);
    let cache =
        cache.unwrap_or_else(|| format!("{}/.cache", std::env::var("HOME").unwrap()).into());
    let package = cache.join("dbdyno/prometheus_client.whl");
    if !package.exists() {
        testing::lacking(
            "the parser of OpenMetrics is not there; get it with scripts/get-openmetrics.sh",
        );
    }
    let program = "import sys\n\
        from prometheus_client.openmetrics.parser import text_string_to_metric_families as families\n\
        for f in families(sys.stdin.read()): print(f.name, f.type, len(f.samples))";
    let mut child = Command::new("python3")
        .args(["-c", program])
        .env("PYTHONPATH", package)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
