//! One step of a plan.

use std::num::NonZero;
use std::ops::RangeInclusive;
use std::time::Duration;

use load::{Arrivals, Schedule, Think};
use serde::{Deserialize, Serialize};

use super::degree::Degree;
use super::table::{StepTable, Tables};

/// Keys of a step in addition to the tables of its workload.
pub(crate) const STEP_KEYS: [&str; 16] = [
    "use",
    "repeat",
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
];
/// Largest number of jobs of a point, and of connections of users.
pub const JOBS_MAX: u32 = load::JOBS_MAX as u32;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    #[serde(rename = "use")]
    pub uses: String,
    #[serde(default, skip_serializing_if = "ScriptAt::is_no_file")]
    pub script: Option<ScriptAt>,
    /// Repetitions of this step, if more than the plan's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u32>,
    /// Threads of the driver's event loop; by default one, and more when it is saturated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver_threads: Option<u32>,
    /// Codes of the tests; all of the library if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Jobs of the points; 1, 2, 4 … 4 × cores if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<Degree>,
    /// Threads inside a statement, for tests that sweep them; 1, 2, 4 … cores if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<Degree>,
    #[serde(default = "size_default")]
    pub size: String,
    #[serde(default)]
    pub mode: Mode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Ramp-up of a point in time mode, unrecorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_up_seconds: Option<f64>,
    /// Offered rate of all jobs together: an open schedule, in time mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Arrival process of an open schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<ArrivalKind>,
    /// Makes the open schedule semi-open: sessions of this many operations arrive at `rate_per_s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_per_session: Option<u32>,
    /// Mean think time of a closed schedule or within a session, exponentially distributed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_ms: Option<f64>,
    /// Sweeps writing tests over jobs even if the engine has a single writer; such points are marked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contention: bool,
    #[serde(skip)]
    pub(crate) tables: Tables,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "script must be the path of a file, or the table [step.script]"
)]
pub enum ScriptAt {
    File(String),
    /// Text in the step, as `[step.script]`.
    Here(toml::Table),
}

impl ScriptAt {
    pub fn place(&self) -> String {
        match self {
            Self::File(path) => path.clone(),
            Self::Here(script) => script.to_string(),
        }
    }

    fn is_no_file(script: &Option<Self>) -> bool {
        !matches!(script, Some(Self::File(_)))
    }

    /// The script as it is written in a step with tables below `root`; empty if it is in a file.
    fn to_toml(&self, root: &str) -> String {
        let Self::Here(script) = self else {
            return String::new();
        };
        let root = root.split('.').filter(|part| !part.is_empty());
        let in_step = toml::Table::from_iter([("script".to_owned(), script.clone().into())]);
        let outer = |inner: toml::Table, name: &str| {
            toml::Table::from_iter([(name.to_owned(), inner.into())])
        };
        format!("\n{}", root.rev().fold(in_step, outer))
    }
}

fn size_default() -> String {
    "quick".into()
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    #[default]
    Work,
    Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalKind {
    Constant,
    Poisson,
}

impl Step {
    /// Length of a point in time mode with its ramp-up, in seconds; 0 by default.
    pub fn timed_s(&self) -> f64 {
        self.seconds.unwrap_or(0.0) + self.ramp_up_seconds.unwrap_or(0.0)
    }

    /// Checks for contradictions, whatever the workload; `is_timed` if a point lasts for `seconds` in any mode.
    pub(crate) fn check(&self, is_timed: bool) -> std::result::Result<(), String> {
        if self
            .driver_threads
            .is_some_and(|n| !(1..=JOBS_MAX).contains(&n))
        {
            return Err(format!("driver_threads is not between 1 and {JOBS_MAX}"));
        }
        for (name, list) in [("jobs", &self.jobs), ("threads", &self.threads)] {
            let is_possible = |degree: &&Degree| (1..=JOBS_MAX).contains(&degree.on(1));
            if let Some(bad) = list.iter().find(|degree| !is_possible(degree)) {
                return Err(format!(
                    "{name} contains {bad}, which is not between 1 and {JOBS_MAX}"
                ));
            }
            if (1..list.len()).any(|n| list[..n].contains(&list[n])) {
                return Err(format!("{name} lists the same number twice"));
            }
        }
        self.check_time(is_timed)?;
        self.schedule().check().map_err(|e| e.to_string())
    }

    /// Refuses the keys of component tests instead of ignoring them.
    pub(crate) fn refuse_keys_of_tests(&self) -> std::result::Result<(), String> {
        if self.script.is_some() {
            return Err("script needs use = \"script\"".into());
        }
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
            Some((key, _)) => Err(format!("{key} does not apply to use = \"{}\"", self.uses)),
            None => Ok(()),
        }
    }

    fn check_time(&self, is_timed: bool) -> std::result::Result<(), String> {
        let is_timed = is_timed || self.mode == Mode::Time;
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
            return Err("think_ms with rate_per_s needs operations_per_session".into());
        }
        if self.think_ms.is_some_and(|ms| !(0.0..=3.6e6).contains(&ms)) {
            return Err("think_ms is not between 0 and 3600000".into());
        }
        Ok(())
    }

    /// Options of its workload.
    ///
    /// # Panics
    /// It has no such table; a step that was read has those of its workload.
    pub fn table<T: StepTable>(&self) -> &T {
        let found = self.tables.find();
        found.expect("a step that was read has the tables of its workload")
    }

    /// The step as TOML, for archives and fingerprints: the tables after the keys.
    pub fn to_toml(&self) -> String {
        self.toml_at("")
    }

    pub(crate) fn toml_at(&self, root: &str) -> String {
        let keys = toml::to_string(self);
        let keys =
            keys.expect("a step holds only strings, numbers and arrays, which TOML can write");
        let script = self.script.as_ref().map(|script| script.to_toml(root));
        keys + &self.tables.to_toml(root) + &script.unwrap_or_default()
    }

    pub fn arrivals(&self) -> Arrivals {
        match self.arrivals {
            Some(ArrivalKind::Poisson) => Arrivals::Poisson,
            Some(ArrivalKind::Constant) | None => Arrivals::Constant,
        }
    }

    pub fn driver_threads(&self) -> RangeInclusive<usize> {
        match self.driver_threads {
            Some(threads) => threads as usize..=threads as usize,
            None => 1..=std::thread::available_parallelism().map_or(1, NonZero::get),
        }
    }

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
