//! Memory of a server's session: the growth from before the first sessions of a run to all those of a level, divided
//! by their number.
//!
//! A server with threads reuses the memory of closed sessions. There the growth belongs to a level only if the server
//! had few sessions before the run's first, and never many more than the level has.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use host::{OwnMemory, Programs};

use crate::nodes::Nodes;

/// With fewer sessions, other allocations of the server outweigh theirs.
pub const SESSIONS_MIN: u32 = 16;
/// Tolerated share of sessions before a level begins to count, and of other sessions during it.
const OTHERS_MAX: f64 = 0.1;
const MB: f64 = 1e6;

/// Memory of each target's servers before sessions of users were opened.
///
/// The first value of a run counts, because the server reuses the memory of earlier levels, which would be missing
/// from the growth.
#[derive(Debug, Default)]
pub struct ServerMemory {
    before: Mutex<HashMap<u32, Before>>,
}

#[derive(Debug, Clone)]
struct Before {
    first: Taken,
    /// Largest cache so far, because a server does not return its memory.
    cache_most_bytes: u64,
}

#[derive(Debug, Clone)]
struct Taken {
    own: OwnMemory,
    /// Part of it that is the database's cache.
    cache_bytes: u64,
    /// Largest number of sessions so far, for servers that do not return their memory.
    sessions_kept: Option<u64>,
}

impl ServerMemory {
    /// Samples the servers before sessions open, unless it has already and they are still the same.
    pub(crate) fn look_before(&self, number: u32, nodes: &Nodes, programs: &Programs) {
        let Ok(now) = Taken::now(nodes, programs) else {
            // The sample after the window reports the error.
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

    /// MB per session of those that are open now; `None` without an earlier sample, or for too few.
    ///
    /// # Errors
    /// The reason why it is unknown.
    pub(crate) fn per_session_mb(
        &self,
        number: u32,
        nodes: &Nodes,
        programs: &Programs,
        sessions: u32,
    ) -> Result<Option<f64>, String> {
        if sessions < SESSIONS_MIN {
            return Ok(None);
        }
        if nodes.nodes.iter().any(|node| node.others_allowed()) {
            return Err(
                "others may open and close sessions of the server meanwhile (--allow-busy)".into(),
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

/// MB per session of a growth; `kept` are the most sessions at the first sample and by now, for servers that do not
/// return their memory.
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
        // Processes return their memory, so the order of levels does not matter.
        assert_eq!(share_mb(3 * GB, Some((0, 0)), 1000), Ok(3.0));
        assert_eq!(share_mb(GB / 10, Some((0, 0)), 50), Ok(2.0));
        // A server with threads that was just started has a few sessions of dbdyno in addition to the users.
        assert_eq!(share_mb(3 * GB, Some((5, 1004)), 1000), Ok(3.0));
        // The level is as large as an earlier one.
        assert_eq!(share_mb(3 * GB, Some((100, 1100)), 1000), Ok(3.0));
    }

    /// 1000 sessions of an earlier run left memory for those of this one; after 1000 of this run, 50 would seem to
    /// take all of it.
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
