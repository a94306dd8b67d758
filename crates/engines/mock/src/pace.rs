//! How long a statement takes, and how that time is spent.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::hint;
use std::ops::RangeInclusive;
use std::thread;
use std::time::{Duration, Instant};

use stats::random::Random;

use engine::{Result, TargetError, TargetUrl};

pub(super) const SETTINGS: &[(&str, &str)] = &[
    (
        "service_us",
        "median statement time in microseconds, 1 to 1000000 (default 200)",
    ),
    (
        "noise_pct",
        "coefficient of variation between statements in percent, 0 to 50 (default 5)",
    ),
    (
        "session_noise_pct",
        "coefficient of variation between sessions in percent, 0 to 50 (default 1)",
    ),
    (
        "slow_down_pct",
        "slow-down of every statement in percent, -50 to 1000 (default 0)",
    ),
    (
        "wait",
        "spin (default; uses CPU) or sleep (leaves the CPU idle)",
    ),
];

/// How the time of a statement is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    Spin,
    Sleep,
}

impl Wait {
    fn name(self) -> &'static str {
        match self {
            Wait::Spin => "spin",
            Wait::Sleep => "sleep",
        }
    }
}

/// The settings of a target: median time, noise, and slow-down of its statements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pace {
    service_us: f64,
    noise_pct: f64,
    session_noise_pct: f64,
    slow_down_pct: f64,
    wait: Wait,
}

impl Pace {
    /// Reads the settings of a URL.
    pub(super) fn from_url(url: &TargetUrl) -> Result<Self> {
        if !url.path.is_empty() {
            return Err(TargetError::statement(format!(
                "{url} contains the path \"{}\", but mock stores nothing; write mock:?KEY=VALUE",
                url.path
            )));
        }
        let wait = match url.settings.get("wait").map(String::as_str) {
            None | Some("spin") => Wait::Spin,
            Some("sleep") => Wait::Sleep,
            Some(other) => {
                return Err(TargetError::statement(format!(
                    "setting wait={other} of {url} must be spin or sleep"
                )));
            }
        };
        Ok(Self {
            service_us: number(url, "service_us", 200.0, 1.0..=1e6)?,
            noise_pct: number(url, "noise_pct", 5.0, 0.0..=50.0)?,
            session_noise_pct: number(url, "session_noise_pct", 1.0, 0.0..=50.0)?,
            slow_down_pct: number(url, "slow_down_pct", 0.0, -50.0..=1000.0)?,
            wait,
        })
    }

    /// The settings in effect, defaults included.
    pub(super) fn record(&self) -> BTreeMap<String, String> {
        let number = |x: f64| x.to_string();
        [
            ("service_us", number(self.service_us)),
            ("noise_pct", number(self.noise_pct)),
            ("session_noise_pct", number(self.session_noise_pct)),
            ("slow_down_pct", number(self.slow_down_pct)),
            ("wait", self.wait.name().to_owned()),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
    }
}

fn number(url: &TargetUrl, key: &str, default: f64, allowed: RangeInclusive<f64>) -> Result<f64> {
    let Some(text) = url.settings.get(key) else {
        return Ok(default);
    };
    let value = text.parse().ok().filter(|value| allowed.contains(value));
    value.ok_or_else(|| {
        TargetError::statement(format!(
            "setting {key}={text} of {url} must be a number from {} to {}",
            allowed.start(),
            allowed.end()
        ))
    })
}

/// The clockwork of one session: its own generator, and what chance made of its speed.
#[derive(Debug)]
pub(super) struct Clockwork {
    random: Random,
    /// Median time of this session's statements.
    median_s: f64,
    /// Standard deviation of the logarithm of a statement's time.
    sigma: f64,
    wait: Wait,
}

impl Clockwork {
    /// The clockwork of a session that is opened now.
    ///
    /// Its seed comes from the operating system, never from the run: both sides of a comparison have
    /// the run's seed in common, and noise in common would cancel out.
    pub(super) fn new(pace: &Pace) -> Self {
        let mut random = Random::new(RandomState::new().build_hasher().finish());
        let session = (sigma(pace.session_noise_pct) * random.normal()).exp();
        Self {
            random,
            median_s: pace.service_us / 1e6 * (1.0 + pace.slow_down_pct / 100.0) * session,
            sigma: sigma(pace.noise_pct),
            wait: pace.wait,
        }
    }

    /// Draws the time of one statement: log-normal, as service times are skewed to the right.
    pub(super) fn draw(&mut self) -> Duration {
        Duration::from_secs_f64(self.median_s * (self.sigma * self.random.normal()).exp())
    }

    /// Spends the time of one statement, counted on the monotonic clock from the call on.
    pub(super) fn work(&mut self) {
        let begun = Instant::now();
        let length = self.draw();
        match self.wait {
            Wait::Spin => {
                while begun.elapsed() < length {
                    hint::spin_loop();
                }
            }
            Wait::Sleep => thread::sleep(length.saturating_sub(begun.elapsed())),
        }
    }
}

/// Standard deviation of the logarithm of a log-normal variable with this coefficient of variation,
/// √ln(1 + cv²).
fn sigma(cv_pct: f64) -> f64 {
    let cv = cv_pct / 100.0;
    (cv * cv).ln_1p().sqrt()
}
