//! Tests of plans without a target but those in memory.

mod agenda;
mod durations;
mod hostile;
mod plans;
mod sides;
mod volume;

use lab::{Plan, Registry, Result, Setting};
use workload::Library;

pub(crate) fn registry() -> Registry {
    crate::registry(Library::embedded().unwrap())
}

pub(crate) fn plan(text: &str, settings: &[&str]) -> Result<Plan> {
    let settings = settings.iter().map(|s| Setting::parse(s).unwrap());
    Plan::parse(&registry(), text, &settings.collect::<Vec<_>>())
}
