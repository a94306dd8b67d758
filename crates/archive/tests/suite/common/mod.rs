//! Runs and points for the tests.
#![allow(dead_code)] // each test file uses its own part

use archive::{
    About, Advice, Archive, Axis, BackgroundEvent, Bottleneck, ByOperation, CacheState, Chart,
    Component, DeviceSample, DeviceUse, Ended, EngineIo, EventClass, EventSource, Execution,
    FIGURES, Fact, HeldBack, Histograms, InterfaceKind, InterfaceUse, Inventory, IoOperation,
    IoUnknown, Missing, NewRun, Observed, OperationSample, OperationTimes, PlannedAnalysis,
    Platform, Point, PointKey, Purpose, Remark, Requests, Resource, RightsMissing, Run, RunName,
    RunState, Sample, Section, Series, Steady, StudyPart, Table, TargetRecord, TimedEvent, Traffic,
    TransactionKind, Unseen, Until, WaitHistogram, WorkDone,
};
use proptest::strategy::Strategy;
use stats::Histogram;

pub fn empty() -> (tempfile::TempDir, Archive) {
    let directory = tempfile::tempdir().unwrap();
    let archive = Archive::open(directory.path().join("new/dir/a.dbdyno")).unwrap();
    (directory, archive)
}

/// The point of T611 with that many jobs in the first repetition.
pub fn key(jobs: u32) -> PointKey {
    PointKey::of("T611", jobs)
}

/// A run over one SQLite target with these points planned.
pub fn new_run(label: Option<&str>, planned: Vec<PointKey>) -> NewRun {
    NewRun {
        label: label.map(str::to_owned),
        plan_name: "quick".into(),
        plan_toml: "name = \"quick\"\n".into(),
        seed: u64::MAX,
        repetitions: 1,
        targets: vec![TargetRecord {
            name: "sqlite".into(),
            url: "sqlite:/var/tmp/dbdyno/t.db".into(),
            engine: "sqlite".into(),
            engine_version: "3.54.1".into(),
            nodes: 1,
            device: Some("nvme0n1".into()),
            settings: [("journal_mode".to_owned(), "wal".to_owned())].into(),
            rights_missing: Some(RightsMissing {
                unseen: vec![Unseen::OthersAtWork, Unseen::DataFileWaits],
                grant: "GRANT PROCESS ON *.* TO 'bench'@'%'".into(),
            }),
        }],
        platform: Platform {
            host_name: Some("bench".into()),
            processor_mhz: Some(2_699.998_000_000_1),
            cores: Some(2),
            ..Platform::default()
        },
        inventory: Inventory {
            facts: vec![Fact {
                section: "processor".into(),
                name: "governor".into(),
                value: "performance".into(),
                stated: false,
            }],
            advice: vec![Advice {
                rule: "cpu-turbo".into(),
                severity: "important".into(),
                decision: "ok".into(),
                what: "turbo mode".into(),
                found: "on".into(),
                advised: "on".into(),
                why: "Speed.".into(),
                source: "000, appendix B".into(),
            }],
        },
        study: Some(StudyPart {
            name: "ab-1".into(),
            side: "a".into(),
            order: "abba".into(),
            settings: vec!["target.cache_mb=8".into()],
            slice_ms: None,
            until: Some(Until {
                effect_pct: 3.0,
                band_pct: 2.0,
                primary: vec!["T611.rows_per_s".into()],
                within_s: Some(600.0),
                elapsed_s: 12.5,
                analyses: vec![PlannedAnalysis {
                    pairs: 2,
                    spent: 1.0,
                }],
                taken: 1,
                ended: Some(Ended::Answered),
            }),
            ..StudyPart::default()
        }),
        missing: vec![Missing {
            target: 0,
            test: "T332".into(),
            title: "Bulk load compressed".into(),
            reason: remark("SQLite does not compress."),
        }],
        tool_version: "0.1.0".into(),
        started_at: "2026-01-02T03:04:05Z".into(),
        planned,
    }
}

/// A remark without a meaning.
pub fn remark(text: &str) -> Remark {
    Remark::Text {
        text: text.to_owned(),
    }
}

/// A valid point with something in every part of it.
pub fn point(key: PointKey) -> Point {
    let mut point = Point {
        key,
        title: "Primary-key access".into(),
        component: Component::Server,
        started_at: "2026-01-02T03:04:06Z".into(),
        seed: 42,
        configuration: "c0ffee".into(),
        definition: "f00d".into(),
        work: WorkDone {
            server_since: Some("2026-02-28T22:15:07Z".into()),
            below_database: false,
            limit_percentile: Some(95.0),
            limit_response_us: Some(50e3),
            threads_requested: Some(8),
            plan: Some("9d1f0a7c55e20b34".into()),
            mode: "work".into(),
            size: "quick".into(),
            operations_per_job: Some(2_000),
            seconds: None,
            schedule: "closed".into(),
            state: "fresh, analysed".into(),
            cache: CacheState::Warm,
        },
        figures: archive::Figures::default(),
        histograms: Histograms::of(&histogram(1..=1_000), &histogram(2..=1_001)),
        by_operation: by_operation(),
        steady: Some(Steady::Yes),
        timed_events: vec![TimedEvent {
            event: "DB CPU".into(),
            class: EventClass::Cpu,
            waits: None,
            time_s: 1.9,
            share_pct: 95.0,
            source: EventSource::Sampled,
        }],
        held_back: held_back(),
        samples: vec![Sample {
            at_s: 1.0,
            operations_per_s: Some(1_000.0),
            cpu_user_pct: Some(62.5),
            page_cache_mb: Some(8_192.5),
            pressure_io_pct: Some(3.25),
            ..Sample::default()
        }],
        devices: devices(),
        engine_io: engine_io(),
        interfaces: interfaces(),
        executions: executions(),
        observed: observed(),
        sections: sections(),
        reasons: Vec::new(),
        notes: vec![
            Remark::Short { elapsed_s: 0.046 },
            remark("SQLite has one writer."),
        ],
    };
    for (place, figure) in FIGURES.iter().enumerate() {
        // Every third figure unknown, the others different from one another.
        let value = (place % 3 != 2).then_some(place as f64 * 1.25 + 0.5);
        point.figures.set(figure.name, value);
    }
    point
}

fn by_operation() -> ByOperation {
    let times = |operation| OperationTimes::of("device", "nvme0n1", operation, "whole");
    ByOperation {
        times: vec![
            times("read").with(&histogram(5..=50)),
            times("write")
                .counted(3, Some(12.5))
                .remarked("means of /proc/diskstats alone".into()),
        ],
        samples: vec![OperationSample {
            at_s: 1.0,
            operation: "read".into(),
            operations: 46,
            service_us_mean: Some(27.5),
            response_us_mean: None,
        }],
        transactions: vec![
            TransactionKind {
                name: "look".into(),
                completed: 40,
                rows: 60,
            },
            TransactionKind::default(),
        ],
    }
}

/// A volume with the data, the disk below it, and one of which only the name is known.
fn devices() -> Vec<DeviceUse> {
    let sample = |operation: &str, p99| DeviceSample {
        at_s: 1.0,
        operation: operation.into(),
        requests: 46,
        service_us_mean: Some(27.5),
        service_us_p99: p99,
        service_us_max: p99,
    };
    let reads = Requests {
        count: 46,
        mb: 0.376_832,
        await_ms: Some(0.0275),
    };
    let volume = DeviceUse {
        name: "dm-0".into(),
        holds: vec![Purpose::Data, Purpose::Log],
        elapsed_s: Some(1.5),
        reads: Some(reads),
        writes: Some(Requests::default()),
        busy_pct: Some(0.125),
        queue_mean: Some(0.001),
        samples: vec![sample("read", None)],
        ..DeviceUse::default()
    };
    let disk = DeviceUse {
        name: "nvme0n1".into(),
        holds: Vec::new(),
        carries: vec!["dm-0".into()],
        samples: vec![sample("read", Some(49.0)), sample("flush", None)],
        ..volume.clone()
    };
    let unknown = DeviceUse {
        name: "loop0".into(),
        holds: vec![Purpose::Temporary],
        ..DeviceUse::default()
    };
    vec![volume, disk, unknown]
}

/// Reads of data and writes of the log that the engine counts, and temporary files that it does not.
fn engine_io() -> Vec<EngineIo> {
    let counted = |purpose, operation, source: &str| EngineIo {
        count: Some(1_525),
        mb: Some(12.5),
        time_s: Some(0.75),
        source: source.into(),
        ..EngineIo::blank(purpose, operation)
    };
    vec![
        counted(Purpose::Data, IoOperation::Read, "pg_stat_io"),
        counted(Purpose::Log, IoOperation::Write, "pg_stat_wal"),
        EngineIo {
            unknown: Some(IoUnknown::NotCounted),
            ..EngineIo::blank(Purpose::Temporary, IoOperation::Read)
        },
    ]
}

/// One of which all is known, and one that failed.
fn executions() -> Vec<Execution> {
    let whole = Execution {
        round: 1,
        statement: "Q14".into(),
        elapsed_us: Some(46_000),
        plan: Some("a1b2".into()),
        device_read_bytes: Some(8_192),
        buffer_gets: Some(200),
        pages_read: Some(50),
    };
    let failed = Execution {
        round: 2,
        statement: "Q14".into(),
        ..Execution::default()
    };
    vec![whole, failed]
}

/// One that is known, and one that is not.
fn observed() -> Vec<Observed> {
    let mut load = Observed::new(About::Load, "counters", &[("what", ""), ("amount", "MB")]);
    load.rows.push(vec!["log".into(), 1.5.into()]);
    load.rows.push(vec!["temporary".into(), None.into()]);
    let why = "the extension is not there".to_owned();
    vec![load, Observed::unknown(About::Statements, "", why)]
}

fn sections() -> Vec<Section> {
    let mut table = Table::new("sleepers | late [ms]");
    table.row([2.0, 0.25]);
    let line = Series {
        name: "mean".into(),
        points: vec![(2.0, Some(0.25))],
    };
    let chart = Chart {
        title: "Late by sleepers".into(),
        note: None,
        x: Axis::new("sleepers", ""),
        y: Axis::new("late", "ms").logarithmic(),
        series: vec![line],
    };
    vec![Section::new("Oversleeping").table(table).chart(chart)]
}

/// One with a device behind it, and the loopback.
fn interfaces() -> Vec<InterfaceUse> {
    let received = Traffic {
        bytes: 46_000,
        packets: 46,
        errors: 1,
        drops: 2,
    };
    let card = InterfaceUse {
        name: "eth0".into(),
        kind: InterfaceKind::Physical,
        elapsed_s: Some(1.5),
        received,
        sent: Traffic::default(),
    };
    let loopback = InterfaceUse {
        name: "lo".into(),
        kind: InterfaceKind::Loopback,
        elapsed_s: None,
        received,
        sent: received,
    };
    vec![card, loopback]
}

fn held_back() -> HeldBack {
    HeldBack {
        bottleneck: Some(Bottleneck {
            resource: Resource::Cpu,
            sentence: "Processors saturated: 97 % busy.".into(),
        }),
        background_events: vec![BackgroundEvent {
            process: "log".into(),
            event: "log syncs".into(),
            count: Some(12),
            time_s: Some(0.06),
            mb: None,
            source: EventSource::Counted,
        }],
        wait_histograms: vec![
            WaitHistogram {
                class: "log sync".into(),
                counts: Some(vec![7, 5]),
                remark: "counted".into(),
            },
            WaitHistogram::unknown("data read", "not reported"),
        ],
    }
}

/// Any number that an archive can keep.
pub fn number() -> impl Strategy<Value = f64> {
    use proptest::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE
}

pub fn maybe_number() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of(number())
}

/// One latency for each number of microseconds.
pub fn histogram(us: impl IntoIterator<Item = u64>) -> Histogram {
    let mut histogram = Histogram::new();
    us.into_iter()
        .for_each(|us| histogram.record_ns(us * 1_000));
    histogram
}

/// A complete run of these points, measured into `archive`.
pub fn measure(archive: &mut Archive, label: Option<&str>, points: &[Point]) -> i64 {
    let planned = points.iter().map(|point| point.key.clone()).collect();
    let id = archive.create_run(&new_run(label, planned)).unwrap();
    for point in points {
        archive.append_point(id, point).unwrap();
    }
    let end = Some("2026-01-02T03:05:00Z");
    archive.finish_run(id, RunState::Complete, end).unwrap();
    id
}

/// A complete run that never saw a disk's fate: two valid points and one invalid.
pub fn example_run() -> Run {
    let directory = tempfile::tempdir().unwrap();
    let mut archive = Archive::open(directory.path().join("example.dbdyno")).unwrap();
    let mut bad = point(key(4));
    bad.reasons
        .push(remark("7 of 8000 rows were wrong, see \"check\""));
    bad.steady = None;
    bad.histograms = Histograms::default();
    measure(
        &mut archive,
        Some("example"),
        &[point(key(1)), point(key(2)), bad],
    );
    archive.load_run(&RunName::Last).unwrap()
}
