//! Runs and points for golden tests.

use archive::{Component, Point, PointKey, Run, TargetRecord};
use stats::Histogram;

pub fn run() -> Run {
    let mut run = Run::planned("p");
    run.repetitions = 3;
    run.targets.push(TargetRecord {
        name: "pg".into(),
        ..TargetRecord::default()
    });
    run
}

pub fn point(test: &str, component: Component, jobs: u32, repetition: u32) -> Point {
    let key = PointKey {
        repetition,
        ..PointKey::of(test, jobs)
    };
    Point::blank(key, test.into(), component)
}

/// A level of users with its response time, ms; the limit is 50 ms.
pub fn users(test: &str, users: u32, repetition: u32, response_ms: u64) -> Point {
    let mut point = point(test, Component::Database, users, repetition);
    point.work.limit_percentile = Some(95.0);
    point.work.limit_response_us = Some(50e3);
    point.figures.operations = Some(1000.0);
    let mut response = Histogram::new();
    response.record_ns(response_ms * 1_000_000);
    point.histograms.response = (&response).into();
    point
}
