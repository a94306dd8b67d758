//! Parses a plan: applies settings, and checks every key and value that does not depend on a target.

use std::ops::RangeInclusive;

use verdict::metric::Metric;

use crate::plan::{Plan, REPEAT_MAX, Setting, Step, TableKind};
use crate::plan::{STEP_KEYS, Tables, VALIDITY_KEYS, steps_of};
use crate::registry::Registry;
use crate::{LabError, Result};

const STALL_LIMIT_S: RangeInclusive<f64> = 0.1..=86_400.0;
/// Keys of a plan, to suggest the nearest when one is misspelt.
const PLAN_KEYS: [&str; 11] = [
    "name",
    "about",
    "sample_ms",
    "repeat",
    "primary",
    "stall_limit_s",
    "host",
    "validity",
    "library",
    "unsound",
    "step",
];

impl Plan {
    /// Parses a plan, applies settings, and checks everything that does not depend on a target.
    ///
    /// # Errors
    /// One sentence with the position of the error and the nearest known key.
    pub fn parse(workloads: &Registry, text: &str, settings: &[Setting]) -> Result<Self> {
        let mut table: toml::Table = toml::from_str(text).map_err(|e| {
            let instead = workloads
                .all()
                .find_map(|workload| workload.instead_of(text));
            LabError::Plan(match instead {
                Some(instead) => format!("the plan is not TOML: {instead}"),
                None => format!("the plan is not TOML: {}", archive::toml_sentence(text, &e)),
            })
        })?;
        let known = workloads.tables();
        for setting in settings {
            apply(&mut table, &known, setting)?;
        }
        check_keys("the plan", table.keys(), &PLAN_KEYS)?;
        if let Some(toml::Value::Table(limits)) = table.get("validity") {
            check_keys("validity", limits.keys(), &VALIDITY_KEYS)?;
        }
        let given: Vec<toml::Table> = steps_of(&mut table)?
            .into_iter()
            .map(|s| s.clone())
            .collect();
        table.remove("step");
        let mut plan: Plan = toml::Value::Table(table).try_into().map_err(not_right)?;
        plan.check()?;
        // A resumed run finds its library from any directory.
        plan.library = plan
            .library
            .map(|path| std::path::absolute(&path).unwrap_or(path));
        for (number, given) in (1..).zip(given) {
            plan.step.push(read_step(workloads, &known, number, given)?);
        }
        if plan.step.is_empty() {
            return Err(LabError::Plan("the plan has no [[step]]".into()));
        }
        Ok(plan)
    }

    fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(LabError::Plan(what));
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
        if let Some(limit_s) = self.stall_limit_s
            && !STALL_LIMIT_S.contains(&limit_s)
        {
            return wrong(format!(
                "stall_limit_s = {limit_s} is not between {} and {}",
                STALL_LIMIT_S.start(),
                STALL_LIMIT_S.end()
            ));
        }
        let known = host::tuning::SETTINGS.map(|(name, _)| name);
        check_keys("host", self.host.keys(), &known)?;
        for metric in &self.primary {
            check_primary(metric)?;
        }
        self.validity.check().map_err(LabError::Plan)
    }
}

impl Setting {
    /// The places of a key in the plan of one workload: `journal` is `step.oltp.journal`, and `arrivals` is `step.N.arrivals`
    /// of the steps that measure. Keys of the plan, and keys with a dot, have their place.
    ///
    /// # Errors
    /// When no part of the plan has such a key.
    pub fn places(self, workloads: &Registry, plan: &toml::Table) -> Result<Vec<Self>> {
        let Self { key, value } = &self;
        if key.contains('.') || PLAN_KEYS.contains(&key.as_str()) {
            return Ok(vec![self]);
        }
        let mut plan = plan.clone();
        let steps = steps_of(&mut plan)?;
        let known = workloads.tables();
        let is_run = |step: &toml::Table| {
            known.iter().any(|kind| {
                let of_workload = step.get(kind.name).and_then(toml::Value::as_table);
                of_workload.is_some_and(|given| {
                    given
                        .get("do")
                        .is_none_or(|order| order.as_str() == Some(kind.keys.run))
                })
            })
        };
        let used = |kind: &&TableKind| steps.iter().any(|step| step.contains_key(kind.name));
        let tables: Vec<&TableKind> = known.iter().copied().filter(used).collect();
        let mut places: Vec<String> = tables
            .iter()
            .filter(|kind| kind.keys.all().contains(&key.as_str()))
            .map(|kind| format!("step.{}.{key}", kind.name))
            .collect();
        if places.is_empty() && STEP_KEYS.contains(&key.as_str()) {
            let measured = (1..).zip(&steps).filter(|(_, step)| is_run(step));
            places.extend(measured.map(|(number, _)| format!("step.{number}.{key}")));
        }
        if places.is_empty() {
            let mut all: Vec<&str> = tables.iter().flat_map(|kind| kind.keys.all()).collect();
            all.extend(STEP_KEYS);
            return Err(LabError::Plan(format!(
                "there is no key \"{key}\" for --set{}",
                archive::nearest(key, all)
            )));
        }
        let at = |key| Self {
            key,
            value: value.clone(),
        };
        Ok(places.into_iter().map(at).collect())
    }
}

/// Reads a step: its own keys, and the tables of its workload.
fn read_step(
    workloads: &Registry,
    known: &[&TableKind],
    number: usize,
    mut given: toml::Table,
) -> Result<Step> {
    let place = format!("step {number}");
    let names: Vec<&str> = known.iter().map(|table| table.name).collect();
    check_keys(&place, given.keys(), &[&STEP_KEYS[..], &names].concat())?;
    let mut tables = Vec::new();
    for table in known {
        let Some(given) = given.remove(table.name) else {
            continue;
        };
        let toml::Value::Table(given) = given else {
            let what = format!("{place}: {0} must be a table [step.{0}]", table.name);
            return Err(LabError::Plan(what));
        };
        let place = format!("{place}, {}", table.name);
        check_keys(&place, given.keys(), &table.keys.all())?;
        tables.push((table.name, (table.read)(given).map_err(not_right)?));
    }
    let mut step: Step = toml::Value::Table(given).try_into().map_err(not_right)?;
    step.tables = Tables(tables);
    check_step(workloads, &step).map_err(|what| LabError::Plan(format!("{place}: {what}")))?;
    Ok(step)
}

fn check_step(workloads: &Registry, step: &Step) -> std::result::Result<(), String> {
    let uses = &step.uses;
    if step.repeat.is_some_and(|n| !(1..=REPEAT_MAX).contains(&n)) {
        return Err(format!("repeat is not between 1 and {REPEAT_MAX}"));
    }
    let workload = workloads.find(uses)?;
    let taken = workload.tables();
    let (said, mut needed) = (&step.tables.0, taken.iter());
    if let Some((name, _)) = said
        .iter()
        .find(|(name, _)| !taken.iter().any(|t| t.name == *name))
    {
        return Err(format!("[step.{name}] needs use = \"{name}\""));
    }
    if let Some(table) = needed.find(|t| !said.iter().any(|(name, _)| t.name == *name)) {
        return Err(format!("use = \"{uses}\" needs [step.{}]", table.name));
    }
    if !workload.takes_keys_of_tests() {
        step.refuse_keys_of_tests()?;
    }
    workload.check(step)?;
    step.check(workload.is_timed())
}

fn not_right(error: toml::de::Error) -> LabError {
    let what = one_line(&error.to_string());
    LabError::Plan(format!("the plan is invalid: {what}"))
}

fn check_primary(text: &str) -> Result<()> {
    let metric: Metric = text
        .parse()
        .map_err(|e: verdict::metric::MetricError| LabError::Plan(format!("primary: {e}")))?;
    match verdict::metric::better(&metric.figure) {
        archive::Better::Neither => Err(LabError::Plan(format!(
            "primary: neither a higher nor a lower \"{text}\" is better, so no verdict can rest on it; name a rate or a time"
        ))),
        archive::Better::Higher | archive::Better::Lower => Ok(()),
    }
}

fn apply(table: &mut toml::Table, known: &[&TableKind], setting: &Setting) -> Result<()> {
    let parts: Vec<&str> = setting.key.split('.').collect();
    let no_place = || {
        let tables = known.iter().map(|table| format!("step.{}.KEY", table.name));
        LabError::Plan(format!(
            "setting {}: plans have no such key; write KEY, step.KEY (all steps), step.N.KEY (one step), {}, validity.KEY or host.KEY",
            setting.key,
            tables.collect::<Vec<_>>().join(", ")
        ))
    };
    match parts.as_slice() {
        ["step", place, key] => {
            if let Some(given) = known.iter().find(|table| table.name == *place) {
                return match apply_to_workload(table, given, key, setting)? {
                    0 => Err(no_place()),
                    _ => Ok(()),
                };
            }
            let index: usize = place.parse().map_err(|_| no_place())?;
            let mut steps = steps_of(table)?;
            let count = steps.len();
            let step = index
                .checked_sub(1)
                .and_then(|i| steps.get_mut(i))
                .ok_or_else(|| {
                    let steps = if count == 1 { "step" } else { "steps" };
                    LabError::Plan(format!(
                        "setting {}: there is no step {index}; the plan has {count} {steps}",
                        setting.key
                    ))
                })?;
            step.insert((*key).to_owned(), setting.value.clone());
        }
        ["step", key] => {
            for step in steps_of(table)? {
                step.insert((*key).to_owned(), setting.value.clone());
            }
        }
        [of @ ("validity" | "host"), key] => {
            let keys = table
                .entry(*of)
                .or_insert_with(|| toml::Table::new().into());
            let keys = keys.as_table_mut().ok_or_else(no_place)?;
            keys.insert((*key).to_owned(), setting.value.clone());
        }
        [key] if *key != "step" => {
            table.insert((*key).to_owned(), setting.value.clone());
        }
        _ => return Err(no_place()),
    }
    Ok(())
}

/// Sets a key in all steps of a workload that take it, and returns their number.
fn apply_to_workload(
    table: &mut toml::Table,
    kind: &TableKind,
    key: &str,
    setting: &Setting,
) -> Result<usize> {
    let mut taken = 0;
    for step in steps_of(table)? {
        let given = step.get_mut(kind.name).and_then(toml::Value::as_table_mut);
        if let Some(given) = given.filter(|given| kind.keys.are_taken(given, key)) {
            given.insert(key.to_owned(), setting.value.clone());
            taken += 1;
        }
    }
    Ok(taken)
}

fn check_keys<'a>(
    place: &str,
    keys: impl Iterator<Item = &'a String>,
    known: &[&str],
) -> Result<()> {
    for key in keys {
        if !known.contains(&key.as_str()) {
            let hint = if place == "the plan" && STEP_KEYS.contains(&key.as_str()) {
                format!("; steps have it: step.{key} (all steps) or step.1.{key}")
            } else {
                archive::nearest(key, known)
            };
            return Err(LabError::Plan(format!(
                "{place} has the unknown key \"{key}\"{hint}"
            )));
        }
    }
    Ok(())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
