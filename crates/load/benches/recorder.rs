//! Cost of recording: the limit is 25 ns for one operation (service, response, waiting, interval, account).
//!
//! `cargo bench -p load`. The two clock readings that an operation needs are shown separately.

use std::hint::black_box;
use std::sync::Mutex;
use std::time::Duration;

use divan::counter::ItemsCount;
use load::account::Account;
use load::recorder::{Progress, Recorder, Timing};
use load::schedule::Window;
use load::series::Series;
use load::{Done, clock};
use stats::random::Random;

/// Operations of one iteration, so that the cost of divan's own clock vanishes.
const OPERATIONS: usize = 10_000;

fn main() {
    divan::main();
}

/// Operations one after another, with latencies spread like those of a database in memory:
/// exponential around `mean_us`, so that many buckets are touched.
fn timings(mean_us: f64) -> Vec<Timing> {
    let mut random = Random::new(1);
    let mut free_ns = 0;
    (0..OPERATIONS)
        .map(|_| {
            let start_ns = free_ns + 40;
            let end_ns = start_ns + random.exponential(mean_us * 1e3) as u64;
            let timing = Timing {
                free_ns,
                intended_ns: free_ns,
                start_ns,
                end_ns,
            };
            free_ns = end_ns;
            timing
        })
        .collect()
}

#[divan::bench(args = [5.0, 200.0, 2_000.0])]
fn record(bencher: divan::Bencher, mean_us: f64) {
    let series = Mutex::new(Series::new(Duration::from_secs(1), 1));
    let progress = Progress::new();
    let timings = timings(mean_us);
    let window = Window {
        from_ns: 0,
        until_ns: None,
        is_drained: true,
    };
    let mut recorder = Recorder::new(1, &window, &series, Some(&progress));
    let mut account = Account::new(&window);
    let done = Done {
        rows: 1,
        ..Done::default()
    };
    // Time goes on from iteration to iteration, so that turning intervals and publishing the progress are included.
    let (mut passed_ns, length_ns) = (0, timings.last().map_or(0, |t| t.end_ns));
    bencher
        .counter(ItemsCount::new(OPERATIONS))
        .bench_local(|| {
            for timing in black_box(&timings) {
                let shifted = Timing {
                    free_ns: timing.free_ns + passed_ns,
                    intended_ns: timing.intended_ns + passed_ns,
                    start_ns: timing.start_ns + passed_ns,
                    end_ns: timing.end_ns + passed_ns,
                };
                account.completed(&shifted, done.rows);
                recorder.completed(0, &shifted, &done);
            }
            passed_ns += length_ns;
            black_box(account);
        });
}

#[divan::bench]
fn read_the_clock_twice(bencher: divan::Bencher) {
    bencher
        .counter(ItemsCount::new(OPERATIONS))
        .bench_local(|| {
            for _ in 0..OPERATIONS {
                black_box((clock::now_ns(), clock::now_ns()));
            }
        });
}

#[divan::bench]
fn random_number(bencher: divan::Bencher) {
    let mut random = Random::new(1);
    bencher
        .counter(ItemsCount::new(OPERATIONS))
        .bench_local(|| {
            for _ in 0..OPERATIONS {
                black_box(random.below(black_box(1_000_000)));
            }
        });
}
