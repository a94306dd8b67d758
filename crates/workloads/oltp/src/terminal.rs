//! Users: each has its home, its cards and its random numbers, whichever connection serves it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use load::NextOperation;
use stats::random::{Random, mix};

use super::initial_rows::{DISTRICTS, WarehouseRows};
use super::mix::{Deck, Kind, Pacing};
use super::random::Nurand;

pub const USERS_MAX: u32 = 1_000_000;
/// Stream of the run's own random numbers, separate from those of its users.
const STREAM_OF_RUN: u64 = u64::MAX - 1;

/// Constants of the non-uniform choices of a run (clause 2.1.6); they are part of its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    /// Constant for last names during the load.
    pub c_last_load: u64,
    /// Constant for last names in the run.
    pub c_last_run: u64,
    pub c_id: u64,
    pub c_item: u64,
    /// Numbers of names, customers and items.
    pub rows: WarehouseRows,
}

impl Constants {
    /// Draws the constants. The names that are frequent in the run must not be those that were frequent in the load:
    /// the distance of the two constants is 65 to 119, and neither 96 nor 112 (clause 2.1.6.1).
    pub fn draw(seed: u64, c_last_load: u64, rows: WarehouseRows) -> Self {
        let mut random = Random::stream(seed, STREAM_OF_RUN);
        let allowed: Vec<u64> = (0..=255)
            .filter(|c| is_far(c_last_load.abs_diff(*c)))
            .collect();
        Self {
            c_last_load,
            c_last_run: allowed[random.below(allowed.len() as u64) as usize],
            c_id: random.range(0, 1023),
            c_item: random.range(0, 8191),
            rows,
        }
    }

    pub fn last_name(&self, random: &mut Random) -> u64 {
        let choice = Nurand {
            a: 255,
            c: self.c_last_run,
        };
        choice.draw(random, 0, self.rows.last_names() - 1)
    }

    pub fn customer(&self, random: &mut Random) -> u64 {
        let choice = Nurand {
            a: 1023,
            c: self.c_id,
        };
        choice.draw(random, 1, self.rows.customers())
    }

    pub fn item(&self, random: &mut Random) -> u64 {
        let choice = Nurand {
            a: 8191,
            c: self.c_item,
        };
        choice.draw(random, 1, self.rows.items())
    }
}

fn is_far(distance: u64) -> bool {
    (65..=119).contains(&distance) && distance != 96 && distance != 112
}

#[derive(Debug, Clone)]
pub struct Terminal {
    pub random: Random,
    deck: Deck,
    previous: Option<Kind>,
    /// Number from 0.
    pub user: u32,
    pub w: u32,
    /// District of its Stock-Level transactions.
    pub district: u8,
    /// Payments that it has begun, without retries.
    pub payments: u32,
}

impl Terminal {
    /// Next transaction of the user, and the seconds until then: think time of the last answer, then keying.
    fn next(&mut self, pacing: Pacing) -> (Kind, f64) {
        // A think time precedes the first transaction too, or all users would begin at the same moment.
        let looks_at = match self.previous {
            Some(kind) => kind,
            None => Deck::default().deal(&mut self.random),
        };
        let kind = self.deck.deal(&mut self.random);
        self.previous = Some(kind);
        match pacing {
            Pacing::KeyingAndThinking => {
                let think_s = looks_at.think_s(&mut self.random);
                (kind, think_s + kind.keying_s())
            }
            Pacing::None => (kind, 0.0),
        }
    }
}

/// Data that the users of a run share.
#[derive(Debug, Clone, Copy)]
pub struct World {
    pub warehouses: u32,
    pub constants: Constants,
    pub pacing: Pacing,
    /// Number of the run in the marks of its payments; no two runs on a database share one.
    pub run: u32,
}

/// Number for a run, from the current time.
pub fn new_run() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    mix(since.map_or(0, |since| since.as_nanos() as u64)) as u32
}

/// Users of a run. Each is locked by the one connection that serves it, so nobody waits.
#[derive(Debug)]
pub struct Terminals {
    world: World,
    users: Box<[Mutex<Terminal>]>,
}

impl Terminals {
    /// Users, at least one, spread evenly over warehouses and then districts; equal seeds give equal inputs.
    pub fn new(world: World, users: u32, seed: u64) -> Self {
        let users = (0..users.clamp(1, USERS_MAX)).map(|user| {
            Mutex::new(Terminal {
                random: Random::stream(seed, u64::from(user)),
                deck: Deck::default(),
                previous: None,
                user,
                w: user % world.warehouses.max(1) + 1,
                district: (user / world.warehouses.max(1) % DISTRICTS as u32 + 1) as u8,
                payments: 0,
            })
        });
        Self {
            world,
            users: users.collect(),
        }
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    pub fn len(&self) -> usize {
        self.users.len()
    }

    pub fn is_empty(&self) -> bool {
        self.users.is_empty()
    }

    /// A user whom nobody else serves meanwhile; numbers wrap around after the last one.
    pub fn user(&self, user: u32) -> MutexGuard<'_, Terminal> {
        let place = user as usize % self.users.len();
        self.users[place]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl load::UserPopulation for Terminals {
    fn next_operation(&self, user: u32) -> NextOperation {
        let (kind, pause_s) = self.user(user).next(self.world.pacing);
        NextOperation {
            kind: kind as u8,
            pause_ns: (pause_s * 1e9) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use load::UserPopulation;

    use super::*;

    fn world(warehouses: u32, pacing: Pacing) -> World {
        World {
            warehouses,
            constants: Constants::draw(1, 100, WarehouseRows::Full),
            pacing,
            run: 7,
        }
    }

    /// Any constant of a load leaves room for one of a run.
    #[test]
    fn constants_keep_their_distance() {
        for c_last_load in 0..=255 {
            for seed in 0..20 {
                let drawn = Constants::draw(seed, c_last_load, WarehouseRows::Full);
                let distance = drawn.c_last_run.abs_diff(c_last_load);
                assert!(is_far(distance) && drawn.c_last_run <= 255, "{drawn:?}");
                assert!(drawn.c_id <= 1023 && drawn.c_item <= 8191, "{drawn:?}");
            }
        }
        let right: Vec<u64> = (60..125).filter(|d| is_far(*d)).collect();
        assert_eq!(
            (right.len(), right[0], right[right.len() - 1]),
            (53, 65, 119)
        );
    }

    #[test]
    fn ten_users_of_a_warehouse_have_its_ten_districts() {
        let terminals = Terminals::new(world(3, Pacing::None), 30, 1);
        let homes: std::collections::BTreeSet<(u32, u8)> = (0..30)
            .map(|user| terminals.user(user))
            .map(|user| (user.w, user.district))
            .collect();
        assert_eq!(homes.len(), 30);
        assert!(
            homes
                .iter()
                .all(|(w, d)| (1..=3).contains(w) && (1..=10).contains(d))
        );
    }

    /// Five thousand users, without the allocator's rounding.
    #[test]
    fn a_user_is_small() {
        assert!(
            size_of::<Mutex<Terminal>>() <= 128,
            "{}",
            size_of::<Mutex<Terminal>>()
        );
    }

    /// The mean pause over whole decks matches the cards; the first pause is like all others.
    #[test]
    fn users_pause_as_their_cards_say() {
        let terminals = Terminals::new(world(1, Pacing::KeyingAndThinking), 1000, 5);
        let pauses = (0..1000).flat_map(|user| (0..46).map(move |_| user));
        let sum_ns: u64 = pauses
            .map(|user| terminals.next_operation(user).pause_ns)
            .sum();
        let mean_s = sum_ns as f64 / 1e9 / 46_000.0;
        assert!((mean_s / (476.0 / 23.0) - 1.0).abs() < 0.02, "{mean_s}");
        let hurried = Terminals::new(world(1, Pacing::None), 1, 5);
        assert_eq!(
            (0..100).map(|_| hurried.next_operation(0).pause_ns).max(),
            Some(0)
        );
    }

    /// The inputs of a user do not depend on the users that are served at the same time.
    #[test]
    fn the_same_seed_gives_the_same_cards() {
        let cards = |users: u32| {
            let terminals = Terminals::new(world(2, Pacing::None), users, 9);
            (0..100)
                .map(|_| terminals.next_operation(1).kind)
                .collect::<Vec<_>>()
        };
        assert_eq!(cards(2), cards(50));
    }
}
