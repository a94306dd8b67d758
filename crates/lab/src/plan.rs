//! Plans: requests as TOML; docs/FORMAT.md describes every key.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use archive::Remark;
use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};

use crate::{LabError, Result};

mod degree;
mod step;
mod table;
mod validity;

pub(crate) use step::STEP_KEYS;
pub(crate) use table::Tables;
pub(crate) use validity::KEYS as VALIDITY_KEYS;

pub use degree::{Degree, degrees_on};
pub use step::{ArrivalKind, JOBS_MAX, Mode, ScriptAt, Step};
pub use table::{Keys, StepTable, TableKind, bounded, is_default, read};
pub use validity::Validity;

static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../plans");

const LIBRARY: &str = "library";
const FILE_BYTES_MAX: u64 = 4 << 20;
pub const REPEAT_MAX: u32 = 1000;
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    #[serde(default = "sample_ms_default")]
    pub sample_ms: u64,
    #[serde(default = "repeat_default")]
    pub repeat: u32,
    /// Metrics that decide a comparison, named before the run; the throughput of every test if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub primary: Vec<String>,
    /// A server is given up if no operation completed for this long and it refuses new sessions as well. By default
    /// it is the time of a thousand operations at the rate so far, between 10 s and 60 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall_limit_s: Option<f64>,
    /// Directory of the test library to use in place of the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<PathBuf>,
    /// Settings of the kernel for the devices under the target during the run, by their names in
    /// [`host::tuning::SETTINGS`].
    #[serde(
        default,
        deserialize_with = "text_or_number",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub host: BTreeMap<String, String>,
    /// Limits of the checks on the driver.
    #[serde(default, skip_serializing_if = "Validity::is_usual")]
    pub validity: Validity,
    /// Weaknesses of the published protocol that the plan repeats.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsound: Vec<Remark>,
    #[serde(skip)]
    pub step: Vec<Step>,
}

/// Values in the form of the kernel's files: a whole number is allowed as text.
fn text_or_number<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<BTreeMap<String, String>, D::Error> {
    let values = BTreeMap::<String, toml::Value>::deserialize(deserializer)?;
    let text = |(name, value): (String, toml::Value)| match value {
        toml::Value::String(text) => Ok((name, text)),
        toml::Value::Integer(number) => Ok((name, number.to_string())),
        other => Err(serde::de::Error::custom(format!(
            "host.{name} is {other}; write a text or a whole number"
        ))),
    };
    values.into_iter().map(text).collect()
}

fn sample_ms_default() -> u64 {
    1000
}

fn repeat_default() -> u32 {
    1
}

#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Dotted key, e.g. "step.size" (all steps) or "step.2.size" (the second).
    pub key: String,
    /// Value as TOML; anything else is a string.
    pub value: toml::Value,
}

impl Setting {
    /// Parses `KEY=VALUE`.
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
    /// Repetitions of a step: those of the plan, or more that the step has of its own.
    pub fn repetitions_of(&self, step: &Step) -> u32 {
        step.repeat.unwrap_or(1).max(self.repeat)
    }

    /// Repetitions of the step that has most.
    pub fn repetitions(&self) -> u32 {
        let of_steps = self.step.iter().map(|step| self.repetitions_of(step));
        of_steps.max().unwrap_or(self.repeat)
    }

    pub fn built_in() -> Vec<&'static str> {
        let mut names: Vec<_> = BUILT_IN
            .files()
            .filter_map(|f| f.path().file_stem()?.to_str())
            .collect();
        names.sort_unstable();
        names
    }

    /// The codes of tests in a name such as `T611,T616`, which stands for a plan of these tests.
    pub fn tests_of(name: &str) -> Option<Vec<String>> {
        let is_code = |code: &str| {
            let digits = code.strip_prefix(['T', 't', 'D', 'd']);
            digits.is_some_and(|digits| {
                digits.len() == 3 && digits.bytes().all(|b| b.is_ascii_digit())
            })
        };
        let codes = name
            .split(',')
            .map(|code| is_code(code).then(|| code.to_uppercase()));
        codes.collect()
    }

    /// Text of the plan called `name`: a built-in one, or that of some tests, otherwise a file, whose scripts are relative to it.
    pub fn text(name: &str) -> Result<String> {
        if let Some(tests) = Self::tests_of(name) {
            return Ok(format!(
                "name = \"{}\"\nsample_ms = 100\n[[step]]\nuse = \"library\"\ntests = {tests:?}\nmode = \"time\"\n\
                 seconds = 2.0\nrepeat = 3\n",
                tests.join("+")
            ));
        }
        if let Some(file) = BUILT_IN.get_file(format!("{name}.toml")) {
            return Ok(file.contents_utf8().unwrap_or_default().to_owned());
        }
        let text = archive::read_text(Path::new(name), FILE_BYTES_MAX).map_err(|e| {
            if e.kind() == std::io::ErrorKind::InvalidData {
                return LabError::Plan(format!("the plan \"{name}\" cannot be read: {e}"));
            }
            let hint = archive::nearest(name, Self::built_in());
            LabError::Plan(format!(
                "there is no built-in plan \"{name}\"{hint}, and no such file can be read ({e}); the built-in plans are {}",
                Self::built_in().join(", ")
            ))
        })?;
        Ok(with_absolute_paths(text, Path::new(name)))
    }

    /// The test library that a plan names, which has to be read before the plan. [`Plan::parse`] refuses text that is no
    /// plan.
    pub fn library_of(text: &str, settings: &[Setting]) -> Option<PathBuf> {
        let last = settings.iter().rev().find(|s| s.key == LIBRARY);
        let value = match last {
            Some(setting) => setting.value.clone(),
            None => toml::from_str::<toml::Table>(text).ok()?.remove(LIBRARY)?,
        };
        value.as_str().map(PathBuf::from)
    }

    pub fn to_toml(&self) -> String {
        let plan = toml::to_string(self)
            .expect("a plan holds only strings, numbers and arrays, which TOML can write");
        let steps = self.step.iter();
        let steps = steps.map(|step| format!("\n[[step]]\n{}", step.toml_at("step.")));
        plan + &steps.collect::<String>()
    }
}

/// Makes the paths of scripts and of the library absolute, so that a plan means the same from any directory, and a resumed
/// run finds them. [`Plan::parse`] refuses text that is no plan.
fn with_absolute_paths(text: String, file: &Path) -> String {
    let Ok(mut table) = toml::from_str::<toml::Table>(&text) else {
        return text;
    };
    let mut is_changed = false;
    let mut make_absolute = |value: Option<&mut toml::Value>| {
        if let Some(toml::Value::String(name)) = value {
            let path = file.with_file_name(&*name);
            // If the directory was removed meanwhile, reading the file gives the error.
            let path = std::path::absolute(&path).unwrap_or(path);
            *name = path.display().to_string();
            is_changed = true;
        }
    };
    make_absolute(table.get_mut(LIBRARY));
    for step in steps_of(&mut table).unwrap_or_default() {
        make_absolute(step.get_mut("script"));
    }
    if is_changed { table.to_string() } else { text }
}

pub(crate) fn steps_of(table: &mut toml::Table) -> Result<Vec<&mut toml::Table>> {
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
