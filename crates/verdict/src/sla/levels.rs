//! Degrees of parallelism, as numbers and in words.

use std::collections::BTreeSet;

/// Degree of parallelism; an altered archive may contain any numbers.
pub(super) fn dop((jobs, threads): (u32, u32)) -> u64 {
    u64::from(jobs) * u64::from(threads)
}

/// Degrees of parallelism: "DOP 4", "DOP 4 and 8", "DOP 8 (1 x 8)" with threads.
pub fn levels(levels: &BTreeSet<(u32, u32)>) -> String {
    let one = |level: &(u32, u32)| match *level {
        (_, 1) => dop(*level).to_string(),
        (jobs, threads) => format!("{} ({jobs} x {threads})", dop(*level)),
    };
    let mut sorted: Vec<&(u32, u32)> = levels.iter().collect();
    sorted.sort_by_key(|level| dop(**level));
    let all: Vec<String> = sorted.into_iter().map(one).collect();
    match all.split_last() {
        Some((last, before)) if !before.is_empty() => {
            format!("DOP {} and {last}", before.join(", "))
        }
        _ => format!("DOP {}", all.concat()),
    }
}
