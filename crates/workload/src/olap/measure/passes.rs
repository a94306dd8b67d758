//! Queries asked in whole passes for a time: each user asks all of them, again and again, and ends with the pass in
//! which the time is over. So every query weighs alike, however long it takes.

use std::time::{Duration, Instant};

use crate::olap::work::Cache;
use ::load::{BlockingClient, Done, Failure, Progress};

use super::asked::Asking;
use super::points::PointContext;
use lab::Measured;

/// Passes of a user at most.
pub(super) const PASSES_MAX: u64 = 100_000;

/// Asks every query once, waits until `begin` lets it go on, and asks in passes for at least so long.
pub(crate) fn in_passes(
    place: &PointContext,
    least: Duration,
    progress: &Progress,
    begin: impl FnOnce() -> bool,
) -> Measured {
    place.at_degree(|| passes(place, least, progress, begin))
}

fn passes(
    place: &PointContext,
    least: Duration,
    progress: &Progress,
    begin: impl FnOnce() -> bool,
) -> Measured {
    let work = match place.work() {
        Ok(work) => work,
        Err(error) => return place.failed(error),
    };
    for number in place.olap.queries() {
        let prepared = place
            .go_on()
            .and_then(|()| work.prepare(number, Cache::Warm));
        match prepared {
            Ok(Ok(_)) => {}
            Ok(Err(wrong)) => return place.without_figures(format!("Q{number}: {wrong}")),
            Err(error) => return place.failed(error),
        }
    }
    if !begin() {
        return Measured::Interrupted;
    }
    let measured = Asking::in_passes(place, least).measure(place, &work, progress);
    let mut measured = measured.unwrap_or_else(|error| place.failed(error));
    if let Measured::Points(points) = &mut measured {
        for point in points {
            point.work.mode = "time".into();
            point.work.seconds = Some(least.as_secs_f64());
            point.work.operations_per_job = None;
            place.tell_degree(point);
        }
    }
    measured
}

/// A user who asks in whole passes.
pub(super) struct Passes<'s> {
    pub client: Box<dyn BlockingClient + 's>,
    /// Queries of a pass.
    pub queries: u64,
    pub least: Duration,
    /// When the first pass began.
    pub begun: Option<Instant>,
}

impl BlockingClient for Passes<'_> {
    fn operate(&mut self, index: u64) -> Result<Done, Failure> {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        if index > 0 && index.is_multiple_of(self.queries) && begun.elapsed() >= self.least {
            return Err(Failure::Exhausted);
        }
        self.client.operate(index)
    }

    fn measurement_begins(&mut self) {
        self.client.measurement_begins();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Quick;

    impl BlockingClient for Quick {
        fn operate(&mut self, _index: u64) -> Result<Done, Failure> {
            Ok(Done::default())
        }
    }

    fn asked(least: Duration) -> u64 {
        let mut user = Passes {
            client: Box::new(Quick),
            queries: 3,
            least,
            begun: None,
        };
        (0..)
            .take_while(|index| user.operate(*index).is_ok())
            .count() as u64
    }

    #[test]
    fn a_pass_is_never_left_in_its_middle() {
        assert_eq!(asked(Duration::ZERO), 3, "one pass at least");
        let many = asked(Duration::from_millis(20));
        assert!(many > 3 && many.is_multiple_of(3), "{many}");
    }
}
