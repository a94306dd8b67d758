//! Rounds over one run, or over all runs of a matrix in turn, until the judged figures are steady.
//!
//! SNIA's specification repeats the whole matrix of a test in each round and judges only by random writes of 4 KiB,
//! which move solid state storage out of its steady state. A run without rounds is a matrix of one run in one round.

use super::monitor::Monitored;
use super::rounds::{Decides, Series};
use super::{Completion, Execution, ExecutionError, Measured};
use crate::engine::{self, Reached};
use crate::run::{Run, Seek, Stream};

/// Smaller transfers are in the specification's matrix, and do not count for its verdict.
const JUDGED_BYTES_MIN: u64 = 4096;

impl Execution<'_> {
    pub(super) fn in_turns(
        &mut self,
        repetition: u32,
        first: usize,
        lines: &[Run],
        options: &engine::Options<'_>,
    ) -> Result<(Vec<Reached>, Option<Completion>), ExecutionError> {
        let mut all: Vec<Series<'_>> = lines.iter().map(Series::of).collect();
        let decisive = decisive(lines);
        // Results before an error are stored as well.
        let turned = self.turns(first, &mut all, &decisive, options);
        let monitor = *turned.as_ref().unwrap_or(&None);
        let mut reached = Vec::with_capacity(lines.len());
        let (mut end, mut error) = (None, turned.err());
        for (index, series) in all.into_iter().enumerate() {
            let decides = match (lines.len(), decisive.contains(&index)) {
                (1, _) => Decides::Alone,
                (_, true) => Decides::ForAll,
                (_, false) => Decides::Not,
            };
            let run = &lines[index];
            let Some((round, steadiness)) = series.finish(decides) else {
                reached.push(Reached::default());
                continue;
            };
            let findings = steadiness.as_ref().map(|it| it.remarks(run));
            let findings = findings.into_iter().flatten().collect();
            let measured = Measured {
                steadiness,
                monitor,
                ..Measured::of(run.clone(), round, findings)
            };
            match self.conclude(repetition, first + index, &measured) {
                Ok((this, ends)) => {
                    reached.push(this);
                    end = end.or(ends);
                }
                Err(wrong) => error = error.or(Some(wrong)),
            }
        }
        // The execution was stopped before anything began.
        end = end.or_else(|| self.stopped().then_some(Completion::Interrupted));
        error.map_or(Ok((reached, end)), Err)
    }

    /// Repeats rounds until the decisive runs are steady or the limit is reached; returns the monitor file's request.
    fn turns(
        &mut self,
        first: usize,
        all: &mut [Series<'_>],
        decisive: &[usize],
        options: &engine::Options<'_>,
    ) -> Result<Option<Monitored>, ExecutionError> {
        loop {
            for (number, series) in (first..).zip(all.iter_mut()) {
                if !self.rest(series.run) {
                    return Ok(None);
                }
                let options = engine::Options {
                    // No round repeats the I/Os of the previous one.
                    seed: options.seed.wrapping_add(series.done() as u64),
                    ..*options
                };
                let (round, monitor) = self.round(number, &series.next(), &options)?;
                let is_whole = round.is_whole();
                series.take(round);
                if !is_whole || monitor.is_some() || self.stopped() {
                    return Ok(monitor);
                }
            }
            let is_steady = decisive.iter().all(|index| all[*index].is_steady());
            let are_enough = |series: &Series<'_>| {
                let rounds_max = series.run.steady.map_or(1, |steady| steady.rounds_max);
                series.done() >= rounds_max as usize
            };
            if is_steady || all.iter().all(are_enough) {
                return Ok(None);
            }
        }
    }
}

/// The runs that decide for all: among those with the most random I/Os those that write most, and among these those
/// with the smallest transfers of at least 4 KiB. Several may be equal.
fn decisive(lines: &[Run]) -> Vec<usize> {
    let ranks: Vec<[f64; 3]> = lines.iter().map(rank).collect();
    let order = |a: &[f64; 3], b: &[f64; 3]| {
        let pairs = a.iter().zip(b);
        let orders = pairs.map(|(a, b)| a.total_cmp(b));
        orders.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    };
    let Some(best) = ranks.iter().copied().min_by(order) else {
        return Vec::new();
    };
    (0..lines.len())
        .filter(|index| ranks[*index] == best)
        .collect()
}

/// Rank of a run, lowest first: sequential I/Os and reads in percent, and the size; means over its streams.
fn rank(run: &Run) -> [f64; 3] {
    let mean = |of: fn(&Stream) -> f64| {
        let sum: f64 = run.streams.iter().map(of).sum();
        sum / run.streams.len().max(1) as f64
    };
    let sequential = |stream: &Stream| match stream.seek {
        Seek::Random { pct } => 100.0 - pct,
        Seek::Poisson { .. } => 0.0,
        Seek::Sequential | Seek::SequentialToEnd | Seek::SequentialFromRandom => 100.0,
    };
    let size = |stream: &Stream| {
        let bytes = stream.size_bytes_max();
        let is_judged = bytes >= JUDGED_BYTES_MIN;
        // Transfers that are too small come last, the largest of them first.
        if is_judged {
            bytes as f64
        } else {
            1e15 - bytes as f64
        }
    };
    [mean(sequential), mean(|stream| stream.read_pct), mean(size)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Range, Sizes};

    fn run(bytes: u64, read_pct: f64, seek: Seek) -> Run {
        let stream = Stream {
            sizes: Sizes::Fixed(bytes),
            read_pct,
            seek,
            ..Stream::fill("wd1", 0, 512, Range::Whole)
        };
        Run::fill("rd1", String::new(), Vec::new(), vec![stream])
    }

    #[test]
    fn random_writes_of_4_kib_decide() {
        let random = Seek::Random { pct: 100.0 };
        let mut matrix = vec![
            run(512, 0.0, random),
            run(4096, 65.0, random),
            run(4096, 0.0, Seek::Sequential),
            run(8192, 0.0, random),
            run(4096, 0.0, random),
        ];
        assert_eq!(decisive(&matrix), [4]);
        // Another run differs only in threads.
        matrix.push(matrix[4].clone());
        assert_eq!(decisive(&matrix), [4, 5]);
        // Without such runs the nearest ones decide.
        assert_eq!(decisive(&matrix[..4]), [3]);
        assert_eq!(decisive(&matrix[..3]), [0]);
        assert_eq!(decisive(&matrix[1..3]), [0], "random before writes");
        assert_eq!(decisive(&[]), [] as [usize; 0]);
    }
}
