//! Studies that are looked at before their end, at looks planned in advance, and stop when what they ask is answered.
//!
//! What an answer is, whoever began the study knows: the laboratory counts pairs, watches the time, and keeps in the archive which
//! looks were taken, so that the verdict is drawn from intervals that allow for all of them.

use std::time::Duration;

use archive::{Archive, Ended, PlannedLook, Run, RunName, Until};

use crate::error::Result;

/// Who decides when a study may stop.
pub trait Stopping {
    /// Time since the study began, or was resumed.
    fn elapsed(&self) -> Duration;
    /// The looks of a study of at most so many pairs.
    fn looks(&self, pairs: u32) -> Vec<PlannedLook>;
    /// These are the looks, and a pair takes so much time: after the first pair, and when the last look is put off.
    fn is_planned(&mut self, until: &Until, pair: Duration);
    /// Whether the pairs of the look that was just taken answer what the study asks, for all of its primary metrics.
    fn is_answered(&mut self, a: &Run, b: &Run) -> bool;
}

/// A study on its way from look to look.
pub(super) struct Watched<'s> {
    until: Until,
    stopping: &'s mut dyn Stopping,
    /// Seconds that it took before it was resumed.
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

    /// Whether the study stops after this pair, which is complete.
    pub fn stops_after(&mut self, pair: u32, archive: &mut Archive) -> Result<bool> {
        if self.until.ended.is_some() {
            return Ok(true);
        }
        // A study that is resumed passes its older pairs again.
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
        if self.next_look() == Some(pair) {
            self.look(archive)?;
        }
        archive.set_until(self.ids, &self.until)?;
        Ok(self.until.ended.is_some())
    }

    /// Pairs of the look that comes next.
    fn next_look(&self) -> Option<u32> {
        let look = self.until.looks.get(self.until.taken as usize);
        look.map(|look| look.pairs)
    }

    /// As many pairs as the bound of time allows, if that is fewer. The time of a pair is the same whichever side is which, so it
    /// tells nothing of the difference, and to plan by it spends nothing.
    fn plan_by_time(&mut self) {
        let Some(within_s) = self.until.within_s else {
            return;
        };
        let fit = (within_s / self.until.elapsed_s).max(1.0) as u32;
        if fit < self.until.pairs() {
            self.until.looks = self.stopping.looks(fit);
        }
    }

    /// Puts the last look off, if the first pair was slower than those behind it and the time allows for more. It has not spent
    /// anything yet, and the time still tells nothing of the difference.
    fn put_off(&mut self, pair: u32, archive: &Archive) -> Result<()> {
        let planned = archive.planned(self.ids[0])?;
        let drawn = planned
            .iter()
            .map(|key| key.repetition)
            .max()
            .unwrap_or(pair);
        let elapsed_s = self.until.elapsed_s;
        let last = self.until.looks.last_mut();
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

    /// Makes this pair the last one. Its look may spend what is left.
    fn end_with(&mut self, pair: u32) {
        self.until.looks.truncate(self.until.taken as usize);
        let spent = 1.0;
        self.until.looks.push(PlannedLook { pairs: pair, spent });
    }

    fn look(&mut self, archive: &Archive) -> Result<()> {
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
        let is_last = self.until.taken as usize == self.until.looks.len();
        self.until.ended = match self.stopping.is_answered(&a, &b) {
            true => Some(Ended::Answered),
            false if !is_last => None,
            false if self.until.pairs() < drawn => Some(Ended::Time),
            false => Some(Ended::Pairs),
        };
        Ok(())
    }
}
