//! What a session takes of its server's memory: the growth from before the first sessions of a run to with all of a level,
//! divided by them.
//!
//! A server whose sessions are threads keeps the memory of closed ones for those that come. There the growth is that of a level's
//! sessions only if the server had few before the run's first, and never many more than the level has.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use host::{OwnMemory, Programs};

use crate::nodes::Nodes;

/// With fewer sessions, what else a server takes meanwhile outweighs them.
pub const SESSIONS_MIN: u32 = 16;
/// Part of a level's sessions that may have been there before it begins to count, and that the server may have had beside them.
const OTHERS_MAX: f64 = 0.1;
const MB: f64 = 1e6;

/// What the servers of each target took before sessions of users were opened there.
///
/// The first time of a run counts: what an earlier level had is kept by the server for the next one, and would be missing
/// from the growth.
#[derive(Debug, Default)]
pub struct ServerMemory {
    before: Mutex<HashMap<u32, Before>>,
}

/// What was seen until now.
#[derive(Debug, Clone)]
struct Before {
    first: Taken,
    /// Most of the cache: what is dropped from it stays the server's.
    cache_most_bytes: u64,
}

#[derive(Debug, Clone)]
struct Taken {
    own: OwnMemory,
    /// Part of it that is the database's cache.
    cache_bytes: u64,
    /// Most sessions that the servers had so far, as far as they keep their memory.
    sessions_kept: Option<u64>,
}

impl ServerMemory {
    /// Sessions are about to be opened: looks at the servers, unless it has already and they are still the same.
    pub(crate) fn look_before(&self, number: u32, nodes: &Nodes, programs: &Programs) {
        let Ok(now) = Taken::now(nodes, programs) else {
            // Said by the look behind the window.
            return;
        };
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let there = before.get_mut(&number);
        match there.filter(|there| now.own.growth_bytes(&there.first.own).is_some()) {
            Some(there) => there.look_at_cache(&now),
            None => {
                let cache_most_bytes = now.cache_bytes;
                let first = now;
                before.insert(
                    number,
                    Before {
                        first,
                        cache_most_bytes,
                    },
                );
            }
        }
    }

    /// MB that each of so many sessions takes, which are there now; `None` where nobody looked before, or they are too few.
    ///
    /// # Errors
    /// Why it cannot be told.
    pub(crate) fn per_session_mb(
        &self,
        number: u32,
        (nodes, programs): (&Nodes, &Programs),
        sessions: u32,
    ) -> Result<Option<f64>, String> {
        if sessions < SESSIONS_MIN {
            return Ok(None);
        }
        if nodes.nodes.iter().any(|node| node.others_allowed()) {
            return Err(
                "others may open and close sessions of the server meanwhile (--shared)".into(),
            );
        }
        let now = Taken::now(nodes, programs)?;
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = before.get_mut(&number) else {
            return Ok(None);
        };
        before.look_at_cache(&now);
        let growth_bytes = before
            .growth_bytes(&now)
            .ok_or("the server was restarted in the meantime")?;
        let kept = before.first.sessions_kept.zip(now.sessions_kept);
        share_mb(growth_bytes, kept, sessions).map(Some)
    }
}

/// MB of a growth that each of so many sessions takes; `kept` are the most sessions that the server had at the first look and has
/// had now, as far as it keeps their memory.
fn share_mb(growth_bytes: i64, kept: Option<(u64, u64)>, sessions: u32) -> Result<f64, String> {
    let (before, so_far) = kept.ok_or(
        "the server keeps the memory of closed sessions, and does not tell how many it has had (since FLUSH STATUS); restart it \
         before the run",
    )?;
    let others_max = OTHERS_MAX * f64::from(sessions);
    if before as f64 > others_max {
        return Err(format!(
            "the server keeps the memory of closed sessions, and had up to {before} before the first users of this run; restart it \
             before the run, or measure more than {} users",
            (before as f64 / OTHERS_MAX).ceil()
        ));
    }
    if so_far as f64 > f64::from(sessions) + others_max {
        return Err(format!(
            "the server keeps the memory of closed sessions, and has had up to {so_far}; only levels with as many tell what one takes"
        ));
    }
    match growth_bytes {
        1.. => Ok(growth_bytes as f64 / MB / f64::from(sessions)),
        _ => Err("the server takes no more memory than before the first users of this run".into()),
    }
}

impl Taken {
    fn now(nodes: &Nodes, programs: &Programs) -> Result<Self, String> {
        let of_all = |one: fn(&dyn engine::Target) -> Option<u64>| {
            let each = nodes.nodes.iter().map(|node| one(node.as_ref()));
            each.sum::<Option<u64>>()
        };
        let cache_bytes = of_all(|node| node.cache_in_processes_bytes());
        Ok(Self {
            cache_bytes: cache_bytes.ok_or("the server does not tell how much its cache holds")?,
            sessions_kept: of_all(|node| node.sessions_kept()),
            own: OwnMemory::of(programs)?,
        })
    }
}

impl Before {
    fn look_at_cache(&mut self, now: &Taken) {
        self.cache_most_bytes = self.cache_most_bytes.max(now.cache_bytes);
    }

    /// Growth without that of the cache.
    fn growth_bytes(&self, now: &Taken) -> Option<i64> {
        let of_cache = self.cache_most_bytes - self.first.cache_bytes;
        let growth_bytes = now.own.growth_bytes(&self.first.own)?;
        Some(growth_bytes.saturating_sub_unsigned(of_cache))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: i64 = 1_000_000_000;

    fn why(growth_bytes: i64, kept: Option<(u64, u64)>, sessions: u32) -> String {
        share_mb(growth_bytes, kept, sessions).unwrap_err()
    }

    #[test]
    fn golden_share_of_a_session() {
        // Processes, whose memory goes with them, in any order of levels.
        assert_eq!(share_mb(3 * GB, Some((0, 0)), 1000), Ok(3.0));
        assert_eq!(share_mb(GB / 10, Some((0, 0)), 50), Ok(2.0));
        // Threads of a server that was just started: beside the users there are a few of dbdyno.
        assert_eq!(share_mb(3 * GB, Some((5, 1004)), 1000), Ok(3.0));
        // A level as large as one before.
        assert_eq!(share_mb(3 * GB, Some((100, 1100)), 1000), Ok(3.0));
    }

    /// 1000 sessions of an earlier run left what those of this one take; after 1000 of this run, 50 would be said to take all.
    #[test]
    fn memory_that_earlier_sessions_left_is_not_shared_out() {
        assert!(why(GB / 1000, Some((1004, 1004)), 1000).contains("had up to 1004 before"));
        assert!(why(3 * GB, Some((5, 1004)), 50).contains("has had up to 1004"));
        assert!(why(3 * GB, Some((101, 1100)), 1000).contains("more than 1010 users"));
        assert!(why(3 * GB, None, 1000).contains("does not tell"));
    }

    #[test]
    fn no_growth_is_unknown_and_not_nothing() {
        for growth_bytes in [0, -GB] {
            assert!(why(growth_bytes, Some((0, 0)), 1000).contains("no more memory"));
        }
    }
}
