//! The list of an engine's backup methods: each is one entry, with its description and what carries it out.

use crate::{BackupMethod, Method};

/// A method of an engine, with what carries it out on a target of type `T`.
pub struct Adapter<T> {
    pub about: BackupMethod,
    pub on: for<'t> fn(&'t T) -> Box<dyn Method + 't>,
}

/// The descriptions of an engine's methods.
pub fn described<T>(adapters: &[Adapter<T>]) -> Vec<BackupMethod> {
    adapters.iter().map(|adapter| adapter.about).collect()
}

pub fn bound<'t, T>(
    adapters: &[Adapter<T>],
    name: &str,
    target: &'t T,
) -> Option<Box<dyn Method + 't>> {
    let adapter = adapters.iter().find(|adapter| adapter.about.name == name)?;
    Some((adapter.on)(target))
}
