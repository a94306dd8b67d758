//! A ring of observations: one in each interval of the clock, of which the newest are kept.

use std::time::{Duration, SystemTime};

use anyhow::Result;

use super::times::{Times, unix_s};
use super::turn::{Kept, Turns};
use crate::exit::{InvalidInput, Status};

/// Longest sleep between two looks at the clock and the stop flag.
const NAP: Duration = Duration::from_millis(200);
const WEEK_S: u64 = 7 * 24 * 3600;

/// When its turns are, and how long their runs are kept.
#[derive(Debug, Clone)]
pub(super) struct Ring {
    pub times: Times,
    /// How long each turn takes, in seconds.
    pub length_s: u64,
    /// Runs are kept so long, in seconds; for ever where nothing is said.
    pub keep_s: Option<u64>,
}

impl Ring {
    /// What is wrong in it.
    ///
    /// # Errors
    /// Times that contradict each other, and a name that cannot be that of a run.
    pub fn check(&self) -> Result<()> {
        let refuse = |why: String| Err(InvalidInput(why).into());
        if self.times.every_s == 0 {
            return refuse("--every must be a second or more".into());
        }
        if self.length_s >= self.times.every_s {
            return refuse("--for must be shorter than --every".into());
        }
        if self
            .keep_s
            .is_some_and(|keep_s| keep_s < self.times.every_s)
        {
            return refuse("--keep must be as long as --every, or longer".into());
        }
        archive::store::check_label(&self.times.label(0))?;
        Ok(())
    }

    /// Observes until its user wants the end.
    ///
    /// # Errors
    /// What keeps the first turn from being measured at all, and the archive.
    pub fn turn(&self, turns: &mut dyn Turns) -> Result<Status> {
        turns.tidy()?;
        let mut last = None;
        while let Some((interval, label)) = self.next(last, turns)? {
            if turns.observe(&label)? {
                self.advise(interval, &label, turns)?;
                self.remove_surplus(turns)?;
            }
            last = Some(interval);
        }
        Ok(Status::Interrupted)
    }

    /// Waits for the next turn: the interval that it is in, and what its run is called; `None` when its user wants the end.
    fn next(&self, last: Option<u64>, turns: &mut dyn Turns) -> Result<Option<(u64, String)>> {
        // A turn that was measured before this process began is not measured again.
        let first = self.times.interval(turns.now());
        let is_taken =
            last.is_none() && turns.is_taken(&self.times.label(self.times.begin_s(first)))?;
        let mut passed = if is_taken { Some(first) } else { last };
        loop {
            let now = turns.now();
            let interval = self.times.interval(now);
            if passed != Some(interval) {
                let into_s = unix_s(now) - self.times.begin_s(interval);
                if into_s + self.length_s <= self.times.every_s {
                    self.tell_left_out(last, interval, turns);
                    return Ok(Some((interval, self.free_label(interval, turns)?)));
                }
                // What is left of it is too short.
                passed = Some(interval);
            }
            let end_s = self.times.begin_s(interval + 1);
            let left = Duration::from_secs(end_s).saturating_sub(
                now.duration_since(SystemTime::UNIX_EPOCH)
                    .unwrap_or_default(),
            );
            if !turns.sleep(left.min(NAP)) {
                return Ok(None);
            }
        }
    }

    /// The name of a turn; a number behind it tells it from that of a turn which the clock, set back, had in the same interval.
    fn free_label(&self, interval: u64, turns: &dyn Turns) -> Result<String> {
        let label = self.times.label(self.times.begin_s(interval));
        let mut free = label.clone();
        let mut number = 2;
        while turns.is_taken(&free)? {
            free = format!("{label}-{number}");
            number += 1;
        }
        Ok(free)
    }

    fn tell_left_out(&self, last: Option<u64>, interval: u64, turns: &dyn Turns) {
        let Some(last) = last else {
            return;
        };
        if interval < last {
            turns.say("the clock was set back; names of runs go on from the time that it shows");
        }
        let missed = interval.saturating_sub(last + 1);
        if missed > 0 {
            let label = |interval| self.times.label(self.times.begin_s(interval));
            turns.say(&match missed {
                1 => format!("turn {} was left out: its time had passed", label(last + 1)),
                n => format!(
                    "{n} turns from {} to {} were left out: their time had passed",
                    label(last + 1),
                    label(interval - 1)
                ),
            });
        }
    }

    /// The same time of the week before, where that was observed.
    fn advise(&self, interval: u64, label: &str, turns: &dyn Turns) -> Result<()> {
        let before_s = self.times.begin_s(interval).checked_sub(WEEK_S);
        let before = before_s.map(|begin_s| self.times.label(begin_s));
        if let Some(before) = before
            && turns.is_taken(&before)?
        {
            turns.say(&format!(
                "beside the same time a week before: dbdyno compare {before} {label}"
            ));
        }
        Ok(())
    }

    fn remove_surplus(&self, turns: &mut dyn Turns) -> Result<()> {
        let Some(keep_s) = self.keep_s else {
            return Ok(());
        };
        let surplus = surplus(
            turns.kept()?,
            unix_s(turns.now()),
            keep_s,
            self.times.every_s,
        );
        surplus.iter().try_for_each(|run| turns.remove(run))
    }
}

/// The runs that are older than they are kept. As many as fit in that time stay however old they are: a clock that is set forward
/// removes no more than turns take their place.
fn surplus(mut kept: Vec<Kept>, now_s: u64, keep_s: u64, every_s: u64) -> Vec<Kept> {
    kept.sort_by_key(|run| std::cmp::Reverse((run.begin_s, run.id)));
    let stay = usize::try_from(keep_s.div_ceil(every_s)).unwrap_or(usize::MAX);
    let older = kept.into_iter().skip(stay);
    older
        .filter(|run| run.begin_s.saturating_add(keep_s) <= now_s)
        .collect()
}

#[cfg(test)]
mod tests;
