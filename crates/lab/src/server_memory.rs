//! What a session takes of its server's memory: the growth from before the first sessions of a run to with all of a level,
//! divided by them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use host::{OwnMemory, Programs};

use crate::nodes::Nodes;

/// With fewer sessions, what else a server takes meanwhile outweighs them.
pub const SESSIONS_MIN: u32 = 16;
const MB: f64 = 1e6;

/// What the servers of each target took before sessions of users were opened there.
///
/// The first time of a run counts: what an earlier level had is kept by the server for the next one, and would be missing
/// from the growth.
#[derive(Debug, Default)]
pub struct ServerMemory {
    before: Mutex<HashMap<u32, Taken>>,
}

/// What servers take.
#[derive(Debug, Clone)]
struct Taken {
    own: OwnMemory,
    /// Part of it that is the database's cache.
    cache_bytes: u64,
}

impl ServerMemory {
    /// Sessions are about to be opened: looks at the servers, unless it has already and they are still the same.
    pub(crate) fn look_before(&self, number: u32, nodes: &Nodes, programs: &Programs) {
        let Ok(now) = Taken::now(nodes, programs) else {
            // Said by the look behind the window.
            return;
        };
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let there = before.get(&number);
        if there.is_none_or(|there| now.own.growth_bytes(&there.own).is_none()) {
            before.insert(number, now);
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
        let now = Taken::now(nodes, programs)?;
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = before.get(&number) else {
            return Ok(None);
        };
        let growth = now
            .since(before)
            .ok_or("the server was restarted in the meantime")?;
        Ok(Some(growth as f64 / MB / f64::from(sessions)))
    }
}

impl Taken {
    fn now(nodes: &Nodes, programs: &Programs) -> Result<Self, String> {
        let caches = nodes
            .nodes
            .iter()
            .map(|node| node.cache_in_processes_bytes());
        let cache_bytes = caches.sum::<Option<u64>>();
        Ok(Self {
            cache_bytes: cache_bytes.ok_or("the server does not tell how much its cache holds")?,
            own: OwnMemory::of(programs)?,
        })
    }

    /// Growth without that of the cache.
    fn since(&self, before: &Self) -> Option<u64> {
        let of_cache = self.cache_bytes.saturating_sub(before.cache_bytes);
        let growth = self.own.growth_bytes(&before.own)?;
        Some(growth.saturating_sub(of_cache))
    }
}
