//! Runs with two targets, a few tests, and the requested repetitions.

use archive::{
    Component, Figures, Histograms, Inventory, Missing, Platform, Point, PointKey, Remark, Run,
    RunState, TargetRecord, WorkDone,
};
use stats::Histogram;

pub fn frame(repetitions: u32) -> Run {
    let target = |name: &str| TargetRecord {
        name: name.into(),
        url: format!("{name}:/var/tmp/{name}.db"),
        engine: name.into(),
        engine_version: "1.2".into(),
        nodes: 1,
        ..TargetRecord::default()
    };
    Run {
        id: 3,
        label: "nightly".into(),
        renamed_from: None,
        note: None,
        state: RunState::Complete,
        started_at: "2026-03-01T08:00:00Z".into(),
        finished_at: Some("2026-03-01T08:05:41Z".into()),
        tool_version: "0.1.0".into(),
        plan_name: "quick".into(),
        plan_toml: String::new(),
        seed: 42,
        repetitions,
        points_planned: 0,
        targets: vec![target("sqlite"), target("duckdb")],
        platform: Platform {
            host_name: Some("bench-01".into()),
            threads: Some(8),
            ..Platform::default()
        },
        inventory: Inventory::default(),
        study: None,
        missing: vec![Missing {
            target: 0,
            test: "T332".into(),
            title: "Bulk load, compressed".into(),
            reason: Remark::EngineLacks {
                feature: "compression".into(),
                why: "SQLite stores no compressed tables.".into(),
            },
        }],
        points: Vec::new(),
        reasons: Vec::new(),
    }
}

/// A valid point with a throughput and response times around 1 ms.
pub fn point(repetition: u32, target: u32, test: &str, jobs: u32, operations_per_s: f64) -> Point {
    let mut response = Histogram::new();
    (1..=1_000).for_each(|us| response.record_ns(us * 1_000));
    Point {
        key: PointKey {
            repetition,
            target,
            ..PointKey::of(test, jobs)
        },
        title: "Primary-key access".into(),
        component: Component::Server,
        started_at: "2026-03-01T08:00:01Z".into(),
        seed: 1,
        configuration: "c0ffee".into(),
        definition: "f00d".into(),
        work: WorkDone::default(),
        figures: Figures {
            operations_per_s: Some(operations_per_s),
            errors: Some(0.0),
            ..Figures::default()
        },
        histograms: Histograms::of(&Histogram::new(), &response),
        steady: None,
        timed_events: Vec::new(),
        held_back: archive::HeldBack::default(),
        by_operation: archive::ByOperation::default(),
        samples: Vec::new(),
        devices: Vec::new(),
        engine_io: Vec::new(),
        interfaces: Vec::new(),
        executions: Vec::new(),
        observed: Vec::new(),
        sections: Vec::new(),
        reasons: Vec::new(),
        notes: Vec::new(),
    }
}

/// One target, with a point of T611 at four jobs for each throughput, one repetition each.
pub fn repeated(throughputs: &[f64]) -> Run {
    let mut run = frame(throughputs.len() as u32);
    run.targets.truncate(1);
    for (repetition, value) in (1..).zip(throughputs) {
        run.points.push(point(repetition, 0, "T611", 4, *value));
    }
    run.points_planned = run.points.len() as u32;
    run
}

/// Both targets, two levels of T611, one of T311; one repetition.
pub fn both() -> Run {
    let mut run = frame(1);
    run.points = vec![
        point(1, 0, "T611", 1, 1_000.0),
        point(1, 0, "T611", 4, 3_000.0),
        point(1, 1, "T611", 1, 1_500.0),
        point(1, 1, "T611", 4, 1_200.0),
        point(1, 1, "T332", 1, 50.0),
        point(1, 0, "T311", 1, 20.0),
    ];
    run.points_planned = run.points.len() as u32;
    run
}
