//! Plans: what is asked for, as TOML; every key is described in docs/FORMAT.md.

use std::time::Duration;

use include_dir::{Dir, include_dir};
use load::{Arrivals, Schedule, Think};
use serde::{Deserialize, Serialize};
use verdict::metric::Metric;

use crate::{LabError, Result};

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../plans");

/// Keys of a plan, for naming the nearest when one is misspelt.
const PLAN_KEYS: [&str; 6] = ["name", "about", "sample_ms", "repeat", "primary", "step"];
/// Keys of a step.
const STEP_KEYS: [&str; 15] = [
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
];
/// What a step may use.
const USES: [&str; 2] = ["library", "script"];
/// Most repetitions of a plan.
pub const REPEAT_MAX: u32 = 1000;
/// Most jobs of a point.
pub const JOBS_MAX: u32 = 4096;

/// A plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Name.
    pub name: String,
    /// One sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Interval of the samplers in milliseconds.
    #[serde(default = "sample_ms_default")]
    pub sample_ms: u64,
    /// Repetitions of the whole plan.
    #[serde(default = "repeat_default")]
    pub repeat: u32,
    /// Metrics on which a comparison is decided, named before the run; the throughput of every test when
    /// there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub primary: Vec<String>,
    /// Steps, carried out in their order.
    pub step: Vec<Step>,
}

fn sample_ms_default() -> u64 {
    1000
}

fn repeat_default() -> u32 {
    1
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What is used: "library" or "script".
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
}

fn size_default() -> String {
    "quick".into()
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

/// One `--set KEY=VALUE`.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Dotted key, e.g. "step.size" (all steps) or "step.2.size" (the second).
    pub key: String,
    /// Value as TOML; what is not TOML is a string.
    pub value: toml::Value,
}

impl Setting {
    /// Parses `KEY=VALUE`.
    ///
    /// # Errors
    /// When there is no `=` or no key.
    pub fn parse(text: &str) -> Result<Self> {
        let (key, value) = text
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| LabError::Plan(format!("\"{text}\" is not KEY=VALUE")))?;
        let value = toml::from_str::<toml::Table>(&format!("v = {value}"))
            .ok()
            .and_then(|mut table| table.remove("v"))
            .unwrap_or_else(|| toml::Value::String(value.to_owned()));
        Ok(Self {
            key: key.to_owned(),
            value,
        })
    }
}

impl Plan {
    /// Names of the built-in plans.
    pub fn built_in() -> Vec<&'static str> {
        let mut names: Vec<_> = BUILT_IN
            .files()
            .filter_map(|f| f.path().file_stem()?.to_str())
            .collect();
        names.sort_unstable();
        names
    }

    /// Text of the plan called `name`: a built-in one, else a file.
    ///
    /// # Errors
    /// When there is neither.
    pub fn text(name: &str) -> Result<String> {
        if let Some(file) = BUILT_IN.get_file(format!("{name}.toml")) {
            return Ok(file.contents_utf8().unwrap_or_default().to_owned());
        }
        std::fs::read_to_string(name).map_err(|e| {
            let hint = nearest(name, &Self::built_in());
            LabError::Plan(format!(
                "there is no built-in plan \"{name}\"{hint} and no such file can be read ({e}); `dbdyno list plans` shows the built-in ones"
            ))
        })
    }

    /// Parses a plan, with settings applied and everything checked that can be without a target.
    ///
    /// # Errors
    /// One sentence with the place of what is wrong, and the nearest known key.
    pub fn parse(text: &str, settings: &[Setting]) -> Result<Self> {
        let mut table: toml::Table = toml::from_str(text).map_err(|e| {
            LabError::Plan(format!(
                "the plan is not TOML: {}",
                workload::library::toml_sentence(text, &e)
            ))
        })?;
        for setting in settings {
            apply(&mut table, setting)?;
        }
        check_keys("the plan", table.keys(), &PLAN_KEYS)?;
        for (index, step) in steps_of(&mut table)?.iter().enumerate() {
            check_keys(&format!("step {}", index + 1), step.keys(), &STEP_KEYS)?;
        }
        let plan: Plan = toml::Value::Table(table)
            .try_into()
            .map_err(|e: toml::de::Error| {
                LabError::Plan(format!(
                    "the plan is not right: {}",
                    one_line(&e.to_string())
                ))
            })?;
        plan.check()?;
        Ok(plan)
    }

    /// The plan as it is archived.
    pub fn to_toml(&self) -> String {
        toml::to_string(self)
            .expect("a plan holds only strings, numbers and arrays, which TOML can write")
    }

    fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(LabError::Plan(what));
        if self.step.is_empty() {
            return wrong("the plan has no [[step]]".into());
        }
        if self.repeat == 0 || self.repeat > REPEAT_MAX {
            return wrong(format!(
                "repeat = {} is not between 1 and {REPEAT_MAX}",
                self.repeat
            ));
        }
        if !(10..=3_600_000).contains(&self.sample_ms) {
            return wrong(format!(
                "sample_ms = {} is not between 10 and 3600000",
                self.sample_ms
            ));
        }
        for metric in &self.primary {
            check_primary(metric)?;
        }
        for (index, step) in self.step.iter().enumerate() {
            step.check()
                .map_err(|what| LabError::Plan(format!("step {}: {what}", index + 1)))?;
        }
        Ok(())
    }
}

impl Step {
    fn check(&self) -> std::result::Result<(), String> {
        if !USES.contains(&self.uses.as_str()) {
            return Err(format!(
                "use = \"{}\" is nothing dbdyno can do{}",
                self.uses,
                nearest(&self.uses, &USES)
            ));
        }
        match (self.uses.as_str(), &self.script) {
            ("script", None) => return Err("use = \"script\" needs script = \"FILE.toml\"".into()),
            ("script", Some(_)) if !self.tests.is_empty() => {
                return Err("tests are of the library; a script is one test of its own".into());
            }
            ("library", Some(_)) => return Err("script needs use = \"script\"".into()),
            _ => {}
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
        match (self.mode, self.seconds) {
            (Mode::Time, None) => return Err("mode = \"time\" needs seconds".into()),
            (Mode::Work, Some(_)) => return Err("seconds needs mode = \"time\"".into()),
            (Mode::Time, Some(s)) if !(0.05..=1e6).contains(&s) => {
                return Err(format!("seconds = {s} is not between 0.05 and 1000000"));
            }
            _ => {}
        }
        if self.mode == Mode::Work && (self.rate_per_s.is_some() || self.ramp_up_seconds.is_some())
        {
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
        self.schedule().check().map_err(|e| e.to_string())
    }

    /// The schedule that the step asks for.
    pub fn schedule(&self) -> Schedule {
        let think = self.think_ms.map_or(Think::None, |ms| Think::Exponential {
            mean: Duration::from_secs_f64(ms / 1e3),
        });
        let arrivals = match self.arrivals {
            Some(ArrivalKind::Poisson) => Arrivals::Poisson,
            Some(ArrivalKind::Constant) | None => Arrivals::Constant,
        };
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

fn check_primary(text: &str) -> Result<()> {
    let metric: Metric = text
        .parse()
        .map_err(|e: verdict::metric::MetricError| LabError::Plan(format!("primary: {e}")))?;
    match verdict::metric::better(&metric.figure) {
        archive::Better::Neither => Err(LabError::Plan(format!(
            "primary: \"{text}\" has no good direction, so nothing can be decided on it; name a rate or a time"
        ))),
        archive::Better::Higher | archive::Better::Lower => Ok(()),
    }
}

fn steps_of(table: &mut toml::Table) -> Result<Vec<&mut toml::Table>> {
    match table.get_mut("step") {
        None => Ok(Vec::new()),
        Some(toml::Value::Array(steps)) => steps
            .iter_mut()
            .map(|s| {
                s.as_table_mut()
                    .ok_or_else(|| LabError::Plan("a step is not a [[step]] table".into()))
            })
            .collect(),
        Some(_) => Err(LabError::Plan(
            "step is not a list of [[step]] tables".into(),
        )),
    }
}

fn apply(table: &mut toml::Table, setting: &Setting) -> Result<()> {
    let parts: Vec<&str> = setting.key.split('.').collect();
    let no_place = || {
        LabError::Plan(format!(
            "--set {}: this is no key of a plan; write KEY, step.KEY (all steps) or step.N.KEY (one of them)",
            setting.key
        ))
    };
    match parts.as_slice() {
        ["step", number, key] => {
            let index: usize = number.parse().map_err(|_| no_place())?;
            let mut steps = steps_of(table)?;
            let count = steps.len();
            let step = index
                .checked_sub(1)
                .and_then(|i| steps.get_mut(i))
                .ok_or_else(|| {
                    LabError::Plan(format!("--set {}: the plan has {count} steps", setting.key))
                })?;
            step.insert((*key).to_owned(), setting.value.clone());
        }
        ["step", key] => {
            for step in steps_of(table)? {
                step.insert((*key).to_owned(), setting.value.clone());
            }
        }
        [key] if *key != "step" => {
            table.insert((*key).to_owned(), setting.value.clone());
        }
        _ => return Err(no_place()),
    }
    Ok(())
}

fn check_keys<'a>(
    place: &str,
    keys: impl Iterator<Item = &'a String>,
    known: &[&str],
) -> Result<()> {
    for key in keys {
        if !known.contains(&key.as_str()) {
            return Err(LabError::Plan(format!(
                "{place} has the unknown key \"{key}\"{}",
                nearest(key, known)
            )));
        }
    }
    Ok(())
}

/// ` (did you mean "…"?)` when something known is near, else nothing.
pub fn nearest(word: &str, known: &[&str]) -> String {
    known
        .iter()
        .map(|k| (strsim::damerau_levenshtein(k, word), *k))
        .min()
        .filter(|(distance, k)| *distance <= (k.len() / 2).clamp(1, 3))
        .map_or(String::new(), |(_, k)| format!(" (did you mean \"{k}\"?)"))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINIMAL: &str = "name = \"p\"\n[[step]]\nuse = \"library\"\ntests = [\"T611\"]\n";

    fn error(text: &str, settings: &[&str]) -> String {
        let settings: Vec<_> = settings
            .iter()
            .map(|s| Setting::parse(s).unwrap())
            .collect();
        Plan::parse(text, &settings).unwrap_err().to_string()
    }

    #[test]
    fn the_built_in_plans_parse_and_survive_the_archive() {
        for name in Plan::built_in() {
            let plan = Plan::parse(&Plan::text(name).unwrap(), &[]).unwrap();
            assert_eq!(plan.name, name);
            assert_eq!(Plan::parse(&plan.to_toml(), &[]).unwrap(), plan);
        }
    }

    #[test]
    fn settings_reach_all_steps_or_one() {
        let settings = ["sample_ms=50", "step.size=small", "step.1.jobs=[1,2]"];
        let settings: Vec<_> = settings
            .iter()
            .map(|s| Setting::parse(s).unwrap())
            .collect();
        let plan = Plan::parse(MINIMAL, &settings).unwrap();
        assert_eq!((plan.sample_ms, plan.step[0].size.as_str()), (50, "small"));
        assert_eq!(plan.step[0].jobs, [1, 2]);
    }

    #[test]
    fn the_three_schedules() {
        let words = |settings: &[&str]| {
            let all = ["step.mode=time", "step.seconds=1.0"]
                .iter()
                .chain(settings);
            let all: Vec<_> = all.map(|s| Setting::parse(s).unwrap()).collect();
            Plan::parse(MINIMAL, &all).unwrap().step[0].schedule_words()
        };
        assert_eq!(words(&["step.think_ms=20.0"]), "closed, think time 20 ms");
        assert_eq!(
            words(&["step.rate_per_s=500.0", "step.arrivals=poisson"]),
            "open, Poisson, 500/s"
        );
        let semi_open = [
            "step.rate_per_s=5.0",
            "step.operations_per_session=3",
            "step.think_ms=1.0",
        ];
        assert_eq!(
            words(&semi_open),
            "semi-open, constant, 5 sessions/s of 3 operations, think time 1 ms"
        );
    }

    #[test]
    fn a_misspelt_key_names_the_nearest() {
        let text = MINIMAL.replace("tests", "test");
        assert!(error(&text, &[]).contains("did you mean \"tests\"?"));
        assert!(error(MINIMAL, &["sampel_ms=1"]).contains("did you mean \"sample_ms\"?"));
        assert!(error(MINIMAL, &["step.sise=\"small\""]).contains("did you mean \"size\"?"));
        assert!(
            error(&MINIMAL.replace("library", "libary"), &[]).contains("did you mean \"library\"?")
        );
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let cases = [
            ("step.mode=time", "needs seconds"),
            ("step.seconds=3", "needs mode"),
            ("step.jobs=[0]", "between 1 and"),
            ("step.jobs=[2,2]", "twice"),
            ("repeat=0", "repeat"),
            ("step.rate_per_s=5", "mode = \"time\""),
            ("step.arrivals=poisson", "rate_per_s"),
            ("step.operations_per_session=3", "rate_per_s"),
            ("step.9.size=small", "has 1 steps"),
            ("a.b.c.d=1", "no key of a plan"),
            ("step.jobs=many", "not right"),
            ("primary=[\"T611\"]", "no metric"),
            ("primary=[\"T611.cpu_pct_avg\"]", "no good direction"),
        ];
        for (setting, expected) in cases {
            let message = error(MINIMAL, &[setting]);
            assert!(message.contains(expected), "{setting}: {message}");
        }
        assert!(error("name = ", &[]).contains("not TOML"));
        assert!(error("name = \"x\"\nstep = []\n", &[]).contains("no [[step]]"));
    }
}
