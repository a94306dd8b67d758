//! One step of a plan.

use std::num::NonZero;
use std::ops::RangeInclusive;
use std::time::Duration;

use load::{Arrivals, Schedule, Think};
use serde::{Deserialize, Serialize};

use super::columnar::ColumnarStep;
use super::olap::OlapStep;
use super::oltp::OltpStep;
use super::{mixed, nearest};

/// Keys of a step.
pub(super) const STEP_KEYS: [&str; 18] = [
    "use",
    "script",
    "driver_threads",
    "tests",
    "jobs",
    "threads",
    "size",
    "mode",
    "seconds",
    "ramp_up_seconds",
    "rate_per_s",
    "arrivals",
    "think_ms",
    "operations_per_session",
    "contention",
    "oltp",
    "olap",
    "columnar",
];
/// What a step may use, with the tables that say what is asked of it.
const USES: [(&str, &[&str]); 6] = [
    ("library", &[]),
    ("script", &[]),
    ("oltp", &["oltp"]),
    ("olap", &["olap"]),
    ("columnar", &["columnar"]),
    ("mixed", &["oltp", "olap"]),
];
/// Most jobs of a point.
pub const JOBS_MAX: u32 = 4096;

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What is used: "library", "script", "oltp", "olap", "columnar" or "mixed".
    #[serde(rename = "use")]
    pub uses: String,
    /// File of the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// Threads of the driver's event loop; one, and more when it is saturated, unless told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver_threads: Option<u32>,
    /// Codes of the tests; all of the library when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Jobs of the points; 1, 2, 4 … 4 × cores when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<u32>,
    /// Threads inside a statement, for tests that sweep them; 1, 2, 4 … cores when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<u32>,
    /// Size class.
    #[serde(default = "size_default")]
    pub size: String,
    /// Fixed work per job, or a fixed time.
    #[serde(default)]
    pub mode: Mode,
    /// Length of a point in time mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Ramp-up of a point in time mode, unrecorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_up_seconds: Option<f64>,
    /// Offered rate of all jobs together: an open schedule, in time mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// How the operations of an open schedule arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalKind>,
    /// Makes the open schedule semi-open: what arrives at `rate_per_s` is a session of so many operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_per_session: Option<u32>,
    /// Mean think time of a closed schedule or within a session, exponentially distributed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_ms: Option<f64>,
    /// Sweeps writing tests over jobs also where the engine has one writer; such points are marked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contention: bool,
    /// What is asked of the order-entry workload. The three stand last, because they are tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oltp: Option<OltpStep>,
    /// What is asked of the analytical workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub olap: Option<OlapStep>,
    /// What is asked of lifted tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columnar: Option<ColumnarStep>,
}

fn size_default() -> String {
    "quick".into()
}

/// What a step uses, with what it asks of it.
#[derive(Debug, Clone, Copy)]
pub enum Used<'a> {
    /// Tests of the library, or a script.
    Tests,
    /// The order-entry workload.
    Oltp(&'a OltpStep),
    /// The analytical workload.
    Olap(&'a OlapStep),
    /// Lifted tables.
    Columnar(&'a ColumnarStep),
    /// Order entry with analytical queries beside it.
    Mixed(&'a OltpStep, &'a OlapStep),
}

/// What bounds a point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A fixed amount of work for each job.
    #[default]
    Work,
    /// A fixed time.
    Time,
}

/// How the operations of an open schedule arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalKind {
    /// At equal distances.
    Constant,
    /// At random, independently of each other.
    Poisson,
}

impl Step {
    pub(super) fn check(&self) -> std::result::Result<(), String> {
        let Some((_, tables)) = USES.iter().find(|(name, _)| *name == self.uses) else {
            return Err(format!(
                "use = \"{}\" is nothing dbdyno can do{}",
                self.uses,
                nearest(&self.uses, &USES.map(|(name, _)| name))
            ));
        };
        match (self.uses.as_str(), &self.script) {
            ("script", None) => return Err("use = \"script\" needs script = \"FILE.toml\"".into()),
            ("script", Some(_)) if !self.tests.is_empty() => {
                return Err("tests are of the library; a script is one test of its own".into());
            }
            ("script", Some(_)) | (_, None) => {}
            _ => return Err("script needs use = \"script\"".into()),
        }
        self.check_table("oltp", tables, &self.oltp, |oltp| oltp.check(self))?;
        self.check_table("olap", tables, &self.olap, OlapStep::check)?;
        self.check_table("columnar", tables, &self.columnar, ColumnarStep::check)?;
        if let Used::Mixed(oltp, olap) = self.used() {
            mixed::check(oltp, olap)?;
        }
        if self
            .driver_threads
            .is_some_and(|n| !(1..=JOBS_MAX).contains(&n))
        {
            return Err(format!("driver_threads is not between 1 and {JOBS_MAX}"));
        }
        for (name, list) in [("jobs", &self.jobs), ("threads", &self.threads)] {
            if let Some(bad) = list.iter().find(|n| !(1..=JOBS_MAX).contains(*n)) {
                return Err(format!(
                    "{name} holds {bad}, which is not between 1 and {JOBS_MAX}"
                ));
            }
            let mut sorted = list.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if sorted.len() != list.len() {
                return Err(format!("{name} names the same number twice"));
            }
        }
        self.check_time()?;
        self.schedule().check().map_err(|e| e.to_string())
    }

    /// What is asked of a workload stands where it is used, and nowhere else.
    fn check_table<T>(
        &self,
        name: &str,
        used: &[&str],
        table: &Option<T>,
        check: impl FnOnce(&T) -> std::result::Result<(), String>,
    ) -> std::result::Result<(), String> {
        let uses = &self.uses;
        match (used.contains(&name), table) {
            (true, None) => Err(format!("use = \"{uses}\" needs [step.{name}]")),
            (true, Some(asked)) => {
                self.check_only(uses)?;
                check(asked)
            }
            (false, Some(_)) => Err(format!("[step.{name}] needs use = \"{name}\"")),
            (false, None) => Ok(()),
        }
    }

    /// What belongs to other uses is not quietly passed over.
    fn check_only(&self, uses: &str) -> std::result::Result<(), String> {
        let foreign = [
            ("tests", !self.tests.is_empty()),
            ("jobs", !self.jobs.is_empty()),
            ("threads", !self.threads.is_empty()),
            ("mode", self.mode != Mode::Work),
            ("think_ms", self.think_ms.is_some()),
            (
                "operations_per_session",
                self.operations_per_session.is_some(),
            ),
            ("contention", self.contention),
        ];
        match foreign.iter().find(|(_, said)| *said) {
            Some((key, _)) => Err(format!("{key} means nothing to use = \"{uses}\"")),
            None => Ok(()),
        }
    }

    fn check_time(&self) -> std::result::Result<(), String> {
        let is_timed = self.mode == Mode::Time || self.oltp.is_some();
        match (self.mode, self.seconds) {
            (Mode::Time, None) => return Err("mode = \"time\" needs seconds".into()),
            (Mode::Work, Some(_)) if !is_timed => {
                return Err("seconds needs mode = \"time\"".into());
            }
            (_, Some(s)) if !(0.05..=1e6).contains(&s) => {
                return Err(format!("seconds = {s} is not between 0.05 and 1000000"));
            }
            _ => {}
        }
        if !is_timed && (self.rate_per_s.is_some() || self.ramp_up_seconds.is_some()) {
            return Err("rate_per_s and ramp_up_seconds need mode = \"time\"".into());
        }
        if self.rate_per_s.is_none()
            && (self.arrivals.is_some() || self.operations_per_session.is_some())
        {
            return Err("arrivals and operations_per_session need rate_per_s".into());
        }
        if self.rate_per_s.is_some()
            && self.think_ms.is_some()
            && self.operations_per_session.is_none()
        {
            return Err("think_ms beside rate_per_s needs operations_per_session".into());
        }
        if self.think_ms.is_some_and(|ms| !(0.0..=3.6e6).contains(&ms)) {
            return Err("think_ms is not between 0 and 3600000".into());
        }
        Ok(())
    }

    /// What it uses; a step that was checked has the tables of one use.
    pub fn used(&self) -> Used<'_> {
        match (&self.oltp, &self.olap, &self.columnar) {
            (Some(oltp), Some(olap), _) => Used::Mixed(oltp, olap),
            (Some(oltp), _, _) => Used::Oltp(oltp),
            (_, Some(olap), _) => Used::Olap(olap),
            (_, _, Some(columnar)) => Used::Columnar(columnar),
            (None, None, None) => Used::Tests,
        }
    }

    /// Whether it is of tests, of the library or a script, and not of a workload with a database of its own.
    pub fn is_of_tests(&self) -> bool {
        matches!(self.used(), Used::Tests)
    }

    /// How the operations of an open schedule arrive.
    pub fn arrivals(&self) -> Arrivals {
        match self.arrivals {
            Some(ArrivalKind::Poisson) => Arrivals::Poisson,
            Some(ArrivalKind::Constant) | None => Arrivals::Constant,
        }
    }

    /// Threads of the driver's event loop, at the beginning and at most.
    pub fn driver_threads(&self) -> RangeInclusive<usize> {
        match self.driver_threads {
            Some(asked) => asked as usize..=asked as usize,
            None => 1..=std::thread::available_parallelism().map_or(1, NonZero::get),
        }
    }

    /// The schedule that the step asks for.
    pub fn schedule(&self) -> Schedule {
        let think = self.think_ms.map_or(Think::None, |ms| Think::Exponential {
            mean: Duration::from_secs_f64(ms / 1e3),
        });
        let arrivals = self.arrivals();
        match (self.rate_per_s, self.operations_per_session) {
            (None, _) => Schedule::Closed { think },
            (Some(rate_per_s), None) => Schedule::Open {
                rate_per_s,
                arrivals,
            },
            (Some(sessions_per_s), Some(operations_per_session)) => Schedule::SemiOpen {
                sessions_per_s,
                arrivals,
                operations_per_session,
                think,
            },
        }
    }

    /// The schedule in words.
    pub fn schedule_words(&self) -> String {
        let arrivals = match self.arrivals {
            Some(ArrivalKind::Poisson) => "Poisson",
            Some(ArrivalKind::Constant) | None => "constant",
        };
        let load = match (self.rate_per_s, self.operations_per_session) {
            (None, _) => "closed".to_owned(),
            (Some(rate), None) => format!("open, {arrivals}, {rate}/s"),
            (Some(rate), Some(n)) => {
                format!("semi-open, {arrivals}, {rate} sessions/s of {n} operations")
            }
        };
        match self.think_ms {
            Some(ms) => format!("{load}, think time {ms} ms"),
            None => load,
        }
    }
}
