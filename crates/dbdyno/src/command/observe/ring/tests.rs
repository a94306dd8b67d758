//! Turns in virtual time: the clock, the turns and what they do are the test's.

use std::cell::{Cell, RefCell};

use super::*;

/// 2026-11-23T08:00:00Z, a Monday.
const MONDAY_S: u64 = 1_795_420_800;
const HOUR_S: u64 = 3600;
const DAY_S: u64 = 24 * HOUR_S;

/// What becomes of a turn.
#[derive(Clone, Copy)]
enum Turn {
    /// It takes so many seconds.
    Takes(u64),
    /// The server is away.
    Away,
}

struct World {
    /// Wall clock, in milliseconds from the epoch.
    now_ms: Cell<u64>,
    /// How long it goes on, whatever the wall clock shows.
    left_ms: Cell<u64>,
    /// The wall clock is set by so many seconds when so much is left.
    set: Cell<Option<(u64, i64)>>,
    turns: RefCell<Vec<Turn>>,
    runs: RefCell<Vec<Kept>>,
    next_id: Cell<i64>,
    said: RefCell<Vec<String>>,
    times: Times,
}

fn ring(every_s: u64, length_s: u64, keep_s: Option<u64>) -> Ring {
    Ring {
        times: Times {
            name: "db1".into(),
            every_s,
        },
        length_s,
        keep_s,
    }
}

impl World {
    /// From this moment on, for so long; the first turns are these, and all others take 600 s.
    fn of(ring: &Ring, begin_s: u64, lasting_s: u64, turns: &[Turn]) -> Self {
        Self {
            now_ms: Cell::new(begin_s * 1000),
            left_ms: Cell::new(lasting_s * 1000),
            set: Cell::default(),
            turns: RefCell::new(turns.iter().rev().copied().collect()),
            runs: RefCell::default(),
            next_id: Cell::new(1),
            said: RefCell::default(),
            times: ring.times.clone(),
        }
    }

    fn passes(&self, ms: u64) -> bool {
        self.now_ms.set(self.now_ms.get() + ms);
        self.left_ms.set(self.left_ms.get().saturating_sub(ms));
        if let Some((left_s, by_s)) = self.set.get()
            && self.left_ms.get() <= left_s * 1000
        {
            self.set.set(None);
            let now_ms = self.now_ms.get() as i64 + by_s * 1000;
            self.now_ms.set(now_ms as u64);
        }
        self.left_ms.get() > 0
    }

    fn enter(&self, label: &str) {
        let id = self.next_id.replace(self.next_id.get() + 1);
        self.runs.borrow_mut().push(Kept {
            id,
            label: label.to_owned(),
            begin_s: self.times.begin_of(label).unwrap(),
        });
    }

    fn labels(&self) -> Vec<String> {
        let runs = self.runs.borrow();
        runs.iter().map(|run| run.label.clone()).collect()
    }
}

impl Turns for World {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.now_ms.get())
    }

    fn sleep(&self, time: Duration) -> bool {
        self.passes((time.as_millis() as u64).max(1))
    }

    fn is_taken(&self, label: &str) -> Result<bool> {
        Ok(self.runs.borrow().iter().any(|run| run.label == label))
    }

    fn observe(&mut self, label: &str) -> Result<bool> {
        let turn = self.turns.borrow_mut().pop().unwrap_or(Turn::Takes(600));
        match turn {
            Turn::Takes(seconds) => {
                self.passes(seconds * 1000);
                self.enter(label);
                Ok(true)
            }
            Turn::Away => {
                self.say("away");
                Ok(false)
            }
        }
    }

    fn kept(&self) -> Result<Vec<Kept>> {
        Ok(self.runs.borrow().clone())
    }

    fn remove(&mut self, run: &Kept) -> Result<()> {
        self.runs.borrow_mut().retain(|other| other != run);
        Ok(())
    }

    fn tidy(&mut self) -> Result<()> {
        Ok(())
    }

    fn say(&self, sentence: &str) {
        self.said.borrow_mut().push(sentence.to_owned());
    }
}

fn turned(ring: &Ring, mut world: World) -> World {
    assert_eq!(ring.turn(&mut world).unwrap(), Status::Interrupted);
    world
}

fn at(times: &[&str]) -> Vec<String> {
    times.iter().map(|time| format!("db1-{time}Z")).collect()
}

#[test]
fn golden_turns_are_called_after_the_interval_that_they_are_in() {
    let ring = ring(HOUR_S, 600, None);
    // From twenty past eight on.
    let world = turned(&ring, World::of(&ring, MONDAY_S + 1200, 3 * HOUR_S, &[]));
    let expected = [
        "2026-11-23T0800",
        "2026-11-23T0900",
        "2026-11-23T1000",
        "2026-11-23T1100",
    ];
    assert_eq!(world.labels(), at(&expected));
    for (label, begin_s) in [
        ("db1-2026-11-23T0800Z", Some(MONDAY_S)),
        ("db1-2026-11-23T080001Z", Some(MONDAY_S + 1)),
        ("db1-2026-11-23T0800Z-2", Some(MONDAY_S)),
        ("db1-2026-11-23T0800Z-before", None),
        ("db1-2026-11-23T0800Z-", None),
        ("db12-2026-11-23T0800Z", None),
        ("db1-2026-11-23T9900Z", None),
        ("db1-monday", None),
    ] {
        assert_eq!(ring.times.begin_of(label), begin_s, "{label}");
    }
    let seconds = Times {
        every_s: 5,
        ..ring.times
    };
    assert_eq!(seconds.label(MONDAY_S + 5), "db1-2026-11-23T080005Z");
}

#[test]
fn a_turn_that_no_longer_fits_waits_for_the_next_interval() {
    let ring = ring(HOUR_S, 600, None);
    let world = turned(&ring, World::of(&ring, MONDAY_S + 3100, HOUR_S, &[]));
    assert_eq!(world.labels(), at(&["2026-11-23T0900"]));
}

#[test]
fn a_turn_that_was_measured_before_a_kill_is_not_measured_again() {
    let ring = ring(HOUR_S, 600, None);
    let world = World::of(&ring, MONDAY_S + 1200, HOUR_S, &[]);
    world.enter("db1-2026-11-23T0800Z");
    let world = turned(&ring, world);
    assert_eq!(world.labels(), at(&["2026-11-23T0800", "2026-11-23T0900"]));
}

#[test]
fn the_ring_goes_on_after_a_turn_without_a_server() {
    let ring = ring(HOUR_S, 600, None);
    let turns = [Turn::Takes(600), Turn::Away, Turn::Takes(600)];
    let world = turned(&ring, World::of(&ring, MONDAY_S, 2 * HOUR_S + 900, &turns));
    assert_eq!(world.labels(), at(&["2026-11-23T0800", "2026-11-23T1000"]));
    assert_eq!(*world.said.borrow(), ["away"]);
}

#[test]
fn a_turn_that_takes_longer_than_an_interval_leaves_others_out_and_says_so() {
    let ring = ring(HOUR_S, 600, None);
    // Until 10:55, when no other one fits before 11:00; then until 12:05, which does.
    let turns = [Turn::Takes(2 * HOUR_S + 3300), Turn::Takes(HOUR_S + 300)];
    let lasting_s = 5 * HOUR_S + 900;
    let world = turned(&ring, World::of(&ring, MONDAY_S, lasting_s, &turns));
    assert_eq!(
        world.labels(),
        at(&[
            "2026-11-23T0800",
            "2026-11-23T1100",
            "2026-11-23T1200",
            "2026-11-23T1300"
        ])
    );
    let said = world.said.borrow();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("2 turns from db1-2026-11-23T0900Z to db1-2026-11-23T1000Z"),
        "{said:?}"
    );
}

#[test]
fn a_clock_that_is_set_neither_stops_the_ring_nor_takes_a_name_twice() {
    let ring = ring(HOUR_S, 600, Some(30 * DAY_S));
    // An hour and a half back at 10:30, when the turn of ten has been measured.
    let world = World::of(&ring, MONDAY_S, 4 * HOUR_S, &[]);
    world.set.set(Some((HOUR_S + 1800, -5400)));
    let world = turned(&ring, world);
    let expected = [
        "2026-11-23T0800",
        "2026-11-23T0900",
        "2026-11-23T1000",
        "2026-11-23T0900",
        "2026-11-23T1000",
    ];
    let mut expected = at(&expected);
    expected[3].push_str("-2");
    expected[4].push_str("-2");
    assert_eq!(world.labels(), expected);
    assert!(world.said.borrow()[0].contains("set back"));

    // Ten years forward: nothing is removed but by turns that take its place.
    let world = World::of(&ring, MONDAY_S, 4 * HOUR_S, &[]);
    world.set.set(Some((HOUR_S + 1800, 3650 * DAY_S as i64)));
    let world = turned(&ring, world);
    assert_eq!(world.labels().len(), 5);
}

#[test]
fn golden_runs_older_than_they_are_kept_are_removed_and_the_archive_does_not_grow() {
    let ring = ring(HOUR_S, 600, Some(DAY_S));
    let world = turned(&ring, World::of(&ring, MONDAY_S, 10 * DAY_S, &[]));
    let labels = world.labels();
    assert_eq!(labels.len(), 24);
    assert_eq!(labels[0], "db1-2026-12-02T0800Z");
    // Nothing is removed where nothing is said.
    let endless = super::tests::ring(HOUR_S, 600, None);
    let world = turned(&endless, World::of(&endless, MONDAY_S, 10 * DAY_S, &[]));
    assert_eq!(world.labels().len(), 240);
    // From the second week on, each is set beside the one of the same time a week before.
    let said = world.said.borrow();
    assert_eq!(said.len(), 72);
    assert!(
        said[0].contains("dbdyno compare db1-2026-11-23T0800Z db1-2026-11-30T0800Z"),
        "{said:?}"
    );
}

#[test]
fn what_contradicts_itself_is_refused() {
    for (ring, sentence) in [
        (ring(0, 1, None), "--every must be a second"),
        (ring(600, 600, None), "--for must be shorter than --every"),
        (ring(600, 60, Some(300)), "--keep must be as long"),
    ] {
        let error = ring.check().unwrap_err().to_string();
        assert!(error.contains(sentence), "{error}");
    }
    let unusable = Ring {
        times: Times {
            name: "x".repeat(90),
            every_s: 600,
        },
        ..ring(600, 60, None)
    };
    assert!(unusable.check().is_err(), "its runs could not be called so");
    assert!(ring(600, 60, Some(600)).check().is_ok());
}
