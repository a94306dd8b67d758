//! The one queue of users for all connections.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cancellation::Cancellation;
use crate::population::UserPopulation;
use crate::schedule::{Schedule, Ticks, Window};
use stats::random::{Random, mix};

/// Most unserved arrivals that are counted at the end.
const UNFINISHED_MAX: u64 = 10_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// Due time, since the common start. First of the fields: users are served in this order.
    pub due_ns: u64,
    pub user: u32,
    pub kind: u8,
}

/// Hands users to free connections.
///
/// A free connection takes the first user of the queue and sleeps until that one is due. The free connections
/// therefore always hold the users that are due first; if a connection ends an operation and its user is due before
/// others, it keeps that user. Nobody waits while a connection is free, and waiting users are served in order, with
/// one exchange for each operation instead of a second queue.
///
/// With a connection for every user, the queue is empty and no lock is taken. (A user who comes back from a lost
/// connection is taken up when any operation ends, which is later than necessary.)
pub struct Scheduler<'a> {
    population: &'a dyn UserPopulation,
    kinds: usize,
    until_ns: u64,
    cancellation: &'a Cancellation<'a>,
    seed: u64,
    users: u32,
    source: Source,
}

enum Source {
    Closed {
        queue: Mutex<BinaryHeap<Reverse<Arrival>>>,
        waiting: AtomicUsize,
    },
    Open(Ticks),
}

impl<'a> Scheduler<'a> {
    pub fn new(
        population: &'a dyn UserPopulation,
        users: u32,
        kinds: usize,
        schedule: Schedule,
        seed: u64,
        window: Window,
        cancellation: &'a Cancellation<'a>,
    ) -> Self {
        let source = match schedule {
            Schedule::Open {
                rate_per_s,
                arrivals,
            } => Source::Open(Ticks::new(rate_per_s, arrivals, seed)),
            Schedule::Closed { .. } | Schedule::SemiOpen { .. } => Source::Closed {
                queue: Mutex::default(),
                waiting: AtomicUsize::new(0),
            },
        };
        let scheduler = Self {
            population,
            kinds,
            until_ns: window.ends_ns(),
            cancellation,
            seed: mix(seed ^ u64::from(users)),
            users,
            source,
        };
        scheduler.gather();
        scheduler
    }

    /// Lays out the first arrival of every user of a closed model, as if all had been active for long: the rest of a
    /// pause at a moment drawn by lot. Longer pauses are met more often, so the moments are laid evenly over all
    /// pauses end to end (the residual life of a renewal process; Cox, Renewal Theory, 1962, section 5.1).
    fn gather(&self) {
        let Source::Closed { queue, waiting } = &self.source else {
            return;
        };
        let mut visits: Vec<Arrival> = (0..self.users)
            .map(|user| self.arrival_of(user, 0))
            .collect();
        let pauses_ns: Vec<u64> = visits.iter().map(|arrival| arrival.due_ns).collect();
        let all_ns: f64 = pauses_ns.iter().map(|pause| *pause as f64).sum();
        let each_ns = all_ns / f64::from(self.users);
        let mut random = Random::new(self.seed);
        let mut pauses = pauses_ns.iter().map(|pause| *pause as f64);
        let mut end_ns = pauses.next().unwrap_or(0.0);
        for arrival in &mut visits {
            let moment_ns = each_ns * (f64::from(arrival.user) + random.unit());
            while end_ns < moment_ns
                && let Some(pause) = pauses.next()
            {
                end_ns += pause;
            }
            arrival.due_ns = (end_ns - moment_ns).max(0.0) as u64;
        }
        waiting.store(visits.len(), Relaxed);
        *lock(queue) = visits.into_iter().map(Reverse).collect();
    }

    /// The next arrival for a connection that is free since `free_ns`, whose last user (if there is one, and it
    /// stays) is `user`; `None` if nothing more is due in the window.
    #[inline]
    pub fn next(&self, user: Option<u32>, free_ns: u64) -> Option<Arrival> {
        let arrival = match &self.source {
            Source::Open(_) if free_ns >= self.until_ns => return None,
            Source::Open(ticks) => self.arrival_at(ticks.take_ns()),
            Source::Closed { queue, waiting } => {
                let own = user.map(|user| self.arrival_of(user, free_ns));
                match waiting.load(Relaxed) {
                    0 => own?,
                    _ => self.exchange(queue, waiting, own, free_ns)?,
                }
            }
        };
        (arrival.due_ns < self.until_ns).then_some(arrival)
    }

    #[cold]
    pub fn give_back(&self, user: u32, now_ns: u64) {
        if let Source::Closed { queue, waiting } = &self.source {
            let arrival = self.arrival_of(user, now_ns);
            let mut queue = lock(queue);
            queue.push(Reverse(arrival));
            waiting.store(queue.len(), Relaxed);
        }
    }

    /// Passes on the arrivals that were due before the window ended and were never served; called once, at the end.
    pub fn left_waiting(&self, mut report: impl FnMut(&Arrival)) {
        match &self.source {
            Source::Closed { queue, .. } => {
                let queue = lock(queue);
                let waiting = queue.iter().map(|Reverse(arrival)| arrival);
                let waiting = waiting.filter(|arrival| arrival.due_ns < self.until_ns);
                waiting.for_each(report);
            }
            Source::Open(ticks) => {
                for _ in 0..UNFINISHED_MAX {
                    let tick = ticks.take_ns();
                    if tick >= self.until_ns {
                        break;
                    }
                    report(&self.arrival_at(tick));
                }
            }
        }
    }

    #[inline]
    fn exchange(
        &self,
        queue: &Mutex<BinaryHeap<Reverse<Arrival>>>,
        waiting: &AtomicUsize,
        own: Option<Arrival>,
        free_ns: u64,
    ) -> Option<Arrival> {
        let mut queue = lock(queue);
        if free_ns >= self.until_ns {
            return None;
        }
        let first = queue.peek().map(|Reverse(arrival)| *arrival);
        match own {
            Some(own) if first.is_none_or(|first| own <= first) => Some(own),
            Some(own) => {
                // One sift instead of a push and a pop.
                let mut top = queue.peek_mut()?;
                Some(std::mem::replace(&mut *top, Reverse(own)).0)
            }
            None => {
                queue.pop();
                waiting.store(queue.len(), Relaxed);
                first
            }
        }
    }

    #[inline]
    fn arrival_of(&self, user: u32, free_ns: u64) -> Arrival {
        let next_operation = self.population.next_operation(user);
        Arrival {
            due_ns: free_ns.saturating_add(next_operation.pause_ns),
            user,
            kind: if usize::from(next_operation.kind) < self.kinds {
                next_operation.kind
            } else {
                self.refuse(next_operation.kind)
            },
        }
    }

    /// Stops the drive because the population named an unknown kind.
    #[cold]
    fn refuse(&self, kind: u8) -> u8 {
        self.cancellation.fail(format!(
            "a user requested operation {kind} of kinds 0 to {}, which is a bug in dbdyno",
            self.kinds - 1
        ));
        0
    }

    /// The arrival at a tick. Its user follows from the tick's own time, so that the deal does not depend on the
    /// connection that takes it; dealt by lot, Poisson arrivals are Poisson for every user.
    #[inline]
    fn arrival_at(&self, tick_ns: u64) -> Arrival {
        let lot = u128::from(mix(self.seed ^ mix(tick_ns)));
        let user = ((lot * u128::from(self.users)) >> 64) as u32;
        Arrival {
            due_ns: tick_ns,
            ..self.arrival_of(user, tick_ns)
        }
    }
}

/// A thread that died with the lock held left the queue consistent: every change is one step.
fn lock(
    queue: &Mutex<BinaryHeap<Reverse<Arrival>>>,
) -> MutexGuard<'_, BinaryHeap<Reverse<Arrival>>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::population::NextOperation;
    use crate::schedule::Think;

    const SECOND: u64 = 1_000_000_000;

    struct Pauses(fn(u32) -> u64);

    impl UserPopulation for Pauses {
        fn next_operation(&self, user: u32) -> NextOperation {
            NextOperation {
                kind: 0,
                pause_ns: (self.0)(user),
            }
        }
    }

    fn with<T>(users: u32, pauses: fn(u32) -> u64, then: impl FnOnce(&Scheduler) -> T) -> T {
        let stop = AtomicBool::new(false);
        let cancellation = Cancellation::new(&stop);
        let window = Window {
            from_ns: 0,
            until_ns: Some(100 * SECOND),
            is_drained: false,
        };
        then(&Scheduler::new(
            &Pauses(pauses),
            users,
            1,
            Schedule::Closed { think: Think::None },
            1,
            window,
            &cancellation,
        ))
    }

    fn all_due(users: u32, pauses: fn(u32) -> u64) -> Vec<u64> {
        with(users, pauses, |scheduler| {
            let next = || scheduler.next(None, 0).map(|arrival| arrival.due_ns);
            std::iter::from_fn(next).collect()
        })
    }

    /// The rest of a pause of 10 s is uniform from 0 to 10; and if every other pause lasts 1 s and the others 9 s,
    /// nine in ten are met in a long one: a mean of 0.1 · 0.5 + 0.9 · 4.5 = 4.1 s.
    #[test]
    fn the_crowd_was_at_work_before() {
        let even = all_due(1000, |_| 10 * SECOND);
        assert!(
            even.iter()
                .zip(0..)
                .all(|(due, i)| due.abs_diff(i * SECOND / 100) < SECOND)
        );
        let mixed = all_due(10_000, |user| (1 + 8 * u64::from(user % 2)) * SECOND);
        let mean_s = mixed.iter().sum::<u64>() as f64 / 1e4 / SECOND as f64;
        assert!((mean_s - 4.1).abs() < 0.05, "{mean_s}");
        assert_eq!(all_due(5, |_| 0), [0; 5]);
        assert!(all_due(1, |_| 7)[0] <= 7);
    }

    /// Two connections, four users, no pauses: the user who has waited longest is next, and the queue is never longer
    /// than the waiting users.
    #[test]
    fn the_user_who_waits_longest_is_next() {
        with(
            4,
            |_| 0,
            |scheduler| {
                let arrival =
                    |user, free_ns| scheduler.next(user, free_ns).map(|v| (v.due_ns, v.user));
                assert_eq!(
                    (arrival(None, 0), arrival(None, 0)),
                    (Some((0, 0)), Some((0, 1)))
                );
                assert_eq!(arrival(Some(1), 5), Some((0, 2)));
                assert_eq!(arrival(Some(0), 6), Some((0, 3)));
                assert_eq!(arrival(Some(3), 7), Some((5, 1)));
                scheduler.give_back(1, 8);
                assert_eq!(arrival(None, 9), Some((6, 0)));
                assert_eq!(arrival(Some(2), 100 * SECOND), None, "the window is over");
                let mut left = Vec::new();
                scheduler.left_waiting(|arrival| left.push((arrival.due_ns, arrival.user)));
                left.sort();
                assert_eq!(left, [(7, 3), (8, 1)]);
            },
        );
    }

    /// The free connection holds the user who is due first, even if another one has just ended.
    #[test]
    fn a_connection_keeps_its_user_when_that_one_asks_first() {
        with(
            2,
            |user| u64::from(user) * 50 * SECOND,
            |scheduler| {
                let first = scheduler.next(None, 0).map(|arrival| arrival.user);
                let own = scheduler
                    .next(Some(0), 3)
                    .map(|arrival| (arrival.due_ns, arrival.user));
                assert!(first.is_some() && own == Some((3, 0)));
            },
        );
    }
}
