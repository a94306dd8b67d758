//! Tables of a step: the options of its workload, as `[step.oltp]`.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Options of a workload in one table.
pub trait StepTable: Any + Debug + Send + Sync {
    fn to_toml(&self) -> String;
}

impl<T: Any + Debug + Send + Sync + Serialize> StepTable for T {
    fn to_toml(&self) -> String {
        toml::to_string(self)
            .expect("a table holds only strings, numbers and arrays, which TOML can write")
    }
}

/// A table of steps: its name, its keys, and its reader.
#[derive(Debug, Clone, Copy)]
pub struct TableKind {
    pub name: &'static str,
    pub keys: Keys,
    pub read: fn(toml::Table) -> Result<Arc<dyn StepTable>, toml::de::Error>,
}

pub fn read<T: StepTable + DeserializeOwned>(
    table: toml::Table,
) -> Result<Arc<dyn StepTable>, toml::de::Error> {
    let table: T = toml::Value::Table(table).try_into()?;
    Ok(Arc::new(table))
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Tables(pub Vec<(&'static str, Arc<dyn StepTable>)>);

impl Tables {
    pub fn find<T: StepTable>(&self) -> Option<&T> {
        self.0.iter().find_map(|(_, table)| {
            let any: &dyn Any = &**table;
            any.downcast_ref()
        })
    }

    pub fn to_toml(&self, root: &str) -> String {
        let texts = self
            .0
            .iter()
            .map(|(name, table)| format!("\n[{root}{name}]\n{}", table.to_toml()));
        texts.collect()
    }
}

/// Tables are equal if their TOML is.
impl PartialEq for Tables {
    fn eq(&self, other: &Self) -> bool {
        self.to_toml("") == other.to_toml("")
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Keys {
    /// Keys that several kinds of step take.
    pub of_more: &'static [&'static str],
    pub of_a_run: &'static [&'static str],
    /// Value of `do` in such a step.
    pub run: &'static str,
}

impl Keys {
    pub fn all(&self) -> Vec<&'static str> {
        [self.of_more, self.of_a_run].concat()
    }

    /// True if a key set for all steps of the workload applies to this one.
    pub fn are_taken(&self, given: &toml::Table, key: &str) -> bool {
        let is_run = given.get("do").and_then(toml::Value::as_str) == Some(self.run);
        is_run || !self.of_a_run.contains(&key)
    }

    /// Refuses a key of a run in a step that does something else.
    pub fn refuse_of_a_run(&self, said: &toml::Table) -> Result<(), String> {
        let mut of_a_run = self.of_a_run.iter();
        match of_a_run.find(|key| said.contains_key(**key)) {
            Some(key) => Err(format!("{key} needs do = \"{}\"", self.run)),
            None => Ok(()),
        }
    }
}

/// Refuses a number that is not between 1 and its maximum.
pub fn bounded<const N: usize>(numbers: [(&str, Option<u32>, u32); N]) -> Result<(), String> {
    for (key, value, most) in numbers {
        if value.is_some_and(|n| !(1..=most).contains(&n)) {
            return Err(format!("{key} is not between 1 and {most}"));
        }
    }
    Ok(())
}

pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
