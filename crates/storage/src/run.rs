//! Definition of one run: everything the engine needs, with loops, defaults and overrides resolved.
//!
//! It is plain data without I/O, in the terms of parameter files: SD (storage definition: a file or device), WD
//! (workload definition: the I/Os on SDs), RD (run definition: the rate and duration of WDs). A *stream* is one WD on
//! one SD (or on several that are concatenated), with one order of addresses and one arrival process.

mod fill;
mod pace;
mod place;
mod stream;

pub use fill::{FILL_TRANSFER_BYTES, fill_transfer_bytes};
pub use pace::{Arrivals, CurvePoint, DataLimit, Rate, RateStep, Stop, curve_rate_iops};
pub use place::{
    DataContent, Dedup, DuplicateSets, Journal, OpenFlags, Range, StorageDefinition, Validation,
};
pub use stream::{Seek, Sizes, Stream, Stride, WeightedSize};

#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Name of the RD, with the suffixes of curves and splits by SD: `rd1_(50%)`, `rd2_sd1`.
    pub name: String,
    /// Values of the loops, outermost first: `threads=1 xfersize=4k`; empty without loops.
    pub loops: String,
    /// Seconds that count, including the first interval if the warm-up is 0; `None`: until all streams have ended.
    pub elapsed_s: Option<u32>,
    /// Length of an interval; elapsed and warm-up are multiples of it.
    pub interval_s: u32,
    /// Seconds before those of `elapsed_s`, reported but not counted.
    pub warmup_s: u32,
    /// Seconds of rest before the run; the first run has none.
    pub pause_s: u32,
    pub rate: Rate,
    /// Distribution of the gaps between intended starts, for a numeric rate.
    pub arrivals: Arrivals,
    pub stop: Stop,
    pub errors: ErrorLimit,
    /// Repetition until the figures are steady; `None`: the run is carried out once.
    pub steady: Option<Steady>,
    /// SDs of the run; each is opened once, however many streams use it.
    pub storage: Vec<StorageDefinition>,
    /// I/Os in flight over all streams and SDs together, if SDs are concatenated; `None`: each SD has its own limit.
    pub threads_shared: Option<u32>,
    pub streams: Vec<Stream>,
}

/// Rounds until figures are steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steady {
    pub rounds_max: u32,
    /// Number of a matrix: consecutive runs with the same number take turns in each round. `None`: the run repeats by
    /// itself.
    pub matrix: Option<usize>,
}

/// Tolerated number of failed I/Os or corrupted blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorLimit {
    pub count_max: u32,
    /// The run also ends this many seconds after the first failure.
    pub after_first_s: Option<u32>,
}

impl Default for ErrorLimit {
    fn default() -> Self {
        let (count_max, after_first_s) = (50, None);
        Self {
            count_max,
            after_first_s,
        }
    }
}

impl Run {
    #[must_use]
    pub fn with_rate(&self, rate: Rate) -> Self {
        Self {
            rate,
            ..self.clone()
        }
    }

    #[must_use]
    pub fn loops_text(&self) -> &str {
        if self.loops.is_empty() {
            "None"
        } else {
            &self.loops
        }
    }

    /// Number of intervals; `None`: the run continues until all streams have ended.
    #[must_use]
    pub fn intervals(&self) -> Option<u32> {
        let elapsed_s = self.elapsed_s?;
        Some((elapsed_s + self.warmup_s) / self.interval_s.max(1))
    }

    /// First interval that counts, from 1. Without a warm-up the first interval is reported and does not count, so
    /// this is never 1.
    #[must_use]
    pub fn first_counted_interval(&self) -> u32 {
        (self.warmup_s / self.interval_s.max(1)).max(1) + 1
    }

    /// Seconds that count; `None` if unknown in advance.
    #[must_use]
    pub fn counted_s(&self) -> Option<u32> {
        let counted = (self.intervals()? + 1).saturating_sub(self.counts_from_interval());
        Some(counted * self.interval_s.max(1))
    }

    /// First interval in the figures: a run that ends by itself has no warm-up to exclude, and may end within its
    /// first interval.
    #[must_use]
    pub fn counts_from_interval(&self) -> u32 {
        match self.elapsed_s {
            Some(_) => self.first_counted_interval(),
            None => 1,
        }
    }

    /// True if `next`, which follows this run, takes turns with it.
    #[must_use]
    pub fn takes_turns_with(&self, next: &Run) -> bool {
        let matrix = |run: &Run| run.steady.and_then(|steady| steady.matrix);
        matrix(self).is_some() && matrix(self) == matrix(next)
    }

    /// The streams on SD `index`, or all if SDs are concatenated: their transfers have to be multiples of each other.
    pub(crate) fn streams_beside(&self, index: usize) -> impl Iterator<Item = &Stream> {
        let is_shared = self.threads_shared.is_some();
        let streams = self.streams.iter();
        streams.filter(move |stream| is_shared || stream.storage.contains(&index))
    }

    /// Smallest transfer of these streams, which is the size of a validated block; at least 1.
    pub(crate) fn transfer_bytes_min(&self, index: usize) -> u64 {
        let sizes = self.streams_beside(index);
        let sizes = sizes.flat_map(|stream| stream.sizes.parts_bytes());
        sizes.min().unwrap_or(0).max(1)
    }

    /// True if any stream writes to SD `index`; otherwise it is opened read-only.
    #[must_use]
    pub fn writes_to(&self, index: usize) -> bool {
        let mut streams = self.streams.iter();
        streams.any(|stream| stream.read_pct < 100.0 && stream.storage.contains(&index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(elapsed_s: u32, interval_s: u32, warmup_s: u32) -> Run {
        Run {
            elapsed_s: Some(elapsed_s),
            interval_s,
            warmup_s,
            ..Run::fill("rd1", String::new(), Vec::new(), Vec::new())
        }
    }

    /// Real outputs show `avg_2-5`, `avg_2-5` and `avg_6-15`.
    #[test]
    fn warm_up_is_counted_as_the_outputs_do() {
        for (run, intervals, first) in [
            (run(5, 1, 0), 5, 2),
            (run(4, 1, 1), 5, 2),
            (run(10, 1, 5), 15, 6),
            (run(300, 5, 60), 72, 13),
        ] {
            assert_eq!(run.intervals(), Some(intervals));
            assert_eq!(run.first_counted_interval(), first);
        }
        assert_eq!(run(5, 1, 0).counted_s(), Some(4));
        assert_eq!(run(300, 5, 60).counted_s(), Some(300));
    }

    #[test]
    fn a_run_without_an_end_has_no_number_of_intervals() {
        let mut format = run(1, 1, 0);
        format.elapsed_s = None;
        assert_eq!(format.intervals(), None);
        assert_eq!(format.counts_from_interval(), 1);
        assert_eq!(run(1, 1, 0).counts_from_interval(), 2);
        assert_eq!(format.loops_text(), "None");
    }
}
