//! Shares of the WDs in the rate of a run.

use super::error::Result;
use super::rd::Rd;
use super::wd::{PERCENT_TOLERANCE, Wd};
use super::words::Definition;

pub(super) struct Shares {
    /// Part of the rate of each WD, from 0 to 1; together 1. WDs with a separate rate have 0.
    pub of_workloads: Vec<f64>,
    /// A run at maximum rate observes these shares.
    pub controlled: bool,
}

/// Requested shares, and equal parts of the remainder for the other WDs.
pub(super) fn shares(rd: &Rd, wds: &[&Wd]) -> Result<Shares> {
    priorities(rd, wds)?;
    let sharing = || wds.iter().filter(|wd| wd.iops.is_none());
    let total_pct: f64 = sharing().map(|wd| wd.skew_pct).sum();
    let open = sharing().filter(|wd| wd.skew_pct == 0.0).count();
    let requested = sharing().count() - open;
    let left_pct = 100.0 - total_pct;
    if left_pct < -PERCENT_TOLERANCE || (requested > 0 && open == 0 && left_pct > PERCENT_TOLERANCE)
    {
        return Err(rd.wrong(format!(
            "Total skew must add up to 100: {total_pct:.2}; change skew= of its WDs, or leave it out of one"
        )));
    }
    if requested > 0 && open > 0 && left_pct < PERCENT_TOLERANCE {
        let what = "skew= of some WDs adds up to 100, so nothing is left for the other WDs; give them skew= too";
        return Err(rd.wrong(what));
    }
    let controls = |wd: &&Wd| wd.skew_pct > 0.0 || wd.iops.is_some() || wd.priority.is_some();
    let share = |wd: &&Wd| match (wd.iops, wd.skew_pct > 0.0) {
        (Some(_), _) => 0.0,
        (None, true) => wd.skew_pct / 100.0,
        (None, false) => left_pct / 100.0 / open as f64,
    };
    Ok(Shares {
        of_workloads: wds.iter().map(share).collect(),
        controlled: wds.iter().any(controls),
    })
}

/// Priorities must be given for all WDs or none, from 1 without a gap, and exclude `skew=`.
fn priorities(rd: &Rd, wds: &[&Wd]) -> Result<()> {
    let wrong = |what: &str| Err(rd.wrong(what));
    let is_open = |wd: &&Wd| wd.iops.is_some() && wd.priority.is_none();
    if wds.iter().any(is_open) {
        return wrong("a WD with iorate= needs priority=; give one to each of the WDs");
    }
    let mut found: Vec<u32> = wds.iter().filter_map(|wd| wd.priority).collect();
    if found.is_empty() {
        return Ok(());
    }
    if found.len() < wds.len() {
        return wrong("some WDs have priority= and others do not; give it to all of them");
    }
    if wds.iter().any(|wd| wd.skew_pct > 0.0) {
        return wrong("priority= and skew= exclude each other; leave one of them out");
    }
    found.sort_unstable();
    found.dedup();
    if !found.iter().copied().eq(1..=found.len() as u32) {
        return wrong("priorities must start at 1 and have no gaps");
    }
    Ok(())
}
