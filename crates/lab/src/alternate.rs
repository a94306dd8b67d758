//! The two sides of a pair, measured in alternating slices. A side prepares its data and verifies its work while the
//! other one waits.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use load::clock::Slices;
use load::{Clients, Clock, Drive, Outcome, RampUp};
use stats::random::mix;

/// Tables that the sides work on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tables {
    Same,
    /// Each side has separate tables in one database.
    Beside,
    /// Each side has a separate database.
    Apart,
}

pub struct Sides {
    slices: Slices,
    first: usize,
    tables: Tables,
    done_for_both: Arc<Mutex<HashSet<String>>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    busy: Option<usize>,
    sides: [SideState; 2],
    /// Clocks of the drives of both sides, by the number of the point.
    clocks: Vec<[Clock; 2]>,
}

#[derive(Default)]
struct SideState {
    begun: usize,
    /// Points whose drive has ended or was skipped.
    driven: usize,
    is_gone: bool,
}

/// A point on the same tables as that of the other side, so that they are created and removed once.
#[derive(Debug, Clone)]
pub struct SharedPoint {
    done: Arc<Mutex<HashSet<String>>>,
    /// Number of the point, from 1, the same on the other side.
    pub number: usize,
}

impl SharedPoint {
    pub fn is_first_to(&self, what: String) -> bool {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.insert(what)
    }
}

/// One side, from its turn to prepare until it is dropped.
pub struct Side<'a> {
    sides: &'a Sides,
    number: usize,
}

impl Sides {
    /// Sides of which number `first` prepares first.
    pub fn new(slices: Slices, first: usize, tables: Tables) -> Self {
        let state = State {
            busy: Some(first),
            ..State::default()
        };
        Self {
            slices,
            first,
            tables,
            done_for_both: Arc::default(),
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Side number 0 or 1, as soon as it may prepare; each is taken once, on a separate thread.
    pub fn side(&self, number: usize) -> Side<'_> {
        let mut state = self.lock();
        if number != self.first {
            state = self.wait_while(state, |state| state.busy.is_some());
            state.busy = Some(number);
        }
        drop(state);
        Side {
            sides: self,
            number,
        }
    }

    /// Every change of the state is one step, so a panic elsewhere leaves it consistent.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while<'g>(
        &self,
        state: MutexGuard<'g, State>,
        is_so: impl Fn(&State) -> bool,
    ) -> MutexGuard<'g, State> {
        let waited = self.changed.wait_while(state, |state| is_so(state));
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn clocks(&mut self, point: usize, slices: Slices) -> &[Clock; 2] {
        while self.clocks.len() <= point {
            let slices = slices_of_point(slices, self.clocks.len());
            (self.clocks).push(Clock::alternating(slices, &Clock::Monotonic));
        }
        &self.clocks[point]
    }
}

/// Random order of the sides' slices in the point of this number.
fn slices_of_point(slices: Slices, point: usize) -> Slices {
    let seed = mix(slices.seed ^ mix(point as u64));
    Slices { seed, ..slices }
}

fn slices_of_ramp_up(ramp_up: RampUp, slice: Duration) -> u32 {
    match ramp_up {
        RampUp::Time(time) => time.as_nanos().div_ceil(slice.as_nanos()) as u32,
        RampUp::None | RampUp::Operations { .. } => 0,
    }
}

/// Moves the intervals, which are consecutive slices, to their real time, and excludes the uncounted part of each.
fn lay_in_real_time(outcome: &mut Outcome, side: usize, slices: Slices, ramp_up: u32) {
    let share = slices.counted().as_secs_f64() / slices.slice.as_secs_f64();
    for interval in &mut outcome.intervals {
        let end = interval.at + interval.length + slices.slice * ramp_up;
        // The window may end within its last slice.
        let last = end.as_nanos().div_ceil(slices.slice.as_nanos()).max(1) as u64 - 1;
        let missing = slices.slice * (last as u32 + 1) - end;
        interval.length = interval.length.mul_f64(share);
        interval.at = (slices.end_of(side, last) - missing).saturating_sub(interval.length);
    }
    for client in &mut outcome.clients {
        client.finish = client.finish.mul_f64(share);
    }
    outcome.elapsed = outcome.elapsed.mul_f64(share);
}

impl Side<'_> {
    pub fn slices(&self) -> Slices {
        self.sides.slices
    }

    pub fn tables(&self) -> Tables {
        self.sides.tables
    }

    /// The current point, if both sides work on the same tables.
    pub fn shared_point(&self) -> Option<SharedPoint> {
        (self.sides.tables == Tables::Same).then(|| SharedPoint {
            done: Arc::clone(&self.sides.done_for_both),
            number: self.sides.lock().sides[self.number].begun,
        })
    }

    /// Begins the next point. If the last one was not driven, the other side stops waiting for it.
    pub fn next_point(&self) {
        let mut state = self.sides.lock();
        self.leave_out(&mut state);
        state.sides[self.number].begun += 1;
    }

    /// Drives the current point in turn with the other side, which drives the same; interrupted if that does not.
    /// Each interval of the series is one slice at its real time since the first slice of the point; a point with
    /// very many slices has several per interval.
    pub fn drive(&self, clients: Clients, how: &Drive) -> Outcome {
        let (me, other) = (self.number, 1 - self.number);
        let mut state = self.sides.lock();
        let point = state.sides[me].begun.saturating_sub(1);
        let clock = state.clocks(point, self.slices())[me].clone();
        let slices = slices_of_point(self.slices(), point);
        let ramp_up = slices_of_ramp_up(how.ramp_up, slices.slice);
        if state.sides[other].is_gone || state.sides[other].driven > point {
            clock.abandon();
        }
        state.busy = None;
        self.sides.changed.notify_all();
        drop(state);
        let mut outcome = load::drive(
            clients,
            &Drive {
                clock,
                ramp_up: match how.ramp_up {
                    RampUp::Time(_) => RampUp::Time(slices.slice * ramp_up),
                    other => other,
                },
                interval: slices.slice,
                ..how.clone()
            },
        );
        lay_in_real_time(&mut outcome, me, slices, ramp_up);
        let mut state = self.sides.lock();
        state.sides[me].driven = point + 1;
        self.sides.changed.notify_all();
        // The next step of this side would disturb the last slices of the other one.
        let mut state = self.sides.wait_while(state, |state| {
            let is_driving = !state.sides[other].is_gone && state.sides[other].driven <= point;
            is_driving || state.busy.is_some()
        });
        state.busy = Some(me);
        outcome
    }

    /// Ends the waiting of the other side for a drive of this side that will not happen.
    fn leave_out(&self, state: &mut State) {
        let begun = state.sides[self.number].begun;
        if state.sides[self.number].driven < begun {
            state.sides[self.number].driven = begun;
            state.clocks(begun - 1, self.slices())[self.number].abandon();
            self.sides.changed.notify_all();
        }
    }
}

impl Drop for Side<'_> {
    fn drop(&mut self) {
        let mut state = self.sides.lock();
        self.leave_out(&mut state);
        state.sides[self.number].is_gone = true;
        for clocks in &state.clocks {
            clocks[self.number].abandon();
        }
        if state.busy == Some(self.number) {
            state.busy = None;
        }
        self.sides.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use load::End;
    use load::mock::Mock;

    use super::*;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    fn sides() -> Sides {
        let slices = Slices {
            slice: Duration::from_millis(20),
            settle: Duration::from_millis(2),
            seed: 1,
        };
        Sides::new(slices, 0, Tables::Same)
    }

    #[test]
    fn what_is_done_for_both_is_done_by_the_first() {
        let sides = sides();
        let first = sides.side(0);
        first.next_point();
        let of_first = first.shared_point().unwrap();
        assert!(of_first.is_first_to("set up".into()));
        drop(first);
        let second = sides.side(1);
        second.next_point();
        let of_second = second.shared_point().unwrap();
        assert_eq!((of_first.number, of_second.number), (1, 1));
        assert!(!of_second.is_first_to("set up".into()));
        assert!(of_second.is_first_to("tear down".into()));
    }

    fn drive(side: &Side<'_>) -> Outcome {
        let mock = Mock::new().latency(Duration::from_micros(200));
        let how = Drive::of_jobs(End::Time(Duration::from_millis(60)), &GO_ON);
        side.drive(Clients::Blocking(mock.sessions(1)), &how)
    }

    /// The sides prepare one after the other, drive together, and finish separately.
    #[test]
    fn sides_prepare_one_after_the_other_and_drive_together() {
        let (sides, log) = (sides(), Mutex::new(Vec::new()));
        let work = |number: usize| {
            let side = sides.side(number);
            let tell = |what: &'static str| log.lock().unwrap().push((number, what));
            for _ in 0..2 {
                side.next_point();
                tell("prepares");
                std::thread::sleep(Duration::from_millis(5));
                tell("is prepared");
                let outcome = drive(&side);
                assert!(outcome.operations() > 0 && !outcome.interrupted);
                tell("proves");
                std::thread::sleep(Duration::from_millis(5));
                tell("has proven");
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| work(1));
            work(0);
        });
        let log = log.into_inner().unwrap();
        assert_eq!(log.len(), 16);
        assert_eq!(log[0], (0, "prepares"));
        for (what, next) in [("prepares", "is prepared"), ("proves", "has proven")] {
            for (at, entry) in log.iter().enumerate().filter(|(_, (_, w))| *w == what) {
                assert_eq!(log[at + 1], (entry.0, next), "{log:?}");
            }
        }
        // Both have prepared before either verifies.
        assert!(
            log[..4]
                .iter()
                .all(|(_, what)| what.ends_with("epares") || what.ends_with("epared"))
        );
    }

    /// The k-th intervals of both sides are the two slices of a pair.
    #[test]
    fn the_series_has_the_work_of_each_slice() {
        let sides = sides();
        let driven = |number: usize| {
            let side = sides.side(number);
            side.next_point();
            let mock = Mock::new().latency(Duration::from_micros(200));
            let ramp_up = RampUp::Time(Duration::from_millis(20));
            let end = End::Time(Duration::from_millis(70));
            let how = Drive {
                ramp_up,
                ..Drive::of_jobs(end, &GO_ON)
            };
            side.drive(Clients::Blocking(mock.sessions(1)), &how)
        };
        let [a, b] = std::thread::scope(|scope| {
            let other = scope.spawn(|| driven(1));
            [driven(0), other.join().unwrap()]
        });
        let ends = |outcome: &Outcome| -> Vec<u128> {
            let ends = outcome.intervals.iter();
            ends.map(|i| (i.at + i.length).as_millis()).collect()
        };
        // A ramp-up of 20 ms is one slice; three and a half follow.
        let (a, b) = (ends(&a), ends(&b));
        assert!(a.len() >= 4 && b.len() >= 4, "{a:?} {b:?}");
        for (pair, (a, b)) in (1..4).zip(a.iter().zip(&b)) {
            let (begun, mut ends) = (40 * pair, [*a, *b]);
            ends.sort_unstable();
            assert_eq!(ends, [begun + 20, begun + 40]);
        }
        // The last slice is a half; it ends later if its last operation took longer.
        let mut last = [a[3], b[3]];
        last.sort_unstable();
        assert!(last[0] >= 169 && last[1] >= 189, "{last:?}");
    }

    #[test]
    fn nobody_waits_for_a_side_that_leaves_its_drive_out_or_is_gone() {
        let sides = sides();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let side = sides.side(1);
                side.next_point();
                side.next_point();
                assert!(!drive(&side).interrupted);
            });
            let side = sides.side(0);
            side.next_point();
            assert!(
                drive(&side).interrupted,
                "the other side has no first drive"
            );
            side.next_point();
            assert!(!drive(&side).interrupted);
            side.next_point();
            assert!(drive(&side).interrupted, "the other side is gone");
        });
    }
}
