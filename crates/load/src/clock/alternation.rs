//! Two drives that take turns on one machine: the time of one stands still while that of the other passes.
//!
//! From the moment when both have come to their common start, real time is cut into slices of equal length. Two
//! slices that follow each other are a pair, in which each side has one; the lot decides in every pair who is first.
//! A slice begins with a part in which the side already works and nothing counts, until caches and processors are
//! the side's own again. What a side measures is in its own time, which passes in the rest of its slices alone: a
//! window of ten seconds lasts a little more than twenty.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stats::random::mix;

use super::duration::{SLEEP_SLICE, ns};
use super::virtual_time::Hold;

/// Stands for a time that is not known yet.
const UNKNOWN: u64 = u64::MAX;
/// Between the moment when both sides are ready and the first slice: longer than those who wait look away.
const LEAD: Duration = Duration::from_millis(2 * SLEEP_SLICE.as_millis() as u64);

/// How two sides take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slices {
    /// Length of a slice.
    pub slice: Duration,
    /// Its first part, in which nothing counts; shorter than the slice.
    pub settle: Duration,
    /// From which the lots are drawn.
    pub seed: u64,
}

impl Slices {
    /// What counts of a slice: so much passes of a side's own time in it.
    pub fn counted(&self) -> Duration {
        self.slice - self.settle
    }

    /// When a side's slice of this number, from 0, is over, since the first slice of all began.
    pub fn end_of(&self, side: usize, number: u64) -> Duration {
        let others = u64::from(first_of(self.seed, number) != side as u64);
        Duration::from_nanos(ns(self.slice) * (2 * number + 1 + others))
    }
}

/// Who has the first slice of a pair.
fn first_of(seed: u64, pair: u64) -> u64 {
    mix(seed ^ mix(pair)) & 1
}

/// The drives of two sides, one of each.
#[derive(Debug)]
pub(super) struct Alternation {
    slice_ns: u64,
    settle_ns: u64,
    seed: u64,
    /// Sides that have come to their common start.
    arrived: AtomicU8,
    /// When the first slice begins.
    start_ns: AtomicU64,
    /// Whether a side will never come.
    abandoned: AtomicBool,
}

/// The clock of one side.
#[derive(Debug)]
pub struct SideClock {
    alternation: Arc<Alternation>,
    /// 0 or 1.
    side: u64,
    /// The common start of its clients, in real time and its own; until then both are the same.
    arrived_ns: AtomicU64,
    /// Keeps virtual time from passing until the side has come.
    hold: Mutex<Option<Hold>>,
}

/// What a side may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Time passes.
    Running,
    /// It works, and nothing counts.
    Settling,
    /// It is the other's turn, or the other has not come yet.
    Waiting,
}

/// A side at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// Its own time.
    pub own_ns: u64,
    pub phase: Phase,
    /// When the phase is over, in real time.
    over_ns: u64,
}

impl Alternation {
    /// The clocks of both sides of one drive each; in virtual time `hold` keeps it from passing until a side has come.
    ///
    /// # Panics
    /// When nothing of a slice would count.
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

    fn counted_ns(&self) -> u64 {
        self.slice_ns - self.settle_ns
    }

    fn first_of(&self, pair: u64) -> u64 {
        first_of(self.seed, pair)
    }

    /// Time of a side that has passed in slices, so long after the first one began.
    fn side_at(&self, side: u64, passed_ns: u64) -> (u64, Phase, u64) {
        let pair = passed_ns / (2 * self.slice_ns);
        let in_pair_ns = passed_ns % (2 * self.slice_ns);
        let begins_ns = match self.first_of(pair) == side {
            true => 0,
            false => self.slice_ns,
        };
        let before_ns = pair * self.counted_ns();
        let counts_ns = begins_ns + self.settle_ns;
        let ends_ns = begins_ns + self.slice_ns;
        let pair_ns = passed_ns - in_pair_ns;
        if in_pair_ns < begins_ns {
            (before_ns, Phase::Waiting, pair_ns + begins_ns)
        } else if in_pair_ns < counts_ns {
            (before_ns, Phase::Settling, pair_ns + counts_ns)
        } else if in_pair_ns < ends_ns {
            let own_ns = before_ns + in_pair_ns - counts_ns;
            (own_ns, Phase::Running, pair_ns + ends_ns)
        } else {
            let next_ns = match self.first_of(pair + 1) == side {
                true => 2 * self.slice_ns,
                false => 3 * self.slice_ns,
            };
            let own_ns = before_ns + self.counted_ns();
            (own_ns, Phase::Waiting, pair_ns + next_ns)
        }
    }
}

impl SideClock {
    /// The side takes part: time may pass as far as it is concerned.
    pub(super) fn come(&self) {
        let held = self
            .hold
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(held);
    }

    /// The side does not come, or has gone: who waits for it goes on no longer.
    pub(super) fn abandon(&self) {
        self.alternation.abandoned.store(true, Ordering::Release);
        self.come();
    }

    /// Whether a side has done so.
    pub(super) fn is_abandoned(&self) -> bool {
        self.alternation.abandoned.load(Ordering::Acquire)
    }

    /// All clients of the side are ready for the common start, which lies a little ahead of now.
    pub(super) fn arrive(&self, at_ns: u64, real_ns: u64) {
        let alternation = &self.alternation;
        self.arrived_ns.store(at_ns, Ordering::Release);
        if alternation.arrived.fetch_add(1, Ordering::AcqRel) == 1 {
            let start_ns = real_ns + ns(LEAD);
            alternation.start_ns.store(start_ns, Ordering::Release);
        }
    }

    /// The side at a moment of real time.
    pub(super) fn moment(&self, real_ns: u64) -> Moment {
        let arrived_ns = self.arrived_ns.load(Ordering::Acquire);
        if arrived_ns == UNKNOWN {
            return Moment {
                own_ns: real_ns,
                phase: Phase::Running,
                over_ns: UNKNOWN,
            };
        }
        let start_ns = self.alternation.start_ns.load(Ordering::Acquire);
        if real_ns < start_ns {
            return Moment {
                own_ns: real_ns.min(arrived_ns),
                phase: Phase::Waiting,
                over_ns: start_ns.min(real_ns + ns(SLEEP_SLICE)),
            };
        }
        let (passed_ns, phase, over_ns) = (self.alternation).side_at(self.side, real_ns - start_ns);
        Moment {
            own_ns: arrived_ns + passed_ns,
            phase,
            over_ns: start_ns + over_ns,
        }
    }

    /// The real time of a moment of the side's own.
    pub(super) fn real_ns(&self, own_ns: u64) -> u64 {
        let arrived_ns = self.arrived_ns.load(Ordering::Acquire);
        let start_ns = self.alternation.start_ns.load(Ordering::Acquire);
        if own_ns < arrived_ns || start_ns == UNKNOWN {
            return own_ns;
        }
        let alternation = &self.alternation;
        let passed_ns = own_ns - arrived_ns;
        let pair = passed_ns / alternation.counted_ns();
        let begins_ns = match alternation.first_of(pair) == self.side {
            true => 0,
            false => alternation.slice_ns,
        };
        let in_slice_ns = alternation.settle_ns + passed_ns % alternation.counted_ns();
        start_ns + 2 * alternation.slice_ns * pair + begins_ns + in_slice_ns
    }
}

impl Moment {
    /// When the side is to look again whether its own time has come, in real time; now, if it has and it is its turn.
    pub(super) fn wake_ns(&self, real_ns: u64, own_ns: u64) -> u64 {
        match self.phase {
            Phase::Waiting => self.over_ns,
            _ if own_ns <= self.own_ns => real_ns,
            Phase::Settling => self.over_ns,
            Phase::Running => real_ns
                .saturating_add(own_ns - self.own_ns)
                .min(self.over_ns),
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

    /// Where a slice ends is where the clock says that its part that counts is over.
    #[test]
    fn a_slice_ends_where_it_is_said_to() {
        assert_eq!(SLICES.counted(), Duration::from_millis(45));
        for (number, side) in sides().iter().enumerate() {
            for slice in 0..50 {
                let end_ns = ns(SLICES.end_of(number, slice));
                let (own_ns, phase, over_ns) = side.alternation.side_at(side.side, end_ns - 1);
                assert_eq!((phase, over_ns), (Phase::Running, end_ns));
                assert_eq!(own_ns, (slice + 1) * 45 * MS - 1);
            }
        }
    }

    /// Whatever the lots: at every moment one side has its turn, and in every pair the time of each passes by 45 ms.
    #[test]
    fn one_side_has_its_turn_and_both_have_the_same_time() {
        let [a, b] = sides();
        let mut firsts = 0;
        for ms in 0..20_000 {
            let of = |side: &SideClock| side.alternation.side_at(side.side, ms * MS);
            let (own_a, phase_a, over_a) = of(&a);
            let (own_b, phase_b, _) = of(&b);
            assert!((phase_a == Phase::Waiting) != (phase_b == Phase::Waiting));
            assert!(over_a > ms * MS && over_a <= (ms + 150) * MS);
            if ms % 100 == 0 {
                assert_eq!([own_a, own_b], [ms / 100 * 45 * MS; 2]);
                firsts += u32::from(phase_a != Phase::Waiting);
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
        assert_eq!((before.own_ns, before.phase), (begun_ns, Phase::Running));
        a.arrive(begun_ns, begun_ns);
        let alone = a.moment(begun_ns + 70 * MS);
        assert_eq!((alone.own_ns, alone.phase), (begun_ns, Phase::Waiting));
        b.arrive(begun_ns + 71 * MS, begun_ns + 70 * MS);
        let start_ns = begun_ns + 70 * MS + ns(LEAD);
        assert_eq!(b.moment(begun_ns + 70 * MS).own_ns, begun_ns + 70 * MS);
        for (side, arrived_ns) in [(&a, begun_ns), (&b, begun_ns + 71 * MS)] {
            for own_ms in [0, 1, 44, 45, 46, 400] {
                let own_ns = arrived_ns + own_ms * MS;
                let real_ns = side.real_ns(own_ns);
                assert!(real_ns >= start_ns + 5 * MS);
                let moment = side.moment(real_ns);
                assert_eq!((moment.own_ns, moment.phase), (own_ns, Phase::Running));
            }
        }
    }
}
