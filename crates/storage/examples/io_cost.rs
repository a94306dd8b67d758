//! Processor time of the driver per I/O: one stream of 4 KiB I/Os on one file at maximum rate.
//!
//! Usage: `io_cost read|write PATH DEPTH BATCH SECONDS [SIZE_BYTES [direct|cached [IOPS [SEED]]]]`. It prints IOPS
//! and processor time per I/O, of the process and of its user mode, with percentiles of the service time. With IOPS
//! the I/Os arrive at that rate with exponential gaps, and it also prints the distance of Kolmogorov and Smirnov
//! between the actual gaps and that distribution, and the number of I/Os that did not begin. In a short run the
//! random gaps of a seed may differ from the rate by a few thousandths.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use storage::engine::{self, Options};
use storage::run::{
    Arrivals, DataContent, ErrorLimit, OpenFlags, Rate, Run, Stop, StorageDefinition, Stream,
};

const BLOCK_BYTES: u64 = 4096;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [operation, path, depth, batch, seconds, more @ ..] = &arguments[..] else {
        eprintln!(
            "usage: io_cost read|write PATH DEPTH BATCH SECONDS [SIZE_BYTES [direct|cached [IOPS [SEED]]]]"
        );
        std::process::exit(2);
    };
    let number = |text: &String| -> u64 {
        text.parse().unwrap_or_else(|_| {
            eprintln!("io_cost: {text:?} is not a number");
            std::process::exit(2)
        })
    };
    let size_bytes = more.first().map_or(1 << 30, number);
    let iops = more.get(2).map(|word| number(word) as f64);
    let seed = more.get(3).map_or(1, number);
    let run = Run {
        name: "io_cost".to_owned(),
        loops: String::new(),
        elapsed_s: Some(number(seconds) as u32),
        interval_s: 1,
        warmup_s: 0,
        pause_s: 0,
        rate: match iops {
            Some(iops) => Rate::Fixed { iops },
            None => Rate::max(false, false),
        },
        arrivals: Arrivals::Exponential,
        stop: Stop::default(),
        errors: ErrorLimit::default(),
        steady: None,
        storage: vec![StorageDefinition {
            name: "sd1".to_owned(),
            path: PathBuf::from(path),
            size_bytes: Some(size_bytes),
            threads: number(depth) as u32,
            offset_bytes: 0,
            align_bytes: None,
            hit_area_bytes: 1 << 20,
            open_flags: OpenFlags {
                direct: more.get(1).is_some_and(|word| word == "direct"),
                ..OpenFlags::default()
            },
            content: DataContent::default(),
        }],
        threads_shared: None,
        streams: vec![Stream {
            read_pct: if operation == "read" { 100.0 } else { 0.0 },
            ..Stream::random_reads("wd1", 0, BLOCK_BYTES)
        }],
    };
    let stop = AtomicBool::new(false);
    let options = Options {
        batch_max: number(batch) as usize,
        trace_max: iops.map_or(0, |iops| (iops * 2.0) as usize * number(seconds) as usize),
        ..Options::new(seed, &stop)
    };
    let user_begin = user_seconds();
    let outcome = engine::run(&run, &options, &mut |_| {}).unwrap_or_else(|error| {
        eprintln!("io_cost: {error}");
        std::process::exit(1)
    });
    let user_s = user_seconds() - user_begin;
    let operations: u64 = outcome.all_cells.iter().map(|c| c.all().operations).sum();
    let each = |seconds: f64| seconds * 1e6 / operations.max(1) as f64;
    let service = outcome.latencies_of(|_, _, _| true).service;
    println!(
        "iops={:.0} cpu_us={:.4} user_us={:.4} p50_us={:.1} p99_us={:.1} errors={} way={:?}",
        outcome.rate_iops(),
        each(outcome.driver.process_cpu.as_secs_f64()),
        each(user_s),
        service.percentile_us(50.0),
        service.percentile_us(99.0),
        outcome.faults_count,
        outcome.way
    );
    if let (Some(iops), Some(trace)) = (iops, &outcome.trace) {
        let mut starts: Vec<u64> = trace.records.iter().map(|r| r.submitted_ns).collect();
        starts.sort_unstable();
        println!(
            "requested={iops} unserved={} late={} gap_distance={:.4} response_p50_us={:.1}",
            outcome.unserved,
            outcome.driver.late_starts,
            gap_distance(&starts, 1e9 / iops),
            outcome
                .latencies_of(|_, _, _| true)
                .response
                .percentile_us(50.0)
        );
    }
}

/// Greatest distance between the distribution of the gaps and the exponential one with this mean.
fn gap_distance(starts: &[u64], mean_ns: f64) -> f64 {
    let mut gaps: Vec<f64> = starts
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) as f64 / mean_ns)
        .collect();
    gaps.sort_by(f64::total_cmp);
    let n = gaps.len() as f64;
    let places = gaps.iter().enumerate();
    places.fold(0.0, |furthest: f64, (i, gap)| {
        let want = 1.0 - (-gap).exp();
        furthest
            .max((want - i as f64 / n).abs())
            .max(((i + 1) as f64 / n - want).abs())
    })
}

fn user_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = after_name
        .split_whitespace()
        .nth(11)
        .and_then(|word| word.parse().ok())
        .unwrap_or(0.0);
    ticks / 100.0
}
