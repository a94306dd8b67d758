//! Users: each has its home, its cards and its random numbers, whichever connection serves it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use load::NextOperation;
use stats::random::{Random, mix};

use super::initial_rows::{DISTRICTS, WarehouseRows};
use super::mix::{Deck, Kind, Pacing};
use super::random::Nurand;

/// Most users of a run.
pub const USERS_MAX: u32 = 1_000_000;
/// Random numbers of the run itself, apart from those of its users.
const STREAM_OF_RUN: u64 = u64::MAX - 1;

/// The constants of the non-uniform choices of a run (clause 2.1.6); they belong to its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    /// Last names, when they were loaded.
    pub c_last_load: u64,
    /// Last names that are asked for.
    pub c_last_run: u64,
    pub c_id: u64,
    pub c_item: u64,
    /// Names, customers and items that there are.
    pub rows: WarehouseRows,
}

impl Constants {
    /// Those of a seed. The names that are asked for often must not be those that were loaded often: the
    /// distance of the two constants is 65 to 119, and neither 96 nor 112 (clause 2.1.6.1).
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

    /// Draws a last name's number.
    pub fn last_name(&self, random: &mut Random) -> u64 {
        let choice = Nurand {
            a: 255,
            c: self.c_last_run,
        };
        choice.draw(random, 0, self.rows.last_names() - 1)
    }

    /// Draws a customer of a district.
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
    /// What it asked for last.
    previous: Option<Kind>,
    /// Its number, from 0.
    pub user: u32,
    pub w: u32,
    /// The district whose stock it looks at.
    pub district: u8,
    /// Payments that it has begun, retries not counted.
    pub payments: u32,
}

impl Terminal {
    /// What the user asks for next, and the seconds until then: it looks at the last answer, then it keys.
    fn next(&mut self, pacing: Pacing) -> (Kind, f64) {
        // Before the first one it looks at something as well, or all would begin in one moment.
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

/// What the users of a run have in common.
#[derive(Debug, Clone, Copy)]
pub struct World {
    pub warehouses: u32,
    /// Constants of the non-uniform choices.
    pub constants: Constants,
    pub pacing: Pacing,
    /// Number of the run in the marks of its payments; no two runs on a database share one.
    pub run: u32,
}

/// A number for a run, from the moment at which it is asked for.
pub fn new_run() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    mix(since.map_or(0, |since| since.as_nanos() as u64)) as u32
}

/// All users of a run; each is locked by the one connection that serves it, so nobody waits.
#[derive(Debug)]
pub struct Terminals {
    world: World,
    users: Box<[Mutex<Terminal>]>,
}

impl Terminals {
    /// So many users, at least one, spread evenly over warehouses and then districts; the same seed gives the same inputs
    /// to each.
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

    /// What they have in common.
    pub fn world(&self) -> &World {
        &self.world
    }

    pub fn len(&self) -> usize {
        self.users.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.users.is_empty()
    }

    /// A user, whom nobody else serves meanwhile; a number beyond the last one begins again with the first.
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

    /// Five thousand of them, without the allocator's rounding.
    #[test]
    fn a_user_is_small() {
        assert!(
            size_of::<Mutex<Terminal>>() <= 128,
            "{}",
            size_of::<Mutex<Terminal>>()
        );
    }

    /// The mean pause over whole decks is what the cards say; the first pause is like all others.
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

    /// The inputs of a user do not depend on who else is served.
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
