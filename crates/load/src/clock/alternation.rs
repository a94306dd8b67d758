//! Two drives that take turns on one machine: the time of one stands still while that of the other passes.
//!
//! From the moment when both have reached their common start, real time is cut into slices of equal length. Two
//! consecutive slices are a pair, in which each side has one; the order in each pair is drawn by lot. A side measures
//! in its own time, which passes only in its slices: a window of ten seconds lasts twenty. An operation that is under
//! way when a slice ends continues in the other's slice, and its client is busy for as long in the side's next one,
//! so that in own time operations follow each other as if there was no other side. Operations that begin in the first
//! part of a slice do not count, until caches and processors belong to the side again.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stats::random::mix;

use super::duration::{SLEEP_SLICE, ns};
use super::virtual_time::Hold;

const UNKNOWN: u64 = u64::MAX;
/// Time between the readiness of both sides and the first slice: longer than a waiting thread sleeps.
const LEAD: Duration = Duration::from_millis(2 * SLEEP_SLICE.as_millis() as u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slices {
    pub slice: Duration,
    /// First part of a slice, in which nothing counts; shorter than the slice.
    pub settle: Duration,
    pub seed: u64,
}

impl Slices {
    pub fn counted(&self) -> Duration {
        self.slice - self.settle
    }

    /// End of a side's slice with this number, from 0, since the first slice of all began.
    pub fn end_of(&self, side: usize, number: u64) -> Duration {
        let others = u64::from(first_of(self.seed, number) != side as u64);
        Duration::from_nanos(ns(self.slice) * (2 * number + 1 + others))
    }
}

fn first_of(seed: u64, pair: u64) -> u64 {
    mix(seed ^ mix(pair)) & 1
}

#[derive(Debug)]
pub(super) struct Alternation {
    slice_ns: u64,
    settle_ns: u64,
    seed: u64,
    arrived: AtomicU8,
    start_ns: AtomicU64,
    abandoned: AtomicBool,
}

#[derive(Debug)]
pub struct SideClock {
    alternation: Arc<Alternation>,
    side: u64,
    /// The common start of its clients, in real time and in its own; until then both are the same.
    arrived_ns: AtomicU64,
    /// Keeps virtual time from passing until the side has come.
    hold: Mutex<Option<Hold>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub own_ns: u64,
    /// True if it is the other's turn, or the other has not come yet.
    pub waits: bool,
    over_ns: u64,
}

impl Alternation {
    /// The clocks of both sides; in virtual time `hold` keeps time from passing until a side has come.
    /// # Panics
    /// If nothing of a slice would count.
    pub(super) fn of(slices: Slices, hold: impl Fn() -> Option<Hold>) -> [Arc<SideClock>; 2] {
        assert!(slices.settle < slices.slice, "nothing of a slice counts");
        let alternation = Arc::new(Self {
            slice_ns: ns(slices.slice),
            settle_ns: ns(slices.settle),
            seed: slices.seed,
            arrived: AtomicU8::new(0),
            start_ns: AtomicU64::new(UNKNOWN),
            abandoned: AtomicBool::new(false),
        });
        [0, 1].map(|side| {
            Arc::new(SideClock {
                alternation: Arc::clone(&alternation),
                side,
                arrived_ns: AtomicU64::new(UNKNOWN),
                hold: Mutex::new(hold()),
            })
        })
    }

    fn first_of(&self, pair: u64) -> u64 {
        first_of(self.seed, pair)
    }

    /// Beginning of the side's slice of a pair, since the beginning of the pair.
    fn begins_ns(&self, side: u64, pair: u64) -> u64 {
        if self.first_of(pair) == side {
            0
        } else {
            self.slice_ns
        }
    }

    /// Own time of a side, this long after the first slice began; whether it waits; and until when. While it waits,
    /// its time stands at the last moment of its slice, which also exists in real time.
    fn side_at(&self, side: u64, passed_ns: u64) -> (u64, bool, u64) {
        let (pair, in_pair_ns) = (
            passed_ns / (2 * self.slice_ns),
            passed_ns % (2 * self.slice_ns),
        );
        let (pair_ns, own_ns) = (passed_ns - in_pair_ns, pair * self.slice_ns);
        let begins_ns = self.begins_ns(side, pair);
        let ends_ns = begins_ns + self.slice_ns;
        if in_pair_ns < begins_ns {
            (own_ns.saturating_sub(1), true, pair_ns + begins_ns)
        } else if in_pair_ns < ends_ns {
            (own_ns + in_pair_ns - begins_ns, false, pair_ns + ends_ns)
        } else {
            let next_ns = 2 * self.slice_ns + self.begins_ns(side, pair + 1);
            (own_ns + self.slice_ns - 1, true, pair_ns + next_ns)
        }
    }
}

impl SideClock {
    /// The side takes part, so that it no longer keeps time from passing.
    pub(super) fn come(&self) {
        let held = self
            .hold
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(held);
    }

    /// The side does not come, or has gone: nobody waits for it any longer.
    pub(super) fn abandon(&self) {
        self.alternation.abandoned.store(true, Ordering::Release);
        self.come();
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.alternation.abandoned.load(Ordering::Acquire)
    }

    /// All clients of the side are ready for the common start, which is slightly in the future.
    pub(super) fn arrive(&self, at_ns: u64, real_ns: u64) {
        let alternation = &self.alternation;
        self.arrived_ns.store(at_ns, Ordering::Release);
        if alternation.arrived.fetch_add(1, Ordering::AcqRel) == 1 {
            let start_ns = real_ns + ns(LEAD);
            alternation.start_ns.store(start_ns, Ordering::Release);
        }
    }

    pub(super) fn moment(&self, real_ns: u64) -> Moment {
        let arrived_ns = self.arrived_ns.load(Ordering::Acquire);
        if arrived_ns == UNKNOWN {
            return Moment {
                own_ns: real_ns,
                waits: false,
                over_ns: UNKNOWN,
            };
        }
        let start_ns = self.alternation.start_ns.load(Ordering::Acquire);
        if real_ns < start_ns {
            return Moment {
                own_ns: real_ns.min(arrived_ns),
                waits: true,
                over_ns: start_ns.min(real_ns + ns(SLEEP_SLICE)),
            };
        }
        let (passed_ns, waits, over_ns) = (self.alternation).side_at(self.side, real_ns - start_ns);
        Moment {
            own_ns: arrived_ns + passed_ns,
            waits,
            over_ns: start_ns + over_ns,
        }
    }

    pub(super) fn real_ns(&self, own_ns: u64) -> u64 {
        let arrived_ns = self.arrived_ns.load(Ordering::Acquire);
        let start_ns = self.alternation.start_ns.load(Ordering::Acquire);
        if own_ns < arrived_ns || start_ns == UNKNOWN {
            return own_ns;
        }
        let (alternation, passed_ns) = (&self.alternation, own_ns - arrived_ns);
        let pair = passed_ns / alternation.slice_ns;
        let pair_ns = 2 * alternation.slice_ns * pair + alternation.begins_ns(self.side, pair);
        start_ns + pair_ns + passed_ns % alternation.slice_ns
    }

    /// Own time at which an operation ends that began at a moment of own time and ends now: it takes as long in both.
    pub(super) fn ended_ns(&self, began_ns: u64, real_ns: u64) -> u64 {
        began_ns + real_ns.saturating_sub(self.real_ns(began_ns))
    }

    /// True if an operation that begins at this moment of own time counts.
    pub(super) fn counts(&self, own_ns: u64) -> bool {
        let passed_ns = own_ns.saturating_sub(self.arrived_ns.load(Ordering::Acquire));
        passed_ns % self.alternation.slice_ns >= self.alternation.settle_ns
    }
}

impl Moment {
    /// The real time at which to check again for an own time; now, if it has come and it is the side's turn.
    pub(super) fn wake_ns(&self, real_ns: u64, own_ns: u64) -> u64 {
        if self.waits {
            self.over_ns
        } else if own_ns <= self.own_ns {
            real_ns
        } else {
            real_ns
                .saturating_add(own_ns - self.own_ns)
                .min(self.over_ns)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    const SLICES: Slices = Slices {
        slice: Duration::from_millis(50),
        settle: Duration::from_millis(5),
        seed: 7,
    };

    fn sides() -> [Arc<SideClock>; 2] {
        Alternation::of(SLICES, || None)
    }

    /// A slice ends at the time of the clock, and its first tenth does not count.
    #[test]
    fn a_slice_ends_where_it_is_said_to() {
        assert_eq!(SLICES.counted(), Duration::from_millis(45));
        for (number, side) in sides().iter().enumerate() {
            side.arrive(0, 0);
            for slice in 0..50 {
                let end_ns = ns(SLICES.end_of(number, slice));
                let last_ns = (slice + 1) * 50 * MS - 1;
                let moments =
                    [end_ns - 1, end_ns].map(|at| side.alternation.side_at(side.side, at));
                assert_eq!(moments[0], (last_ns, false, end_ns));
                // Except when the next one follows at once.
                assert!(moments[1].0 == last_ns + u64::from(!moments[1].1));
                let counts = [4, 5, 49].map(|ms| side.counts((slice * 50 + ms) * MS));
                assert_eq!(counts, [false, true, true]);
            }
        }
    }

    /// An operation that is under way at the end of a slice takes as long in own time as in real time.
    #[test]
    fn an_operation_takes_its_time_whoever_has_the_turn() {
        let [a, b] = sides();
        a.arrive(0, 0);
        b.arrive(0, 0);
        for took_ms in [3, 20, 70, 400] {
            let began_ns = 3 * 50 * MS + 40 * MS;
            let ended_ns = a.real_ns(began_ns) + took_ms * MS;
            assert_eq!(a.ended_ns(began_ns, ended_ns), began_ns + took_ms * MS);
        }
    }

    /// At every moment one side has its turn, and in every pair the time of each passes by 50 ms.
    #[test]
    fn one_side_has_its_turn_and_both_have_the_same_time() {
        let [a, b] = sides();
        let mut firsts = 0;
        for ms in 0..20_000 {
            let of = |side: &SideClock| side.alternation.side_at(side.side, ms * MS);
            let (own_a, waits_a, over_a) = of(&a);
            let (own_b, waits_b, _) = of(&b);
            assert!(waits_a != waits_b);
            assert!(over_a > ms * MS && over_a <= (ms + 150) * MS);
            if ms % 100 == 0 {
                let own_ns = ms / 100 * 50 * MS;
                assert!([own_a, own_b].iter().all(|own| own.abs_diff(own_ns) <= 1));
                firsts += u32::from(!waits_a);
            }
        }
        assert!((70..=130).contains(&firsts), "{firsts} of 200");
    }

    /// Before a side arrives its time is the real one; then it stands still until both are there, and each moment of
    /// its own time has one of real time.
    #[test]
    fn time_stands_still_until_both_are_there() {
        let [a, b] = sides();
        let begun_ns = 1_000 * MS;
        let before = a.moment(begun_ns);
        assert_eq!((before.own_ns, before.waits), (begun_ns, false));
        a.arrive(begun_ns, begun_ns);
        let alone = a.moment(begun_ns + 70 * MS);
        assert_eq!((alone.own_ns, alone.waits), (begun_ns, true));
        b.arrive(begun_ns + 71 * MS, begun_ns + 70 * MS);
        let start_ns = begun_ns + 70 * MS + ns(LEAD);
        assert_eq!(b.moment(begun_ns + 70 * MS).own_ns, begun_ns + 70 * MS);
        for (side, arrived_ns) in [(&a, begun_ns), (&b, begun_ns + 71 * MS)] {
            for own_ms in [0, 1, 49, 50, 51, 400] {
                let own_ns = arrived_ns + own_ms * MS;
                let real_ns = side.real_ns(own_ns);
                assert!(real_ns >= start_ns);
                let moment = side.moment(real_ns);
                assert_eq!((moment.own_ns, moment.waits), (own_ns, false));
            }
        }
    }
}
