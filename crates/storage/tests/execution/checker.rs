//! Compares a recording of every I/O with its run: operations, sizes, addresses, depth and timing. Features that no
//! example uses (hits, hot bands, strides, mixed sizes in sequence) are refused here and proven in the tests of the
//! engine.

use std::collections::BTreeMap;

use storage::engine::{Operation, Outcome, TraceRecord};
use storage::run::{Arrivals, Range, Rate, Run, Seek, Sizes, Stream};

use super::distribution::{assert_share, distance, exponential, uniform};

const FEWEST: usize = 100;
/// A controlled maximum lets a stream run ahead by this many of its I/Os.
const AHEAD: f64 = 2000.0;
/// Kolmogorov's bound times √n, which one sample in 8000 exceeds.
const DISTANCE_MAX: f64 = 2.2;

type Distribution = fn(f64) -> f64;

/// Asserts that every I/O of `outcome`, and all of them together, comply with `run`.
pub fn check(run: &Run, outcome: &Outcome) {
    let name = format!("{} {}", run.name, run.loops);
    assert_eq!(outcome.faults, [], "{name}: no I/O fails");
    let trace = outcome.trace.as_ref().unwrap();
    assert_eq!(trace.dropped, 0, "{name}: the recording is whole");
    for (index, stream) in run.streams.iter().enumerate() {
        let mut records: Vec<&TraceRecord> =
            trace.records.iter().filter(|r| r.stream == index).collect();
        records.sort_by_key(|r| (r.issued_ns, r.intended_ns));
        let of_stream = OfStream {
            what: format!("{name}, {} on {:?}", stream.workload, stream.storage),
            run,
            stream,
            records,
        };
        of_stream.check();
    }
    check_rest(&name, run, outcome);
    check_depth(&name, run, &trace.records);
    check_shares(&name, run, &trace.records);
}

/// One stream, with its I/Os in the order in which they were taken from its queue.
struct OfStream<'a> {
    what: String,
    run: &'a Run,
    stream: &'a Stream,
    records: Vec<&'a TraceRecord>,
}

impl OfStream<'_> {
    fn check(&self) {
        let (what, stream, n) = (&self.what, self.stream, self.records.len());
        assert!(n >= FEWEST, "{what}: only {n} I/Os");
        assert_eq!(stream.storage.len(), 1, "{what}: concatenation");
        let plain = stream.hot_band.is_none() && stream.stride.is_none();
        assert!(plain && stream.sequential_streams == 1, "{what}");
        assert_eq!((stream.read_hit_pct, stream.write_hit_pct), (0.0, 0.0));
        for record in &self.records {
            assert_eq!(record.storage, stream.storage[0], "{what}: {record:?}");
            assert_eq!(record.result as u64, record.size_bytes, "{what}");
        }
        let reads = self.count(|r| r.operation == Operation::Read);
        assert_share(what, reads, n, stream.read_pct / 100.0, 0.0);
        self.check_sizes();
        self.check_addresses();
        match self.run.rate {
            Rate::Fixed { iops } => self.check_pace(iops * stream.share),
            Rate::Max { .. } => assert!(
                self.records.iter().all(|r| r.intended_ns == r.issued_ns),
                "{what}: nothing is intended at a maximum"
            ),
            ref other => panic!("{what}: {other:?}"),
        }
    }

    fn count(&self, wanted: impl Fn(&TraceRecord) -> bool) -> usize {
        self.records.iter().filter(|record| wanted(record)).count()
    }

    fn check_sizes(&self) {
        let n = self.records.len();
        let mut wanted: BTreeMap<u64, f64> = BTreeMap::new();
        match &self.stream.sizes {
            Sizes::Fixed(bytes) => drop(wanted.insert(*bytes, 1.0)),
            Sizes::Weighted(sizes) => sizes
                .iter()
                .for_each(|size| *wanted.entry(size.bytes).or_default() += size.pct / 100.0),
            other => panic!("{}: {other:?}", self.what),
        }
        for (bytes, share) in &wanted {
            let found = self.count(|r| r.size_bytes == *bytes);
            assert_share(&self.what, found, n, *share, 0.0);
        }
        let known = self.count(|r| wanted.contains_key(&r.size_bytes));
        assert_eq!(known, n, "{}: sizes that nobody requested", self.what);
    }

    /// Usable addresses in whole blocks of the largest transfer on the SD.
    fn bounds(&self) -> (u64, u64) {
        let index = self.stream.storage[0];
        let sd = &self.run.storage[index];
        assert_eq!((sd.offset_bytes, sd.align_bytes), (0, None));
        let beside = self.run.streams.iter();
        let beside = beside.filter(|other| other.storage.contains(&index));
        let block = beside.map(Stream::size_bytes_max).max().unwrap();
        let bytes = sd
            .size_bytes
            .unwrap_or_else(|| std::fs::metadata(&sd.path).unwrap().len());
        let (low, high) = match self.stream.range {
            Range::Whole => (0, bytes),
            Range::Bytes { low, high } => (low, high.min(bytes)),
            other => panic!("{}: {other:?}", self.what),
        };
        (low / block * block, high / block * block)
    }

    fn check_addresses(&self) {
        let (low, high) = self.bounds();
        let within = |r: &TraceRecord| {
            r.offset_bytes >= low
                && r.offset_bytes + r.size_bytes <= high
                && (r.offset_bytes - low).is_multiple_of(r.size_bytes)
        };
        let n = self.records.len();
        assert_eq!(self.count(within), n, "{}: whole blocks within", self.what);
        match (self.stream.seek, &self.stream.sizes) {
            (Seek::Sequential, Sizes::Fixed(block)) => self.check_sequence(low, high, *block, true),
            (Seek::SequentialToEnd, Sizes::Fixed(block)) => {
                self.check_sequence(low, high, *block, false);
            }
            (Seek::Random { pct: 100.0 }, Sizes::Weighted(_)) => self.check_spread(low, high),
            (Seek::Random { pct }, Sizes::Fixed(block)) => {
                self.check_jumps(pct / 100.0, low, high, *block);
                if pct == 100.0 {
                    self.check_spread(low, high);
                }
            }
            other => panic!("{}: {other:?}", self.what),
        }
    }

    /// Asserts that the sequential I/Os are the first blocks of the sequence, each exactly once.
    fn check_sequence(&self, low: u64, high: u64, block: u64, wraps: bool) {
        let blocks = (high - low) / block;
        let n = self.records.len() as u64;
        assert!(wraps || n == blocks, "{}: {n} of {blocks}", self.what);
        let mut expected: Vec<u64> = (0..n).map(|i| low + i % blocks * block).collect();
        let mut found: Vec<u64> = self.records.iter().map(|r| r.offset_bytes).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert!(found == expected, "{}: not in sequence", self.what);
    }

    /// Checks the share of I/Os that do not follow the previous block. I/Os taken together have no order in the
    /// recording, so the previous one is searched among as many as may be in flight.
    fn check_jumps(&self, share: f64, low: u64, high: u64, block: u64) {
        let near = self.run.storage[self.stream.storage[0]].threads as usize;
        let n = self.records.len();
        let width = high - low;
        let jumps = (0..n).filter(|index| {
            let before = low + (self.records[*index].offset_bytes - low + width - block) % width;
            let around = &self.records[index.saturating_sub(near)..(index + near + 1).min(n)];
            !around.iter().any(|other| other.offset_bytes == before)
        });
        // A random block may be the next one by chance.
        let chance = (2 * near) as f64 / (width / block) as f64;
        let beside = chance + 5.0 * (chance / n as f64).sqrt();
        assert_share(&self.what, jumps.count(), n, share, beside);
    }

    fn check_spread(&self, low: u64, high: u64) {
        const PARTS: u64 = 8;
        let width = (high - low).div_ceil(PARTS);
        for part in 0..PARTS {
            let found = self.count(|r| (r.offset_bytes - low) / width == part);
            let what = format!("{}: part {part} of {PARTS}", self.what);
            assert_share(&what, found, self.records.len(), 1.0 / PARTS as f64, 0.001);
        }
    }

    /// Asserts the rate and distribution of intended starts, and that no I/O starts early.
    fn check_pace(&self, iops: f64) {
        let what = &self.what;
        let mut stamps: Vec<u64> = self.records.iter().map(|r| r.intended_ns).collect();
        stamps.sort_unstable();
        let n = stamps.len() as f64;
        let last_s = stamps.last().map_or(0.0, |last| *last as f64 / 1e9);
        let off = (n - iops * last_s).abs();
        assert!(
            off <= 5.0 * n.sqrt() + 1.0,
            "{what}: {n} until {last_s} s, not {iops}/s"
        );
        let (expected, other): (Distribution, Distribution) = match self.run.arrivals {
            Arrivals::Exponential => (exponential, uniform),
            Arrivals::Uniform => (uniform, exponential),
            ref other => panic!("{what}: {other:?}"),
        };
        let bound = DISTANCE_MAX / n.sqrt();
        let mean_ns = 1e9 / iops;
        assert!(distance(&stamps, mean_ns, expected) < bound, "{what}: gaps");
        // Uniform and exponential gaps differ by up to 0.16, so a few hundred I/Os tell them apart.
        assert!(
            n < 300.0 || distance(&stamps, mean_ns, other) > bound,
            "{what}: gaps"
        );
        let early = self.count(|r| r.issued_ns < r.intended_ns || r.submitted_ns < r.issued_ns);
        assert_eq!(early, 0, "{what}: I/Os before their time");
    }
}

/// Asserts that the unserved I/Os match the waiting time of the oldest, and that most of a run began.
fn check_rest(name: &str, run: &Run, outcome: &Outcome) {
    let (unserved, done) = (
        outcome.unserved,
        outcome.trace.iter().map(|t| t.records.len()).sum::<usize>(),
    );
    if let Rate::Fixed { iops } = run.rate {
        let due = iops * outcome.unserved_wait_max.as_secs_f64();
        let most = due + 5.0 * due.sqrt() + 1.0 + run.streams.len() as f64;
        assert!(
            unserved as f64 <= most,
            "{name}: {unserved} not begun of {due} due"
        );
    }
    assert!(
        unserved <= done as u64,
        "{name}: {unserved} not begun, {done} done"
    );
}

/// Asserts that no SD exceeds its threads, and that a maximum rate uses all of them.
fn check_depth(name: &str, run: &Run, records: &[TraceRecord]) {
    assert_eq!(run.threads_shared, None, "{name}");
    for (index, sd) in run.storage.iter().enumerate() {
        let own: Vec<&TraceRecord> = records.iter().filter(|r| r.storage == index).collect();
        let most = in_flight_max(&own);
        let threads = i64::from(sd.threads);
        assert!(most <= threads, "{name}: {most} in flight on {}", sd.name);
        let is_flat_out = matches!(
            run.rate,
            Rate::Max {
                controlled: false,
                ..
            }
        ) && !run.streams.iter().any(|s| s.seek == Seek::SequentialToEnd);
        assert!(!is_flat_out || most == threads, "{name}: {most} at most");
    }
}

fn in_flight_max(records: &[&TraceRecord]) -> i64 {
    let begin = records.iter().map(|record| (record.submitted_ns, 1));
    let end = records.iter().map(|record| (record.completed_ns, -1));
    let mut changes: Vec<(u64, i64)> = begin.chain(end).collect();
    changes.sort_unstable();
    let mut now = 0;
    let depths = changes.iter().map(|(_, change)| {
        now += change;
        now
    });
    depths.max().unwrap_or(0)
}

fn check_shares(name: &str, run: &Run, records: &[TraceRecord]) {
    if !matches!(
        run.rate,
        Rate::Max {
            controlled: true,
            ..
        }
    ) {
        return;
    }
    let total = records.len() as f64;
    for (index, stream) in run.streams.iter().enumerate() {
        let own = records.iter().filter(|r| r.stream == index).count() as f64;
        let ahead = AHEAD * run.streams.len() as f64;
        assert!(
            (own - stream.share * total).abs() <= ahead,
            "{name}: {own} of {total} are no share of {}",
            stream.share
        );
    }
    assert!(total > 10.0 * AHEAD, "{name}: {total} I/Os prove no shares");
}
