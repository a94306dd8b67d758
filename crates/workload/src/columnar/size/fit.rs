//! Which tables a memory holds, and how many cores those who ask them need.

use target::lifted::Level;

use super::SizedTable;

/// Threads that may share a core: the rule of thumb of the study that this follows (docs/COLUMNAR.md).
pub const THREADS_PER_CORE: u32 = 2;

/// Tables that a memory holds at a level.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub level: Level,
    /// Tables that fit together, in the order in which they were chosen.
    pub tables: Vec<String>,
    /// Bytes that they take at most, by the upper ends of their intervals.
    pub bytes_high: f64,
    /// Tables for which no room is left.
    pub left_out: Vec<String>,
    /// Tables of which no size is known.
    pub unknown: Vec<String>,
}

/// What fits. In the order of `tables` where that is the user's, else those that save most bytes of disk for each
/// byte of memory first; a table that does not fit any more is passed over. The upper ends of the intervals count.
pub fn fit(tables: &[SizedTable], level: Level, memory_bytes: u64, in_order: bool) -> Fit {
    let mut fit = Fit {
        level,
        tables: Vec::new(),
        bytes_high: 0.0,
        left_out: Vec::new(),
        unknown: Vec::new(),
    };
    let mut known: Vec<(&SizedTable, f64)> = Vec::new();
    for table in tables {
        match table.at(level) {
            Some(size) => known.push((table, size.high)),
            None => fit.unknown.push(table.label.clone()),
        }
    }
    if !in_order {
        let worth = |(table, high): &(&SizedTable, f64)| {
            table
                .disk_bytes
                .map_or(0.0, |disk| disk as f64 / high.max(1.0))
        };
        known.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
    }
    for (table, high) in known {
        match fit.bytes_high + high <= memory_bytes as f64 {
            true => {
                fit.bytes_high += high;
                fit.tables.push(table.label.clone());
            }
            false => fit.left_out.push(table.label.clone()),
        }
    }
    fit
}

/// Cores for users who each ask with so many threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cores {
    /// Threads that run at the same time.
    pub threads: u64,
    /// One core for each.
    pub ample: u64,
    /// The fewest, each with [`THREADS_PER_CORE`].
    pub fewest: u64,
}

/// The rule: users × threads, and no more than [`THREADS_PER_CORE`] on a core.
pub fn cores(users: u32, threads: u32) -> Cores {
    let threads = u64::from(users) * u64::from(threads);
    Cores {
        threads,
        ample: threads,
        fewest: threads.div_ceil(u64::from(THREADS_PER_CORE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columnar::size::tests::sized;

    #[test]
    fn what_saves_most_disk_for_its_memory_comes_first() {
        let tables = [
            sized("poor", 100, Some(90.0)),
            sized("good", 400, Some(100.0)),
            sized("large", 9000, Some(1000.0)),
            sized("unknown", 10, None),
        ];
        let found = fit(&tables, Level::None, 180, false);
        assert_eq!(
            (&found.tables[..], found.bytes_high),
            (&["good".to_owned()][..], 100.0)
        );
        assert_eq!(found.left_out, ["large", "poor"]);
        assert_eq!(found.unknown, ["unknown"]);
        let named = fit(&tables, Level::None, 180, true);
        assert_eq!(
            (&named.tables[..], named.bytes_high),
            (&["poor".to_owned()][..], 90.0)
        );
        assert!(fit(&tables, Level::None, 0, false).tables.is_empty());
    }

    #[test]
    fn two_threads_a_core_at_most() {
        let found = cores(5, 3);
        assert_eq!((found.threads, found.ample, found.fewest), (15, 15, 8));
        assert_eq!(cores(1, 1).fewest, 1);
    }
}
