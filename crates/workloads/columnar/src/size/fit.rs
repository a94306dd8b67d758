//! Tables that fit in a given memory, and cores for the users who query them.

use archive::reference::{Cell, PublishedTable, Reference};
use column_store::Level;
use stats::Interval;
use verdict::cores::THREADS_PER_CORE;

use super::SizedTable;

#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub level: Level,
    /// Tables that fit together, in the order in which they were chosen.
    pub tables: Vec<String>,
    /// Upper limit of their bytes, from the upper ends of their intervals.
    pub bytes_high: f64,
    pub left_out: Vec<String>,
    pub unknown: Vec<String>,
}

/// Chooses tables in the user's order if `in_order`, else by saved disk bytes per byte of memory; a table that no
/// longer fits is skipped. Sizes are the upper ends of the intervals.
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
        if fit.bytes_high + high <= memory_bytes as f64 {
            fit.bytes_high += high;
            fit.tables.push(table.label.clone());
        } else {
            fit.left_out.push(table.label.clone())
        }
    }
    fit
}

/// Cores for users whose queries use several threads each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cores {
    pub threads: u64,
    pub ample: u64,
    /// Fewest cores, each with [`THREADS_PER_CORE`].
    pub fewest: u64,
}

/// Users × threads, at most [`THREADS_PER_CORE`] per core.
pub fn cores(users: u32, threads: u32) -> Cores {
    let threads = u64::from(users) * u64::from(threads);
    Cores {
        threads,
        ample: threads,
        fewest: threads.div_ceil(u64::from(THREADS_PER_CORE)),
    }
}

impl Cores {
    /// Cores out of so many that can be removed.
    pub fn left_of(&self, cores: u64) -> u64 {
        cores.saturating_sub(self.fewest)
    }

    pub fn short_of(&self, cores: u64) -> u64 {
        self.fewest.saturating_sub(cores)
    }
}

/// Bytes on disk of tables that fit in a memory.
pub fn holds(memory_bytes: u64, factor: Interval) -> Interval {
    factor.map(|factor| memory_bytes as f64 * factor)
}

/// Memory for tables of so many bytes on disk. A larger factor needs less.
pub fn needs(disk_bytes: u64, factor: Interval) -> Interval {
    let by = |factor: f64| disk_bytes as f64 / factor;
    Interval {
        estimate: by(factor.estimate),
        low: by(factor.high),
        high: by(factor.low),
        confidence: factor.confidence,
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    /// Where it stands: "Table 1".
    pub place: String,
    pub disk_bytes: f64,
    /// Size on disk ÷ size in memory of all tables, by level.
    pub factors: Vec<(Level, f64)>,
}

pub fn published(reference: &Reference) -> Vec<Published> {
    let of_sizes = reference
        .tables
        .iter()
        .filter(|table| table.kind == "sizes");
    of_sizes.filter_map(published_in).collect()
}

fn published_in(table: &PublishedTable) -> Option<Published> {
    let row = table
        .rows
        .iter()
        .find(|row| row.cells.first() == Some(&Cell::Text("Total".into())))?;
    let number = |column: &str| {
        let at = table.columns.iter().position(|name| name == column)?;
        match row.cells.get(at)? {
            Cell::Number(gb) => Some(*gb),
            _ => None,
        }
    };
    let disk_gb = number("Table Size GB")?;
    let of_level = |level: &Level| {
        let words = level.name().split('-').map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_uppercase() + rest
        });
        let memory_gb = number(&format!("{} Size GB", words.collect::<Vec<_>>().join(" ")))?;
        Some((*level, disk_gb / memory_gb))
    };
    Some(Published {
        place: table.place.clone(),
        disk_bytes: disk_gb * 1e9,
        factors: Level::ALL.iter().filter_map(of_level).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::tests::sized;

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

    /// Document 000: 5 users with 128 threads are 640 threads, too many for its 72 cores at two threads each; with 14
    /// threads 35 cores suffice, and 37 can be removed.
    #[test]
    fn cores_that_may_be_taken_out() {
        let many = cores(5, 128);
        assert_eq!((many.threads, many.fewest, many.left_of(72)), (640, 320, 0));
        assert_eq!((many.short_of(72), many.short_of(320)), (248, 0));
        let few = cores(5, 14);
        assert_eq!((few.ample, few.fewest, few.left_of(72)), (70, 35, 37));
    }

    /// By hand from the totals of tables 1 and 2: 358.22 ÷ 214.19, 178.47, 108.70, 73.85 and 3,536.86 ÷ 2,230.34,
    /// 1,847.3, 1,105.19, 753.95. The document truncates them to two digits.
    #[test]
    fn the_factors_of_document_000() {
        let reference = archive::reference::load("dl580-inmemory").unwrap();
        let tables = published(&reference);
        let cut: Vec<Vec<f64>> = tables
            .iter()
            .map(|table| {
                table
                    .factors
                    .iter()
                    .map(|(_, f)| (f * 100.0).floor() / 100.0)
                    .collect()
            })
            .collect();
        assert_eq!(cut, [[1.67, 2.0, 3.29, 4.85], [1.58, 1.91, 3.2, 4.69]]);
        assert_eq!(tables[1].factors[0].0, Level::QueryLow);
        assert_eq!(
            (tables[0].disk_bytes, tables[1].disk_bytes),
            (358.22e9, 3_536.86e9)
        );
    }

    /// The document's own sizing: 6 TB of memory hold more than 6 TB at query low (by table 2: 9.51 TB); and 3 TB of
    /// memory hold a schema "quite a bit larger" (4.76 TB at query low, 14.07 TB at capacity high).
    #[test]
    fn what_memory_holds_and_what_tables_need() {
        let reference = archive::reference::load("dl580-inmemory").unwrap();
        let table = published(&reference).remove(1);
        let exact = |factor| Interval {
            estimate: factor,
            low: factor,
            high: factor,
            confidence: 1.0,
        };
        let tb = |bytes: f64| (bytes / 1e10).round() / 100.0;
        let (low, high) = (table.factors[0].1, table.factors[3].1);
        assert_eq!(tb(holds(6_000_000_000_000, exact(low)).estimate), 9.51);
        assert_eq!(tb(holds(3_000_000_000_000, exact(low)).estimate), 4.76);
        assert_eq!(tb(holds(3_000_000_000_000, exact(high)).estimate), 14.07);
        assert_eq!(tb(needs(3_536_860_000_000, exact(low)).estimate), 2.23);
        let wide = Interval {
            estimate: 2.0,
            low: 1.0,
            high: 4.0,
            confidence: 0.95,
        };
        let need = needs(8, wide);
        assert_eq!((need.low, need.estimate, need.high), (2.0, 4.0, 8.0));
        assert_eq!(holds(8, wide).low, 8.0);
    }
}
