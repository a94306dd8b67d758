//! Points are read as they were written, and invalid ones are refused.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use crate::common::{empty, key, maybe_number, measure, new_run, number, point, remark};
use crate::{devices, engine_io, executions, interfaces};
use archive::{
    Archive, ArchiveError, BackgroundEvent, Bottleneck, Component, EventSource, FIGURES, Figures,
    HeldBack, Histograms, NewRun, Point, PointKey, Remark, Resource, RunName, RunState, Sample,
    Steady, TimedEvent, WaitHistogram, WorkDone,
};
use proptest::prelude::*;
use stats::Histogram;
use testing::Says;

#[test]
fn a_run_comes_back_as_it_was_measured() {
    let (_directory, mut archive) = empty();
    let points = [point(key(1)), point(key(2))];
    let id = measure(&mut archive, Some("before"), &points);

    let reader = Archive::open_read_only(archive.path()).unwrap();
    let run = reader.load_run(&RunName::Label("before".into())).unwrap();
    let given = new_run(Some("before"), Vec::new());
    assert_eq!(run.points, points);
    assert_eq!(run.id, id);
    assert_eq!(run.label.as_str(), "before");
    assert_eq!(run.state, RunState::Complete);
    assert_eq!(run.targets, given.targets);
    assert_eq!(run.platform, given.platform);
    assert_eq!(run.inventory, given.inventory);
    assert_eq!(run.study, given.study);
    assert_eq!(run.missing, given.missing);
    assert_eq!(run.plan_name, given.plan_name);
    assert_eq!(run.plan_toml, given.plan_toml);
    assert_eq!(run.seed, u64::MAX);
    assert_eq!(run.repetitions, 1);
    assert_eq!(run.points_planned, 2);
    assert_eq!(run.started_at, given.started_at);
    assert_eq!(run.finished_at.as_deref(), Some("2026-01-02T03:05:00Z"));
    assert_eq!(run.reasons, []);
    assert!(archive.load_run(&RunName::Last).unwrap().valid());
}

#[test]
fn runs_are_found_by_id_label_and_last() {
    let (_directory, mut archive) = empty();
    assert!(matches!(
        archive.load_run(&RunName::Last),
        Err(ArchiveError::UnknownRun { .. })
    ));
    let first = archive.create_run(&new_run(None, vec![key(1)])).unwrap();
    let second = archive
        .create_run(&new_run(Some("after"), vec![key(1)]))
        .unwrap();
    let label = |name: &str| archive.load_run(&name.parse().unwrap()).unwrap().label;
    assert_eq!(label(&first.to_string()), format!("run-{first}"));
    assert_eq!(label(&format!("run-{first}")), format!("run-{first}"));
    assert_eq!(label("last"), "after");
    assert_eq!(archive.run_id(&"after".parse().unwrap()).unwrap(), second);
    for unknown in ["99", "nobody", "-1"] {
        let error = archive.load_run(&unknown.parse().unwrap()).unwrap_err();
        assert!(matches!(error, ArchiveError::UnknownRun { .. }) && !error.is_environment());
    }
}

#[test]
fn a_label_may_not_be_used_twice() {
    let (_directory, mut archive) = empty();
    archive
        .create_run(&new_run(Some("x"), vec![key(1)]))
        .unwrap();
    let again = archive.create_run(&new_run(Some("x"), vec![key(1)]));
    assert!(matches!(again, Err(ArchiveError::LabelTaken { .. })));
    let last = archive.create_run(&new_run(Some("last"), vec![key(1)]));
    assert!(matches!(last, Err(ArchiveError::LabelUnusable { .. })));
    assert_eq!(archive.list_runs().unwrap().len(), 1);
}

#[test]
fn an_interrupted_run_knows_what_is_left() {
    let (_directory, mut archive) = empty();
    let planned = vec![key(1), key(2), key(4)];
    let id = archive.create_run(&new_run(None, planned.clone())).unwrap();
    archive.append_point(id, &point(key(2))).unwrap();
    archive.append_point(id, &point(key(1))).unwrap();
    archive.finish_run(id, RunState::Interrupted, None).unwrap();

    let path = archive.path().to_path_buf();
    drop(archive);
    let mut archive = Archive::open(path).unwrap();
    assert_eq!(archive.planned(id).unwrap(), planned);
    assert_eq!(archive.finished(id).unwrap(), [key(2), key(1)]);
    let early = archive.finish_run(id, RunState::Complete, None);
    assert!(matches!(
        early,
        Err(ArchiveError::NotComplete { missing: 1, .. })
    ));
    archive.append_point(id, &point(key(4))).unwrap();
    archive.finish_run(id, RunState::Complete, None).unwrap();
    assert!(archive.load_run(&RunName::Id(id)).unwrap().valid());
}

#[test]
fn a_point_is_planned_and_measured_once() {
    let (_directory, mut archive) = empty();
    let id = archive.create_run(&new_run(None, vec![key(1)])).unwrap();
    archive.append_point(id, &point(key(1))).unwrap();
    let mut other = point(key(1));
    other.seed += 1;
    assert!(matches!(
        archive.append_point(id, &other),
        Err(ArchiveError::PointTwice { .. })
    ));
    let stray = archive.append_point(id, &point(key(9)));
    assert!(matches!(stray, Err(ArchiveError::NotPlanned { .. })));
    let nowhere = archive.append_point(id + 1, &point(key(1)));
    assert!(matches!(nowhere, Err(ArchiveError::UnknownRun { .. })));
    assert_eq!(
        archive.load_run(&RunName::Last).unwrap().points,
        [point(key(1))]
    );
}

#[test]
fn a_plan_that_contradicts_itself_is_refused() {
    let (_directory, mut archive) = empty();
    let twice = archive.create_run(&new_run(None, vec![key(1), key(1)]));
    assert!(matches!(twice, Err(ArchiveError::BadPlan(_))));
    let no_target = NewRun {
        targets: Vec::new(),
        ..new_run(None, vec![key(1)])
    };
    assert!(matches!(
        archive.create_run(&no_target),
        Err(ArchiveError::BadPlan(_))
    ));
}

#[test]
fn runs_are_found_by_their_plan() {
    let (_directory, mut archive) = empty();
    let mut of_plan = |plan: &str| {
        let run = NewRun {
            plan_name: plan.into(),
            ..new_run(Some(plan), vec![key(1)])
        };
        archive.create_run(&run).unwrap()
    };
    let ids = ["nightly", "weekly"].map(&mut of_plan);
    let found = archive.runs_of_plan("weekly").unwrap();
    assert_eq!(found, [(ids[1], "weekly".to_owned())]);
    assert_eq!(archive.runs_of_plan("week").unwrap(), []);
}

#[test]
fn the_list_tells_how_far_each_run_came() {
    let (_directory, mut archive) = empty();
    measure(&mut archive, None, &[point(key(1))]);
    let mut bad = point(key(1));
    bad.reasons.push(remark("wrong"));
    measure(&mut archive, None, &[bad]);
    archive
        .create_run(&new_run(None, vec![key(1), key(2)]))
        .unwrap();
    let list = archive.list_runs().unwrap();
    let seen: Vec<_> = (list.iter())
        .map(|r| (r.id, r.state, r.points_finished, r.points_planned, r.valid))
        .collect();
    assert_eq!(
        seen,
        [
            (1, RunState::Complete, 1, 1, true),
            (2, RunState::Complete, 1, 1, false),
            (3, RunState::Running, 0, 2, false),
        ]
    );
    assert_eq!(list[0].label.as_str(), "run-1");
    assert_eq!(list[0].targets, new_run(None, Vec::new()).targets);
}

#[test]
fn what_is_not_a_number_becomes_unknown_and_is_reported() {
    let (_directory, mut archive) = empty();
    let mut odd = point(key(1));
    odd.figures.rows_per_s = Some(f64::NAN);
    odd.figures.elapsed_s = Some(f64::INFINITY);
    odd.samples[0].cpu_pct = Some(f64::NAN);
    odd.timed_events[0].share_pct = f64::NAN;
    let mut service = odd.histograms.service.to_histogram();
    service.record_ns(2 * stats::histogram::LATENCY_NS_MAX);
    odd.histograms.service = (&service).into();
    measure(&mut archive, None, &[odd]);
    let run = archive.load_run(&RunName::Last).unwrap();
    let back = &run.points[0];
    assert!(run.valid());
    assert_eq!(back.figures.rows_per_s, None);
    assert_eq!(back.figures.elapsed_s, None);
    assert_eq!(back.samples[0].cpu_pct, None);
    assert_eq!(back.samples.len(), 1);
    assert_eq!(back.timed_events.len(), 0);
    let notes: Vec<String> = back.notes.iter().map(Remark::to_string).collect();
    let notes = notes.join("\n");
    notes.says_all(&[
        "rows_per_s",
        "elapsed_s",
        "1 samples",
        "1 timed event",
        "longer than an hour",
    ]);
}

/// The tables are made for people with `sqlite3` as well.
#[test]
fn the_view_shows_results_by_name() {
    let (_directory, mut archive) = empty();
    measure(&mut archive, Some("x"), &[point(key(1))]);
    let sql = "SELECT run, target_name, engine, measured_valid, test, jobs, rows_per_s FROM result";
    let row: (String, String, String, bool, String, u32, f64) =
        rusqlite::Connection::open(archive.path())
            .unwrap()
            .query_row(sql, [], |r| {
                Ok((
                    r.get(0)?,
                    r.get(1)?,
                    r.get(2)?,
                    r.get(3)?,
                    r.get(4)?,
                    r.get(5)?,
                    r.get(6)?,
                ))
            })
            .unwrap();
    let want = (
        "x".into(),
        "sqlite".into(),
        "sqlite".into(),
        true,
        "T611".into(),
        1,
        0.5,
    );
    assert_eq!(row, want);
}

fn figures() -> impl Strategy<Value = Figures> {
    proptest::collection::vec(maybe_number(), FIGURES.len()).prop_map(|values| {
        let mut figures = Figures::default();
        for (info, value) in FIGURES.iter().zip(values) {
            figures.set(info.name, value);
        }
        figures
    })
}

fn histogram() -> impl Strategy<Value = Histogram> {
    proptest::collection::vec(0..=stats::histogram::LATENCY_NS_MAX, 0..50).prop_map(|latencies| {
        let mut histogram = Histogram::new();
        latencies.into_iter().for_each(|ns| histogram.record_ns(ns));
        histogram
    })
}

fn sample() -> impl Strategy<Value = Sample> {
    (number(), proptest::array::uniform20(maybe_number())).prop_map(|(at_s, v)| Sample {
        at_s,
        operations_per_s: v[0],
        response_us_p99: v[1],
        cpu_pct: v[2],
        cpu_iowait_pct: v[3],
        read_iops: v[4],
        write_iops: v[5],
        read_mb_per_s: v[6],
        write_mb_per_s: v[7],
        memory_used_mb: v[8],
        cpu_user_pct: v[9],
        cpu_system_pct: v[10],
        network_mb_per_s: v[11],
        tcp_retransmits: v[12],
        tcp_sockets: v[13],
        page_cache_mb: v[14],
        major_faults: v[15],
        swap_mb: v[16],
        pressure_cpu_pct: v[17],
        pressure_memory_pct: v[18],
        pressure_io_pct: v[19],
    })
}

fn event() -> impl Strategy<Value = TimedEvent> {
    let waits = proptest::option::of(0..=i64::MAX as u64);
    ("\\PC*", "\\PC*", waits, number(), number()).prop_map(
        |(event, class, waits, time_s, share_pct)| TimedEvent {
            event,
            class: class.into(),
            waits,
            time_s,
            share_pct,
            source: EventSource::Counted,
        },
    )
}

fn held_back() -> impl Strategy<Value = HeldBack> {
    let counts = proptest::option::of(proptest::collection::vec(any::<u64>(), 0..4));
    let event = (
        proptest::option::of(0..=i64::MAX as u64),
        maybe_number(),
        "\\PC*",
    );
    let event = event.prop_map(|(count, time_s, name)| BackgroundEvent {
        process: name.clone(),
        event: name,
        count,
        time_s,
        mb: time_s,
        source: EventSource::Counted,
    });
    (event, counts, proptest::option::of("\\PC*")).prop_map(|(event, counts, sentence)| HeldBack {
        background_events: vec![event],
        wait_histograms: vec![WaitHistogram {
            class: "log sync".into(),
            counts,
            remark: "counted".into(),
        }],
        bottleneck: sentence.map(|sentence| Bottleneck {
            resource: Resource::Cpu,
            sentence,
        }),
    })
}

fn remarks() -> impl Strategy<Value = Vec<Remark>> {
    let values = (any::<u64>(), any::<String>(), number());
    let remark = (0..5u8, values).prop_map(|(kind, (count, text, value))| match kind {
        0 => Remark::Text { text },
        1 => Remark::OperationsFailed {
            errors: count,
            messages: [(text, count)].into(),
        },
        2 => Remark::SampledRemotely {
            address: text,
            cost_pct: Some(value).filter(|_| count % 2 == 0),
        },
        3 => Remark::OfNode {
            node: 2,
            what: Box::new(Remark::Short { elapsed_s: value }),
        },
        _ => Remark::Serial,
    });
    proptest::collection::vec(remark, 0..4)
}

fn any_key() -> impl Strategy<Value = PointKey> {
    let numbers = (
        any::<u32>(),
        any::<u32>(),
        any::<u32>(),
        any::<u32>(),
        any::<u32>(),
    );
    (numbers, any::<String>()).prop_map(|((repetition, step, nodes, jobs, threads), test)| {
        PointKey {
            repetition,
            step,
            target: 0,
            test,
            nodes,
            jobs,
            threads,
        }
    })
}

fn work() -> impl Strategy<Value = WorkDone> {
    let amounts = (proptest::option::of(any::<u64>()), maybe_number());
    (amounts, any::<String>(), any::<String>()).prop_map(
        |((operations_per_job, seconds), state, cache)| WorkDone {
            below_database: false,
            limit_percentile: None,
            limit_response_us: None,
            threads_requested: None,
            plan: None,
            operations_per_job,
            seconds,
            state,
            cache: cache.into(),
            mode: "time".into(),
            ..WorkDone::default()
        },
    )
}

fn any_point() -> impl Strategy<Value = Point> {
    let rows = (
        proptest::collection::vec(sample(), 0..5),
        proptest::collection::vec(event(), 0..5),
        held_back(),
        (
            proptest::collection::vec(devices::any_device(), 0..4),
            proptest::collection::vec(engine_io::any_engine_io(), 0..4),
            proptest::collection::vec(interfaces::any_interface(), 0..4),
            proptest::collection::vec(executions::any_execution(), 0..4),
        ),
    );
    let choices = (0..4usize, proptest::option::of(0..3usize), any::<u64>());
    let head = (any_key(), any::<String>(), choices, work());
    (
        head,
        figures(),
        (histogram(), histogram()),
        rows,
        (remarks(), remarks()),
    )
        .prop_map(
            |(
                (key, title, (component, steady, seed), work),
                figures,
                (service, response),
                (samples, timed_events, held_back, (devices, engine_io, interfaces, executions)),
                (reasons, notes),
            )| Point {
                key,
                configuration: title.clone(),
                definition: title.clone(),
                title,
                component: Component::ALL[component],
                started_at: "2026-01-02T03:04:06Z".into(),
                seed,
                work,
                figures,
                by_operation: archive::ByOperation::default(),
                histograms: Histograms::of(&service, &response),
                steady: steady.map(|s| [Steady::Yes, Steady::No, Steady::Trend][s]),
                timed_events,
                held_back,
                samples,
                devices,
                engine_io,
                interfaces,
                executions,
                observed: Vec::new(),
                sections: Vec::new(),
                reasons,
                notes,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_point_survives_the_archive(point in any_point()) {
        let (_directory, mut archive) = empty();
        measure(&mut archive, None, std::slice::from_ref(&point));
        let run = archive.load_run(&RunName::Last).unwrap();
        prop_assert_eq!(&run.reasons, &Vec::<Remark>::new());
        prop_assert_eq!(&run.points[0], &point);
    }
}

/// SQLite's locks are the process's, and closing any descriptor of a file gives them up: an archive that is opened twice here
/// must still look open to others, or the next process truncates the shared memory that this one works on (a bus error).
#[test]
fn an_archive_opened_twice_keeps_its_locks() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.dbdyno");
    let mut archive = Archive::open(&path).unwrap();
    archive.create_run(&new_run(Some("a"), vec![])).unwrap();
    let shared_memory = std::fs::metadata(folder.path().join("x.dbdyno-shm")).unwrap();
    let locks = || {
        let table = std::fs::read_to_string("/proc/locks").unwrap();
        let own = format!(" {} ", std::process::id());
        let inode = format!(":{} ", shared_memory.ino());
        let mut lines = table.lines();
        lines.any(|line| line.contains("POSIX") && line.contains(&own) && line.contains(&inode))
    };
    assert!(locks());
    drop(Archive::open(&path).unwrap());
    assert!(locks(), "a second one that was opened and closed");
    drop(Archive::open_read_only(&path).unwrap());
    assert!(locks(), "a reader");
    drop(archive);
    assert!(!locks());
}
