//! Sampling interval, and the time for which a sample stands.

use std::time::{Duration, Instant};

use lab::session_sampler::COST_MAX;

/// Shortest pause: ten samples per second give the waits of a minute to within a few percent, and more would only cost
/// more …
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// … and the longest, unless answers take long.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// A pause is at least this multiple of the answer time, which spares a saturated server …
const PAUSE_PER_ANSWER: f64 = 20.0;
/// … but no longer than this.
const PAUSE_OF_SLOW_MAX: Duration = Duration::from_secs(30);
/// Weight of the newest answer in the means that determine the pause.
const NEWEST: f64 = 0.2;
/// A slower answer was delayed: the sessions were unobserved meanwhile.
pub(super) const HELD_UP: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct Pace {
    least: Duration,
    /// Mean cost of a sample and mean answer time, in s.
    price_s: f64,
    answer_s: f64,
    /// Cost of the counters for which no pause has compensated yet, in s.
    owed_s: f64,
}

impl Pace {
    /// `rest` is the interval at which the server refreshes its samples.
    pub fn of(rest: Duration) -> Self {
        Self {
            least: rest.max(PAUSE_MIN),
            price_s: 0.0,
            answer_s: 0.0,
            owed_s: 0.0,
        }
    }

    pub fn answered(&mut self, answer_s: f64, price_s: f64) {
        self.price_s += NEWEST * (price_s - self.price_s);
        self.answer_s += NEWEST * (answer_s - self.answer_s);
    }

    pub fn owe(&mut self, seconds: f64) {
        self.owed_s += seconds;
    }

    /// Pause before the next sample, with so much left of the interval.
    pub fn pause(&mut self, left: Duration) -> Duration {
        let fair_s = (self.price_s + std::mem::take(&mut self.owed_s)) / COST_MAX;
        let usual = Duration::from_secs_f64(fair_s).clamp(self.least, PAUSE_MAX);
        let gentle = Duration::from_secs_f64(self.answer_s * PAUSE_PER_ANSWER);
        let pause = usual.max(gentle.min(PAUSE_OF_SLOW_MAX));
        // Every interval ends with a sample, but a slow server is not queried sooner for it.
        if pause <= PAUSE_MAX {
            pause.min(left.max(self.least))
        } else {
            pause
        }
    }
}

#[derive(Debug)]
pub(super) struct Coverage {
    until: Instant,
    pub unobserved: Duration,
}

impl Coverage {
    pub fn from(begin: Instant) -> Self {
        Self {
            until: begin,
            unobserved: Duration::ZERO,
        }
    }

    /// Records a sample and returns the time for which it stands.
    pub fn record_sample(&mut self, sent: Instant, now: Instant) -> Duration {
        let unobserved = held_up(sent, now);
        self.unobserved += unobserved;
        let observed = (now - self.until).saturating_sub(unobserved);
        self.until = now;
        observed
    }

    /// Records another answer: if it was delayed, no sample stands for its time.
    pub fn record_answer(&mut self, sent: Instant, now: Instant) {
        let unobserved = held_up(sent, now);
        self.unobserved += unobserved;
        self.until += unobserved;
    }

    /// Records a failure: the time since the last sample is unobserved.
    pub fn record_failure(&mut self, now: Instant) {
        self.unobserved += now - self.until;
        self.until = now;
    }
}

/// Delay of a statement beyond the usual answer time.
fn held_up(sent: Instant, now: Instant) -> Duration {
    let answer = now - sent;
    if answer > HELD_UP {
        answer
    } else {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Duration = Duration::from_secs(60);

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_server_rests_between_looks_as_long_as_they_need_to_be_new() {
        let mut pace = Pace::of(ms(150));
        assert_eq!(pace.pause(FAR), ms(150));
        assert_eq!(
            pace.pause(ms(3)),
            ms(150),
            "not sooner for the end of an interval"
        );
        assert_eq!(Pace::of(Duration::ZERO).pause(FAR), PAUSE_MIN);
    }

    #[test]
    fn pauses_follow_cost_debts_and_slow_answers() {
        let mut pace = Pace::of(Duration::ZERO);
        for _ in 0..100 {
            pace.answered(0.002, 0.003);
        }
        // 3 ms is 1 % of 300 ms.
        let near = |pause: Duration, ms: f64| (pause.as_secs_f64() * 1e3 - ms).abs() < 0.1;
        assert!(near(pace.pause(FAR), 300.0));
        pace.owe(0.002);
        assert!(near(pace.pause(FAR), 500.0));
        assert!(near(pace.pause(FAR), 300.0), "debts are paid once");
        assert_eq!(pace.pause(ms(130)), ms(130), "a look ends the interval");
        for _ in 0..100 {
            pace.answered(0.2, 0.003);
        }
        assert!(
            near(pace.pause(ms(30)), 4000.0),
            "but a slow server is spared"
        );
        for _ in 0..100 {
            pace.answered(10.0, 0.003);
        }
        assert_eq!(pace.pause(FAR), PAUSE_OF_SLOW_MAX);
    }

    #[test]
    fn golden_every_moment_is_observed_or_not() {
        let begin = Instant::now();
        let at = |after: u64| begin + ms(after);
        let mut coverage = Coverage::from(begin);
        assert_eq!(coverage.record_sample(at(100), at(110)), ms(110));
        // Counters, 20 ms and then 2 s: the next sample stands for the time without the delay.
        coverage.record_answer(at(110), at(130));
        assert_eq!(coverage.unobserved, Duration::ZERO);
        coverage.record_answer(at(130), at(2130));
        assert_eq!(coverage.unobserved, ms(2000));
        assert_eq!(coverage.record_sample(at(2200), at(2210)), ms(100));
        // A sample that was delayed for 1 s.
        assert_eq!(coverage.record_sample(at(2300), at(3300)), ms(90));
        assert_eq!(coverage.unobserved, ms(3000));
        // A statement that reached its limit of 10 s, 200 ms after the sample, and then a restart of 1 s.
        coverage.record_failure(at(14_500));
        assert_eq!(coverage.unobserved, ms(3000 + 11_200));
        assert_eq!(coverage.record_sample(at(14_600), at(14_610)), ms(110));
    }
}
