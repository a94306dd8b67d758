//! Pairs whose two blocks are measured in alternating slices: see [`crate::alternate`].

use std::sync::Arc;
use std::time::Duration;

use archive::{Archive, Missing, Point, PointKey, Remark};
use load::Progress;

use super::Whole;
use super::slices::Layout;
use super::stand::Standing;
use crate::alternate::Sides;
use crate::checks::slices_of;
use crate::error::{LabError, Result};
use crate::observer::Observer;
use crate::signal;
use crate::work::Queue;

impl Whole<'_> {
    pub(super) fn pair_in_turn(
        &self,
        archive: &mut Archive,
        pair: u32,
        slice: Duration,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        self.leave_torn_out(archive, pair)?;
        let queues = [self.queue(archive, 0, pair)?, self.queue(archive, 1, pair)?];
        if queues.iter().all(|queue| queue.todo.is_empty()) {
            Ok(())
        } else {
            self.pair_in_slices(archive, pair, slice, &queues, observer)
        }
    }

    /// Removes points of only one side, which the interrupted study left without a counterpart.
    fn leave_torn_out(&self, archive: &mut Archive, pair: u32) -> Result<()> {
        let there = [
            archive.finished(self.ids[0])?,
            archive.finished(self.ids[1])?,
        ];
        for (side, id) in self.ids.iter().copied().enumerate() {
            // Both sides plan the same points in the same order, with possibly different jobs.
            let of_pair = |id: i64| -> Result<Vec<PointKey>> {
                let planned = archive.planned(id)?.into_iter();
                Ok(planned.filter(|key| key.repetition == pair).collect())
            };
            let (own, others) = (of_pair(id)?, of_pair(self.ids[1 - side])?);
            let torn = own.into_iter().zip(others).filter(|(own, other)| {
                !there[side].contains(own) && there[1 - side].contains(other)
            });
            let torn: Vec<PointKey> = torn.map(|(own, _)| own).collect();
            let Some(first) = torn.first() else { continue };
            let missing = Missing {
                target: first.target,
                test: first.test.clone(),
                title: first.test.clone(),
                reason: Remark::PairTorn { pair },
            };
            archive.skip(id, &torn, &missing)?;
        }
        Ok(())
    }

    fn pair_in_slices(
        &self,
        archive: &mut Archive,
        pair: u32,
        slice: Duration,
        queues: &[Queue; 2],
        observer: &mut dyn Observer,
    ) -> Result<()> {
        if signal::stop_flag().load(std::sync::atomic::Ordering::Relaxed) {
            return Err(self.resumable(queues[0].interrupted(queues[0].finished)));
        }
        // The random order decides which side is opened and prepared first.
        let first = usize::from(self.order.as_bytes()[2 * (pair as usize - 1)] == b'b');
        let layout = Layout::of(self.sides, self.workloads)?;
        let standing = Standing::open(self.sides, self.workloads, first, layout)?;
        let slices = slices_of(slice, self.seed ^ u64::from(pair));
        let sides = Sides::new(slices, first, layout.tables());
        let measured = self.take_turns(archive, &sides, queues, &standing, observer);
        // The first error is the one to report; the next pair removes the rest.
        measured.and(standing.close())
    }

    fn take_turns(
        &self,
        archive: &mut Archive,
        sides: &Sides,
        queues: &[Queue; 2],
        standing: &Standing,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let mut second = Archive::open(archive.path())?;
        let mut seen = SideBacklog::default();
        let (first, other) = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let side = sides.side(1);
                self.work(1, standing.of(1), Some(&side)).measure_all(
                    &mut second,
                    &queues[1],
                    &mut seen,
                )
            });
            let first = {
                let side = sides.side(0);
                self.work(0, standing.of(0), Some(&side))
                    .measure_all(archive, &queues[0], observer)
            };
            (first, other.join())
        });
        seen.show(observer);
        let other = other.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // A side is also interrupted when the other one ends, which then has the reason.
        match (first, other) {
            (Err(LabError::Interrupted { .. }), Err(error)) | (Err(error), _) | (_, Err(error)) => {
                Err(self.resumable(error))
            }
            (Ok(()), Ok(())) => Ok(()),
        }
    }
}

/// Stores the points of the displayed side until both are measured.
#[derive(Default)]
struct SideBacklog {
    begun: Vec<(PointKey, String, String)>,
    ended: Vec<Point>,
}

impl SideBacklog {
    fn show(&self, observer: &mut dyn Observer) {
        for point in &self.ended {
            let begun = self.begun.iter().find(|(key, ..)| *key == point.key);
            if let Some((key, title, target)) = begun {
                observer.point_begins(key, title, target, &Arc::default());
            }
            observer.point_ends(point);
        }
    }
}

impl Observer for SideBacklog {
    fn begins(&mut self, _label: &str, _planned: usize, _todo: usize) {}

    fn point_begins(&mut self, key: &PointKey, title: &str, target: &str, _: &Arc<Progress>) {
        (self.begun).push((key.clone(), title.to_owned(), target.to_owned()));
    }

    fn point_ends(&mut self, point: &Point) {
        self.ended.push(point.clone());
    }
}
