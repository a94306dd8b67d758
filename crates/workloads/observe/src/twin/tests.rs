//! Twins of loads with known amounts, and their plans.

use archive::{About, Component, Observed, Point, PointKey, load_row};
use engine::{Footprint, RowBytes};
use lab::{Plan, Registry};
use workload::{ComponentTests, Library, Script};

use super::kinds::Kind;
use super::shape::Rows;
use super::{Twin, TwinError, Unit};

const FOOTPRINT: Footprint = Footprint {
    transaction_log_bytes: 50.0,
    log_bytes_per_s: 0.0,
    insert: RowBytes {
        fixed: 100.0,
        per_byte: 1.0,
    },
    update: RowBytes {
        fixed: 80.0,
        per_byte: 1.0,
    },
    delete: RowBytes {
        fixed: 60.0,
        per_byte: 0.0,
    },
    file: RowBytes {
        fixed: 60.0,
        per_byte: 1.0,
    },
    room_mb: 0.0,
    text_bytes_max: 1900,
    page_image_bytes: 8192.0,
    beyond_range: 0.0,
};

/// Seconds of each observation, so that a thousand transactions are a hundred per second.
const SECONDS: f64 = 10.0;

/// Observation of so many of each counter, with calls and rows of all statements if known.
fn observed(load: &[(&str, f64)], statements: Option<(f64, f64)>) -> Point {
    let key = PointKey::of(PointKey::OBSERVATION, 1);
    let mut point = Point::blank(key, "observed".into(), Component::Database);
    point.figures.elapsed_s = Some(SECONDS);
    point.figures.active_sessions_mean = Some(1.5);
    point.figures.active_sessions_max = Some(4.0);
    let columns = [("what", ""), ("amount", ""), ("per second", "")];
    let mut table = Observed::new(About::Load, "counters", &columns);
    for (name, amount) in load {
        let row = vec![(*name).into(), (*amount).into(), (amount / SECONDS).into()];
        table.rows.push(row);
    }
    point.observed.push(table);
    if let Some((calls, rows)) = statements {
        let columns = [
            ("statement", ""),
            ("time", "s"),
            ("active sessions", "sessions"),
            ("calls", ""),
            ("rows", "rows"),
            ("logical reads", "pages"),
        ];
        let mut table = Observed::new(About::Statements, "statements", &columns);
        let row = |name: &str, numbers: [f64; 5]| {
            let numbers = numbers.map(Into::into);
            std::iter::once(name.into()).chain(numbers).collect()
        };
        table.rows.push(row("all", [15.0, 1.5, calls, rows, 9.0]));
        // Statements that begin and end transactions are not counted each time.
        table.rows.push(row("BEGIN", [5.0, 0.5, 77.0, 0.0, 0.0]));
        point.observed.push(table);
    }
    let mut tables = Observed::new(About::Tables, "tables", &[("table", ""), ("size", "MB")]);
    tables.rows.push(vec!["a".into(), 15.0.into()]);
    tables.rows.push(vec!["b".into(), None.into()]);
    point.observed.push(tables);
    point
}

fn twin(point: &Point) -> Twin {
    Twin::of_point("monday", "postgres 15.1".into(), point, FOOTPRINT).unwrap()
}

fn figure(twin: &Twin, name: &str) -> (Option<f64>, Option<f64>, Option<f64>) {
    let figure = twin.fit().0.iter().find(|figure| figure.name == name);
    let figure = figure.unwrap();
    let round = |n: Option<f64>| n.map(|n| (n * 1000.0).round() / 1000.0);
    (
        round(figure.observed),
        round(figure.twin),
        round(figure.deviation_pct()),
    )
}

/// Three updates, an insert and a select of pgbench, which scans two small tables.
fn pgbench() -> Point {
    let load = [
        (load_row::TRANSACTIONS, 1000.0),
        (load_row::ROLLBACKS, 0.0),
        (load_row::ROWS_SCANNED, 13_000.0),
        (load_row::ROWS_FETCHED, 2_000.0),
        (load_row::ROWS_INSERTED, 1_000.0),
        (load_row::ROWS_UPDATED, 3_000.0),
        (load_row::ROWS_DELETED, 0.0),
        (load_row::LOGICAL_READS, 40_000.0),
        (load_row::PHYSICAL_READS_OR_CACHED, 4.0),
        (load_row::LOG, 0.6 + 10.0 * 8192.0 / 1e6),
        (load_row::PAGE_IMAGES, 10.0),
    ];
    observed(&load, Some((5_000.0, 5_000.0)))
}

#[test]
fn golden_a_transaction_of_pgbench() {
    let twin = twin(&pgbench());
    let kind = Kind {
        share: 1.0,
        writes: true,
        updates: 3,
        inserts: 1,
        others: 1,
        scans: 1,
        ..Kind::default()
    };
    assert_eq!(twin.shape.kinds, [(1, kind)]);
    let rows = Rows {
        read: 0,
        updated: 1,
        changed: 1,
        scanned: 10,
    };
    // 50 + 100 + 3 · 80 bytes and four texts are 600.
    assert_eq!((&twin.shape.rows, twin.shape.text_bytes), (&rows, 53));
    for (name, expected) in [
        (
            "statements without BEGIN and COMMIT",
            (Some(5.0), Some(5.0), Some(0.0)),
        ),
        ("rows read", (Some(13.0), Some(13.0), Some(0.0))),
        // Updated rows are found by their keys.
        (
            "rows read through indexes",
            (Some(2.0), Some(3.0), Some(50.0)),
        ),
        ("rows returned", (Some(1.0), Some(1.0), Some(0.0))),
        ("rows inserted", (Some(1.0), Some(1.0), Some(0.0))),
        ("rows updated", (Some(3.0), Some(3.0), Some(0.0))),
        ("rows deleted", (Some(0.0), Some(0.0), Some(0.0))),
        (
            "rows read per row changed",
            (Some(3.25), Some(3.25), Some(0.0)),
        ),
        ("log", (Some(600.0), Some(602.0), Some(0.333))),
        ("working set", (Some(15.0), Some(15.029), Some(0.193))),
        (
            "hit ratio of the cache",
            (Some(99.99), Some(99.99), Some(0.0)),
        ),
        ("active sessions", (Some(1.5), Some(1.5), Some(0.0))),
        (
            "transactions per second",
            (Some(100.0), Some(100.0), Some(0.0)),
        ),
    ] {
        assert_eq!(figure(&twin, name), expected, "{name}");
    }
    // Four sessions of which 2.5 pause: at a hundred transactions per second, 25 ms each.
    assert_eq!((twin.jobs(), twin.think_ms()), (4, Some(25.0)));
}

/// Ten rows, four ranges of a hundred, and four changes of sysbench, of which the server returns 311 rows.
#[test]
fn golden_a_transaction_of_sysbench() {
    let load = [
        (load_row::TRANSACTIONS, 1000.0),
        (load_row::STATEMENTS, 20_000.0),
        (load_row::ROWS_READ, 413_000.0),
        (load_row::ROWS_INSERTED, 1_000.0),
        (load_row::ROWS_UPDATED, 2_000.0),
        (load_row::ROWS_DELETED, 1_000.0),
        (load_row::ROWS_SENT, 311_000.0),
        (load_row::LOG, 3.0),
    ];
    let twin = twin(&observed(&load, None));
    let rows = Rows {
        read: 30,
        updated: 1,
        changed: 1,
        scanned: 0,
    };
    assert_eq!(twin.shape.rows, rows);
    // 410 rows by thirty are 13 2/3 of the fourteen statements that read; the others only take part in the round trips.
    let others = |(weight, kind): &(u64, Kind)| (*weight, kind.others, kind.reads, kind.returning);
    let found: Vec<_> = twin.shape.kinds.iter().map(others).collect();
    assert_eq!(
        found,
        [
            (574_713, 14, 14, 11),
            (91_954, 14, 14, 10),
            (333_333, 14, 13, 9)
        ]
    );
    for name in ["statements", "rows read", "rows returned", "rows deleted"] {
        let deviation = figure(&twin, name).2.unwrap();
        assert!(deviation.abs() < 0.01, "{name}: {deviation}");
    }
}

/// A load that only reads, one of which nine tenths read, one that commits by itself, and one that changes many rows at
/// once.
#[test]
fn means_are_those_of_the_profile() {
    let of = |statements: f64, read: f64, [inserted, updated, deleted]: [f64; 3]| {
        [
            (load_row::TRANSACTIONS, 1000.0),
            (load_row::STATEMENTS, statements * 1000.0),
            (load_row::ROWS_READ, read * 1000.0),
            (load_row::ROWS_INSERTED, inserted * 1000.0),
            (load_row::ROWS_UPDATED, updated * 1000.0),
            (load_row::ROWS_DELETED, deleted * 1000.0),
        ]
    };
    for (load, statements) in [
        (of(16.0, 410.0, [0.0; 3]), 16.0),
        (of(1.0, 1.0, [0.0; 3]), 1.0),
        (of(1.0, 0.7, [0.1, 0.5, 0.1]), 1.0),
        (of(1.0, 2.4, [0.5, 2.0, 0.4]), 1.0),
        (of(1.6, 1.3, [0.1, 0.3, 0.0]), 1.6),
        (of(2.2, 0.0, [0.0; 3]), 2.2),
        (of(5.0, 500.0, [3.0, 400.0, 0.5]), 5.0),
        (of(120.0, 70.3, [0.7, 0.2, 30.5]), 120.0),
    ] {
        let twin = twin(&observed(&load, None));
        let (_, means, _) = figure(&twin, "statements");
        let off = (means.unwrap() / statements - 1.0).abs();
        // If a kind of change is rare, its statement is one of few.
        assert!(off < 0.25, "{load:?}: {means:?} {:#?}", twin.shape);
        for name in ["rows read", "rows inserted", "rows updated", "rows deleted"] {
            let deviation = figure(&twin, name).2.unwrap();
            assert!(
                deviation.abs() < 0.01,
                "{load:?}, {name}: {deviation} {:#?}",
                twin.shape
            );
        }
        check_plan(&twin);
    }
}

/// Nine of ten transactions are selects that commit by themselves; the tenth is one of pgbench.
#[test]
fn golden_changes_are_grouped_if_that_is_known() {
    let load = [
        (load_row::TRANSACTIONS, 1000.0),
        (load_row::WRITING, 100.0),
        (load_row::STATEMENTS, 1_600.0),
        (load_row::ROWS_READ, 1_300.0),
        (load_row::ROWS_INSERTED, 100.0),
        (load_row::ROWS_UPDATED, 300.0),
        (load_row::ROWS_DELETED, 0.0),
    ];
    let twin = twin(&observed(&load, None));
    let found = |(weight, k): &(u64, Kind)| {
        let statements = [k.updates, k.inserts, k.others, k.reads];
        (*weight, k.is_wrapped(), statements)
    };
    let found: Vec<_> = twin.shape.kinds.iter().map(found).collect();
    let expected = [
        (100_000, true, [3, 1, 1, 1]),
        (900_000, false, [0, 0, 1, 1]),
    ];
    assert_eq!((found.as_slice(), twin.shape.rows.read), (&expected[..], 1));
}

#[test]
fn what_commits_by_itself_is_a_profile_of_statements() {
    let load = [
        (load_row::TRANSACTIONS, 0.0),
        (load_row::STATEMENTS, 5_000.0),
        (load_row::ROWS_READ, 10_000.0),
        (load_row::ROWS_INSERTED, 2_500.0),
        (load_row::ROWS_UPDATED, 0.0),
        (load_row::ROWS_DELETED, 0.0),
    ];
    let twin = twin(&observed(&load, None));
    assert_eq!(twin.profile.unit, Unit::Statement);
    assert_eq!(figure(&twin, "statements per second").0, Some(500.0));
    assert_eq!(
        figure(&twin, "statements"),
        (Some(1.0), Some(1.0), Some(0.0))
    );
    assert!(twin.shape.kinds.iter().all(|(_, kind)| !kind.is_wrapped()));
}

/// Without rights, extensions and counts, the plan has the least that fits, and names the unknowns.
#[test]
fn unknowns_are_reported_and_not_guessed() {
    let mut point = observed(&[(load_row::TRANSACTIONS, 1000.0)], None);
    point.figures.active_sessions_mean = None;
    point.figures.active_sessions_max = None;
    point.observed.retain(|table| table.about == About::Load);
    let mut unseen = Observed::new(
        About::Unseen,
        "rights",
        &[("not seen", ""), ("what shows it", "")],
    );
    unseen
        .rows
        .push(vec!["sessions".into(), "GRANT pg_monitor TO me".into()]);
    point.observed.push(unseen);
    let twin = twin(&point);
    assert_eq!((twin.jobs(), twin.think_ms()), (1, None));
    for figure in twin
        .fit()
        .0
        .iter()
        .filter(|f| f.name != "transactions per second")
    {
        assert_eq!(
            (figure.observed, figure.deviation_pct()),
            (None, None),
            "{figure:?}"
        );
    }
    let found = twin.fit_lines().join("\n");
    assert!(
        found.contains("sessions: GRANT pg_monitor TO me"),
        "{found}"
    );
    check_plan(&twin);
}

#[test]
fn nothing_at_work_is_no_load() {
    let fails = |point: &Point| Twin::of_point("m", "e".into(), point, FOOTPRINT).unwrap_err();
    let idle = [(load_row::TRANSACTIONS, 0.0), (load_row::STATEMENTS, 0.0)];
    assert_eq!(fails(&observed(&idle, None)), TwinError::NothingAtWork);
    assert_eq!(fails(&observed(&[], None)), TwinError::NothingAtWork);
    let mut point = pgbench();
    point.observed.clear();
    assert_eq!(fails(&point), TwinError::NothingCounted);
}

/// The logged size of a page is unknown, so a log of little else says nothing.
#[test]
fn a_log_of_whole_pages_says_nothing_about_its_records() {
    let mut point = pgbench();
    let load = point.observed.iter_mut().find(|t| t.about == About::Load);
    for row in &mut load.unwrap().rows {
        if row[0] == load_row::PAGE_IMAGES.into() {
            row[1] = 60.0.into();
        }
    }
    assert_eq!(figure(&twin(&point), "log").0, None);
}

/// A plan is limited in its rows, and the fit says so.
#[test]
fn a_large_working_set_is_limited() {
    let mut point = pgbench();
    let tables = point.observed.iter_mut().find(|t| t.about == About::Tables);
    tables.unwrap().rows.push(vec!["c".into(), 2e6.into()]);
    let (_, _, deviation) = figure(&twin(&point), "working set");
    assert!(deviation.unwrap() < -99.0);
}

/// Any number of sessions that divides the stock deletes its own inserts.
#[test]
fn what_goes_is_what_the_same_session_inserted() {
    for jobs in [1, 7, 11, 64, 999] {
        let extent = super::sql::Extent {
            jobs,
            transactions: 0.0,
        };
        let kind = Kind {
            inserts: 1,
            deletes: 1,
            ..Kind::default()
        };
        assert_eq!(extent.stock(&(1, kind), 1) % u64::from(jobs), 0);
    }
}

#[test]
fn the_plan_is_read_again_and_keeps_its_script_in_the_archive() {
    let twin = twin(&pgbench());
    let text = twin.plan();
    assert!(text.starts_with(super::FIRST_LINE), "{text}");
    let read = check_plan(&twin);
    assert_eq!(lab::plan::degrees_on(&read.step[0].jobs, 1), [4]);
    let again = Plan::parse(&scripts(), &read.to_toml(), &[]);
    assert_eq!(again.unwrap(), read);
    let step = read.step[0].to_toml();
    assert!(step.contains("[script.setup]"), "{step}");
}

fn scripts() -> Registry {
    let tests = ComponentTests::new(Library::embedded().unwrap());
    Registry::new(vec![Box::new(tests)])
}

/// Reads the plan like a run, with its script.
fn check_plan(twin: &Twin) -> Plan {
    let text = twin.plan();
    let mut read =
        Plan::parse(&scripts(), &text, &[]).unwrap_or_else(|error| panic!("{error}: {text}"));
    let script = read.step[0].script.as_ref().unwrap().place();
    let script = Script::parse(&script, std::path::Path::new(".")).unwrap();
    assert_eq!(script.transactions.len(), twin.shape.kinds.len());
    scripts().prepare(&mut read).unwrap();
    read
}
