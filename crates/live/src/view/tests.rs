//! Screens as they are drawn, on terminals of several sizes.

use archive::stream::{DeviceRates, PointHead, PointResult, Snapshot};
use archive::{Component, EventClass, Point, PointKey, Sample};
use ratatui_core::backend::TestBackend;
use ratatui_core::style::Color;
use ratatui_core::terminal::Terminal;

use super::*;

fn key(jobs: u32) -> PointKey {
    PointKey {
        repetition: 1,
        step: 1,
        target: 0,
        test: "T611".into(),
        nodes: 1,
        jobs,
        threads: 1,
    }
}

fn begins(view: &mut View) {
    let run = StreamEvent::RunBegins {
        run: "first light".into(),
        at: "2026-01-31T12:00:00Z".into(),
        planned: 12,
        todo: 12,
    };
    view.take(&run, 0.0);
}

fn point_begins(view: &mut View, jobs: u32) {
    let head = PointHead {
        key: key(jobs),
        title: "Random reads by key".into(),
        target_name: "postgres".into(),
    };
    view.take(&StreamEvent::PointBegins(head), 0.0);
}

fn point_ends(view: &mut View, jobs: u32, at_s: f64, reasons: &[&str]) {
    let mut point = Point::blank(key(jobs), "Random reads by key".into(), Component::Database);
    point.figures.operations_per_s = Some(6_789.0 * f64::from(jobs));
    point.figures.cpu_pct_avg = Some(61.4);
    point.figures.errors = Some(0.0);
    let result = PointResult {
        valid: reasons.is_empty(),
        reasons: reasons.iter().map(ToString::to_string).collect(),
        response_us_p50: Some(118.0),
        response_us_p95: Some(240.0),
        response_us_p99: Some(1_830.0),
        ..PointResult::of(&point)
    };
    view.take(&StreamEvent::PointEnds(Box::new(result)), at_s);
}

/// One interval of a point whose load swells and ebbs.
fn interval(number: u32) -> Snapshot {
    let swell = 1.0 + (f64::from(number) / 6.0).sin();
    let operations = (4000.0 + 3000.0 * swell) as u64;
    let bucket = |us: f64, part: f64| ((us * 1e3) as u64, (operations as f64 * part) as u64);
    let sample = Sample {
        cpu_pct: Some(25.0 + 25.0 * swell),
        cpu_user_pct: Some(15.0 + 15.0 * swell),
        cpu_system_pct: Some(8.0 + 7.0 * swell),
        cpu_iowait_pct: Some(2.0 + 3.0 * swell),
        ..Sample::default()
    };
    let device = |name: &str, reads: f64, writes: f64| DeviceRates {
        name: name.into(),
        read_iops: Some(reads * swell),
        write_iops: Some(writes * swell),
        busy_pct: Some(30.0 * swell),
    };
    Snapshot {
        at_s: f64::from(number),
        length_s: 1.0,
        operations: Some(operations),
        errors: Some(0),
        response_ns: vec![
            bucket(95.0, 0.3),
            bucket(118.0 + 40.0 * swell, 0.6),
            bucket(350.0, 0.08),
            bucket(1500.0 + 500.0 * swell, 0.02),
        ],
        users: 4,
        cores: Some(2),
        host: Some(sample),
        devices: vec![device("vda", 310.0, 40.0), device("vdb", 12.0, 520.0)],
        waits: vec![
            (EventClass::Cpu, 1.0 + 0.4 * swell),
            (EventClass::DataRead, 0.9 * swell),
            (EventClass::LogSync, 0.2),
        ],
        ..Snapshot::default()
    }
}

fn snapshot(view: &mut View, snapshot: Snapshot) {
    view.take(&StreamEvent::Snapshot(Box::new(snapshot)), 0.0);
}

/// In the middle of a run, with what has been said so far.
fn at_work() -> View {
    let mut view = View::default();
    begins(&mut view);
    let text = "dbdyno: warning: postgres: the user may not see the statements of others: \
                grant pg_read_all_stats to have them on the page";
    view.take(&StreamEvent::Remark { text: text.into() }, 0.0);
    for (jobs, reasons) in [(1, &[][..]), (2, &["the count of rows is 99, not 100"])] {
        point_begins(&mut view, jobs);
        point_ends(&mut view, jobs, 65.0 * f64::from(jobs), reasons);
    }
    point_begins(&mut view, 4);
    (0..75).for_each(|number| snapshot(&mut view, interval(number)));
    view
}

fn screen(view: &mut View, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| view.draw(frame.buffer_mut(), 205.0))
        .unwrap();
    terminal.backend().to_string()
}

#[test]
fn a_run_at_work_fits_terminals_of_all_sizes() {
    let mut view = at_work();
    for (width, height) in [(80, 24), (120, 40), (200, 60), (40, 18)] {
        let name = format!("at_work_{width}x{height}");
        insta::assert_snapshot!(name, screen(&mut view, width, height));
    }
    // However small it is, nothing breaks.
    for (width, height) in [(1, 1), (7, 3), (20, 5), (300, 4), (5, 80)] {
        screen(&mut view, width, height);
    }
}

#[test]
fn nothing_is_shown_that_is_not_known() {
    let mut view = View::default();
    insta::assert_snapshot!("before_a_run_80x24", screen(&mut view, 80, 24));
    begins(&mut view);
    point_begins(&mut view, 1);
    // A replay: no distribution and no waits, and of the device nothing.
    for number in 0..20_u32 {
        let sparse = Snapshot {
            at_s: f64::from(number),
            length_s: 1.0,
            operations: (number != 10).then_some(100 + u64::from(number)),
            response_us_p99: (number != 10).then_some(800.0),
            users: 1,
            ..Snapshot::default()
        };
        snapshot(&mut view, sparse);
    }
    insta::assert_snapshot!("replayed_80x24", screen(&mut view, 80, 24));
}

/// A database at work has no jobs of ours, and no response times that anybody here knows.
#[test]
fn an_observation_shows_what_it_counts() {
    let mut view = View::default();
    begins(&mut view);
    let head = PointHead {
        key: PointKey {
            test: PointKey::OBSERVATION.into(),
            ..key(1)
        },
        title: "Database at work, observed without a load".into(),
        target_name: "postgres".into(),
    };
    let key = head.key.clone();
    view.take(&StreamEvent::PointBegins(head), 0.0);
    (0..75).for_each(|number| {
        let of_load = interval(number);
        let observed = Snapshot {
            errors: None,
            response_ns: Vec::new(),
            users: 1,
            ..of_load
        };
        snapshot(&mut view, observed);
    });
    insta::assert_snapshot!("observed_80x24", screen(&mut view, 80, 24));
    insta::assert_snapshot!("observed_160x40", screen(&mut view, 160, 40));
    let mut point = Point::blank(
        key,
        "Database at work, observed without a load".into(),
        Component::Database,
    );
    point.figures.operations_per_s = Some(6_307.0);
    let result = PointResult::of(&point);
    view.take(&StreamEvent::PointEnds(Box::new(result)), 75.0);
    view.press(Key::Next);
    insta::assert_snapshot!("observed_points_80x24", screen(&mut view, 80, 24));
}

#[test]
fn each_section_fills_the_screen_and_is_scrolled() {
    let mut view = at_work();
    view.press(Key::Next);
    insta::assert_snapshot!("points_80x24", screen(&mut view, 80, 24));
    view.press(Key::Next);
    let verdict = (1..=30).map(|n| format!("{n:>2} lines of a verdict, ").repeat(5));
    let text = verdict.collect::<Vec<_>>().join("\n");
    view.take(&StreamEvent::Verdict { text }, 205.0);
    // Beyond the end there is nothing to scroll to.
    (0..9).for_each(|_| view.press(Key::PageDown));
    view.press(Key::Right);
    screen(&mut view, 80, 24);
    view.press(Key::Up);
    insta::assert_snapshot!("verdict_80x24", screen(&mut view, 80, 24));
    view.press(Key::Next);
    let ends = StreamEvent::RunEnds {
        run: Some("first light".into()),
        complete: true,
        problem: None,
    };
    view.take(&ends, 205.0);
    insta::assert_snapshot!("remarks_80x24", screen(&mut view, 80, 24));
    view.press(Key::Next);
    view.press(Key::Previous);
    assert_eq!(view.section, Section::Remarks);
}

#[test]
fn colours_are_there_where_they_are_wanted() {
    let coloured = |has_colour| {
        let mut view = at_work();
        view.colour(has_colour);
        let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
        view.draw(&mut buffer, 205.0);
        buffer.content().iter().any(|cell| cell.fg != Color::Reset)
    };
    assert!(coloured(true) && !coloured(false));
}
