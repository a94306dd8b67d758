//! Studies with interim analyses, planned in advance, that stop once their question is answered.
//!
//! The caller defines an answer: this module counts pairs, watches the time, and archives the analyses that were
//! made, so that the verdict uses intervals that allow for all of them.

use std::time::Duration;

use archive::{Archive, Ended, PlannedAnalysis, Run, RunName, Until};

use crate::error::Result;

/// Decides when a study may stop.
pub trait Stopping {
    fn elapsed(&self) -> Duration;
    /// Interim analyses of a study of at most `pairs`.
    fn analyses(&self, pairs: u32) -> Vec<PlannedAnalysis>;
    /// Reports the plan and the time of a pair: after the first pair, and when the last analysis is postponed.
    fn is_planned(&mut self, until: &Until, pair: Duration);
    /// True if the pairs so far answer the question for all primary metrics.
    fn is_answered(&mut self, a: &Run, b: &Run) -> bool;
}

/// A study between interim analyses.
pub(super) struct Watched<'s> {
    until: Until,
    stopping: &'s mut dyn Stopping,
    /// Seconds before it was resumed.
    before_s: f64,
    ids: [i64; 2],
}

impl<'s> Watched<'s> {
    pub fn new(until: Until, stopping: &'s mut dyn Stopping, ids: [i64; 2]) -> Self {
        Self {
            before_s: until.elapsed_s,
            until,
            stopping,
            ids,
        }
    }

    pub fn stops_after(&mut self, pair: u32, archive: &mut Archive) -> Result<bool> {
        if self.until.ended.is_some() {
            return Ok(true);
        }
        // A resumed study passes its earlier pairs again.
        for id in self.ids {
            if archive
                .finished(id)?
                .iter()
                .any(|key| key.repetition > pair)
            {
                return Ok(false);
            }
        }
        let elapsed = self.stopping.elapsed();
        self.until.elapsed_s = self.before_s + elapsed.as_secs_f64();
        if pair == 1 {
            self.plan_by_time();
            let pair = Duration::from_secs_f64(self.until.elapsed_s);
            self.stopping.is_planned(&self.until, pair);
        }
        let within_s = self.until.within_s;
        let is_over = within_s.is_some_and(|within_s| self.until.elapsed_s >= within_s);
        if is_over {
            self.end_with(pair);
        } else {
            self.put_off(pair, archive)?;
        }
        if self.next_analysis() == Some(pair) {
            self.analyse(archive)?;
        }
        archive.set_until(self.ids, &self.until)?;
        Ok(self.until.ended.is_some())
    }

    fn next_analysis(&self) -> Option<u32> {
        let analysis = self.until.analyses.get(self.until.taken as usize);
        analysis.map(|analysis| analysis.pairs)
    }

    /// Reduces the pairs to the time limit. The time of a pair is the same for either order of the sides, so it says
    /// nothing about the difference, and planning by it spends no error rate.
    fn plan_by_time(&mut self) {
        let Some(within_s) = self.until.within_s else {
            return;
        };
        let fit = (within_s / self.until.elapsed_s).max(1.0) as u32;
        if fit < self.until.pairs() {
            self.until.analyses = self.stopping.analyses(fit);
        }
    }

    /// Postpones the last analysis if the first pair was slower than the later ones and time remains. It has not
    /// spent any error rate yet, and the time still says nothing about the difference.
    fn put_off(&mut self, pair: u32, archive: &Archive) -> Result<()> {
        let planned = archive.planned(self.ids[0])?;
        let drawn = planned
            .iter()
            .map(|key| key.repetition)
            .max()
            .unwrap_or(pair);
        let elapsed_s = self.until.elapsed_s;
        let last = self.until.analyses.last_mut();
        let (Some(within_s), Some(last)) = (self.until.within_s, last) else {
            return Ok(());
        };
        let fit = (within_s / elapsed_s * f64::from(pair)) as u32;
        if last.pairs == pair && fit.min(drawn) > pair {
            last.pairs = fit.min(drawn);
            let mean = Duration::from_secs_f64(elapsed_s / f64::from(pair));
            self.stopping.is_planned(&self.until, mean);
        }
        Ok(())
    }

    /// Makes this pair the last one. Its analysis may spend the remaining error rate.
    fn end_with(&mut self, pair: u32) {
        self.until.analyses.truncate(self.until.taken as usize);
        let spent = 1.0;
        self.until
            .analyses
            .push(PlannedAnalysis { pairs: pair, spent });
    }

    fn analyse(&mut self, archive: &Archive) -> Result<()> {
        self.until.taken += 1;
        let seen = |id: i64| -> Result<Run> {
            let mut run = archive.load_run(&RunName::Id(id))?;
            if let Some(study) = &mut run.study {
                study.until = Some(self.until.clone());
            }
            Ok(run)
        };
        let (a, b) = (seen(self.ids[0])?, seen(self.ids[1])?);
        let drawn = a.study.as_ref().map_or(0, |study| study.rounds() as u32);
        let is_last = self.until.taken as usize == self.until.analyses.len();
        self.until.ended = if self.stopping.is_answered(&a, &b) {
            Some(Ended::Answered)
        } else if !is_last {
            None
        } else if self.until.pairs() < drawn {
            Some(Ended::Time)
        } else {
            Some(Ended::Pairs)
        };
        Ok(())
    }
}
