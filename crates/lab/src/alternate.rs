//! The two sides of a pair, measured in slices in turn. What a side does beside driving, such as preparing its data and
//! proving its work, it does while the other one waits.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use load::clock::Slices;
use load::{Clients, Clock, Drive, Outcome};
use stats::random::mix;

/// What the two sides share.
pub struct Sides {
    slices: Slices,
    first: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Who does something beside driving.
    busy: Option<usize>,
    sides: [SideState; 2],
    /// Clocks of the drives of both sides, by the number of the point.
    clocks: Vec<[Clock; 2]>,
}

#[derive(Default)]
struct SideState {
    /// Points that were begun.
    begun: usize,
    /// Points of which the drive is over, or was left out.
    driven: usize,
    is_gone: bool,
}

/// One side, from when it has its turn to prepare until it is dropped.
pub struct Side<'a> {
    sides: &'a Sides,
    number: usize,
}

impl Sides {
    /// Sides of which number `first` prepares first.
    pub fn new(slices: Slices, first: usize) -> Self {
        let state = State {
            busy: Some(first),
            ..State::default()
        };
        Self {
            slices,
            first,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Side number 0 or 1, as soon as it may prepare; each is asked for once, on a thread of its own.
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

    /// Every change of the state is one step, so that it is whole whoever died with it.
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
            let seed = mix(slices.seed ^ mix(self.clocks.len() as u64));
            let slices = Slices { seed, ..slices };
            (self.clocks).push(Clock::alternating(slices, &Clock::Monotonic));
        }
        &self.clocks[point]
    }
}

impl Side<'_> {
    /// How the sides take turns.
    pub fn slices(&self) -> Slices {
        self.sides.slices
    }

    /// The next point begins. If the last one was not driven, the other side does not wait for it any more.
    pub fn next_point(&self) {
        let mut state = self.sides.lock();
        self.leave_out(&mut state);
        state.sides[self.number].begun += 1;
    }

    /// Drives the point at hand in turn with the other side, which drives the same; interrupted if that does not.
    pub fn drive(&self, clients: Clients, how: &Drive) -> Outcome {
        let (me, other) = (self.number, 1 - self.number);
        let mut state = self.sides.lock();
        let point = state.sides[me].begun.saturating_sub(1);
        let clock = state.clocks(point, self.slices())[me].clone();
        if state.sides[other].is_gone || state.sides[other].driven > point {
            clock.abandon();
        }
        state.busy = None;
        self.sides.changed.notify_all();
        drop(state);
        let outcome = load::drive(
            clients,
            &Drive {
                clock,
                ..how.clone()
            },
        );
        let mut state = self.sides.lock();
        state.sides[me].driven = point + 1;
        self.sides.changed.notify_all();
        // What this side does next would disturb the last slices of the other one.
        let mut state = self.sides.wait_while(state, |state| {
            let is_driving = !state.sides[other].is_gone && state.sides[other].driven <= point;
            is_driving || state.busy.is_some()
        });
        state.busy = Some(me);
        outcome
    }

    /// Whoever waits for this side in a point that it has begun, or would have, waits in vain.
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
        Sides::new(slices, 0)
    }

    fn drive(side: &Side<'_>) -> Outcome {
        let mock = Mock::new().latency(Duration::from_micros(200));
        let how = Drive::of_jobs(End::Time(Duration::from_millis(54)), &GO_ON);
        side.drive(Clients::Blocking(mock.sessions(1)), &how)
    }

    /// Each prepares alone, the first one first; they drive together, and go on alone.
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
        // Both had prepared before either proved.
        assert!(
            log[..4]
                .iter()
                .all(|(_, what)| what.ends_with("epares") || what.ends_with("epared"))
        );
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
