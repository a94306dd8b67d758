//! The time is kept, the noise is what was stated, and what is lacking is reported.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::time::{Duration, Instant};

use super::pace::{Clockwork, Pace};
use super::statement::{Parsed, parse};
use engine::{BulkRow, Cooled, Feature, Fetched, Result, RowSource, Session, Statement};

fn pace(settings: &str) -> Pace {
    Pace::from_url(&crate::ENGINES.parse(&format!("mock:?{settings}")).unwrap()).unwrap()
}

fn session(settings: &str) -> (Box<dyn Session>, Statement) {
    let url = crate::ENGINES.parse(&format!("mock:?{settings}")).unwrap();
    let mut session = crate::ENGINES.open(&url).unwrap().open_session().unwrap();
    let statement = session.prepare("work; answer 1764").unwrap();
    (session, statement)
}

fn timed(worker: &mut (Box<dyn Session>, Statement)) -> f64 {
    let begun = Instant::now();
    let fetched = worker.0.fetch(worker.1, &[]).unwrap();
    assert_eq!(
        fetched,
        Fetched {
            rows: 1,
            digest: 1764
        }
    );
    begun.elapsed().as_secs_f64() * 1e6
}

/// Other programs on the machine lengthen most statements, and even the median, but hardly the fastest of hundreds.
fn fastest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::INFINITY, f64::min)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn draws(settings: &str, count: usize) -> Vec<f64> {
    let mut clockwork = Clockwork::new(&pace(settings));
    (0..count)
        .map(|_| clockwork.draw().as_secs_f64() * 1e6)
        .collect()
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}

#[test]
fn no_statement_is_faster_than_stated_and_most_are_hardly_slower() {
    let mut exact = session("service_us=200&noise_pct=0&session_noise_pct=0");
    let times: Vec<f64> = (0..301).map(|_| timed(&mut exact)).collect();
    assert!(times.iter().all(|us| *us >= 200.0), "{times:?}");
    let mut double = session("service_us=400&noise_pct=0&session_noise_pct=0");
    let ratio = fastest((0..301).map(|_| timed(&mut double))) / fastest(times);
    assert!((1.7..2.3).contains(&ratio), "{ratio}");
}

#[test]
fn a_slow_down_slows_down_by_what_it_says() {
    let common = "service_us=100&noise_pct=2&session_noise_pct=0";
    let mut plain = session(common);
    let mut slowed = session(&format!("{common}&slow_down_pct=50"));
    let ratio = fastest((0..401).map(|_| timed(&mut slowed)))
        / fastest((0..401).map(|_| timed(&mut plain)));
    assert!((1.3..1.7).contains(&ratio), "{ratio}");
}

/// Draws have the stated distribution; here no clock is involved, so the tolerance is that of
/// chance alone (eight standard errors).
#[test]
fn the_noise_is_what_was_stated() {
    let common = "service_us=200&noise_pct=5&session_noise_pct=0";
    let plain = draws(common, 20_000);
    let (mean, deviation) = moments(&plain);
    assert!((4.7..5.3).contains(&(deviation / mean * 100.0)));
    assert!((199.0..201.0).contains(&median(plain.clone())));
    let slowed = draws(&format!("{common}&slow_down_pct=5"), 20_000);
    let ratio = median(slowed) / median(plain);
    assert!((1.045..1.055).contains(&ratio), "{ratio}");
}

#[test]
fn sessions_differ_as_stated() {
    let medians: Vec<f64> = (0..1000)
        .map(|_| draws("service_us=200&noise_pct=0&session_noise_pct=2", 1)[0])
        .collect();
    let (mean, deviation) = moments(&medians);
    assert!((1.6..2.4).contains(&(deviation / mean * 100.0)));
    assert!((198.5..201.5).contains(&mean), "{mean}");
}

/// Noise in common would cancel out in a comparison and make it look better than it is.
#[test]
fn sessions_share_no_noise() {
    let settings = "noise_pct=10&session_noise_pct=0";
    let (a, b) = (draws(settings, 2000), draws(settings, 2000));
    let ((mean_a, sd_a), (mean_b, sd_b)) = (moments(&a), moments(&b));
    let products = a.iter().zip(&b).map(|(x, y)| (x - mean_a) * (y - mean_b));
    let correlation = products.sum::<f64>() / 1999.0 / (sd_a * sd_b);
    assert!(correlation.abs() < 0.2, "{correlation}");
}

#[test]
fn sleeping_leaves_the_processor() {
    let cpu_time = || {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the clock exists on every Linux and the pointer is to a timespec of ours.
        let code = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
        assert_eq!(code, 0);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let mut sleeper = session("service_us=5000&noise_pct=0&session_noise_pct=0&wait=sleep");
    let before = cpu_time();
    let slept_us: f64 = (0..20).map(|_| timed(&mut sleeper)).sum();
    assert!(slept_us >= 100_000.0, "{slept_us}");
    assert!(cpu_time() - before < Duration::from_millis(50));
}

#[test]
fn bad_settings_are_refused_with_a_sentence() {
    for (bad, part) in [
        ("mock:?service_us=0", "from 1 to 1000000"),
        ("mock:?service_us=NaN", "from 1 to 1000000"),
        ("mock:?service_us=fast", "service_us=fast"),
        ("mock:?noise_pct=-1", "from 0 to 50"),
        ("mock:?session_noise_pct=51", "from 0 to 50"),
        ("mock:?slow_down_pct=-90", "from -50 to 1000"),
        ("mock:?wait=rest", "must be spin or sleep"),
        ("mock:/data/x.db", "mock stores nothing"),
        ("mock:?speed=1", "service_us, noise_pct"),
    ] {
        let message = crate::ENGINES
            .find(&crate::ENGINES.parse(bad).unwrap())
            .err()
            .unwrap();
        assert!(message.to_string().contains(part), "{bad}: {message}");
    }
}

#[test]
fn the_settings_in_effect_are_read_back() {
    let url = crate::ENGINES
        .parse("mock:?service_us=150.5&slow_down_pct=5&wait=sleep")
        .unwrap();
    let settings = crate::ENGINES.open(&url).unwrap().record().settings;
    let read: Vec<_> = settings.iter().map(|(k, v)| format!("{k}={v}")).collect();
    assert_eq!(
        read.join(" "),
        "noise_pct=5 service_us=150.5 session_noise_pct=1 slow_down_pct=5 wait=sleep"
    );
}

#[test]
fn statements_are_read_and_others_refused() {
    let parsed = |work, answer| Parsed { work, answer };
    assert_eq!(parse("work; answer 1764\n").unwrap(), parsed(1, 1764));
    assert_eq!(parse("answer -3; work;work").unwrap(), parsed(2, -3));
    assert_eq!(parse("answer 0").unwrap(), parsed(0, 0));
    for (bad, part) in [
        ("SELECT 1", "\"SELECT 1\" is neither"),
        ("", "no answer"),
        ("work", "no answer"),
        ("answer x", "is neither"),
        ("answer 1; answer 2", "two answers"),
        (
            &format!("{}answer 1", "work;".repeat(1001)),
            "more than 1000",
        ),
    ] {
        let message = parse(bad).unwrap_err().message;
        assert!(
            message.contains(part) && message.len() < 250,
            "{bad}: {message}"
        );
    }
}

struct NoRows;

impl RowSource for NoRows {
    fn next_row(&mut self, _sink: &mut dyn FnMut(&BulkRow<'_>) -> Result<()>) -> Result<bool> {
        Ok(false)
    }
}

#[test]
fn everything_else_is_lacking_and_says_so() {
    let target = crate::ENGINES
        .open(&crate::ENGINES.parse("mock:").unwrap())
        .unwrap();
    for (name, feature) in Feature::NAMED {
        let reason = target.lacks(feature).unwrap();
        assert!(
            reason.starts_with("mock is not a database"),
            "{name}: {reason}"
        );
    }
    assert!(target.set_threads(2).is_err() && target.set_compression(true).is_err());
    assert!(matches!(target.cool().unwrap(), Cooled::Lukewarm(_)));
    let (mut session, statement) = session("service_us=1");
    let refused = [
        session.batch("CREATE TABLE dbdyno_t (x)").err(),
        session.execute(statement, &[]).err(),
        session.begin().err(),
        session.commit().err(),
        session.bulk_load("dbdyno_t", &mut NoRows).err(),
    ];
    for error in refused {
        let message = error.unwrap().message;
        assert!(message.contains("has no "), "{message}");
    }
    session.rollback().unwrap();
}
