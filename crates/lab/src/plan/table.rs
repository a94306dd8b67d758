//! The tables of a step: what is asked of its workload, as `[step.oltp]`.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a step asks of its workload in one table.
pub trait StepTable: Any + Debug + Send + Sync {
    /// The table's keys as TOML.
    fn to_toml(&self) -> String;
}

impl<T: Any + Debug + Send + Sync + Serialize> StepTable for T {
    fn to_toml(&self) -> String {
        toml::to_string(self)
            .expect("a table holds only strings, numbers and arrays, which TOML can write")
    }
}

/// A table that steps may have: how it is called, what stands in it, and how it is read.
#[derive(Debug, Clone, Copy)]
pub struct TableKind {
    pub name: &'static str,
    pub keys: Keys,
    pub read: fn(toml::Table) -> Result<Arc<dyn StepTable>, toml::de::Error>,
}

/// Reads a table of one type.
///
/// # Errors
/// A key or value that it does not have.
pub fn read<T: StepTable + DeserializeOwned>(
    table: toml::Table,
) -> Result<Arc<dyn StepTable>, toml::de::Error> {
    let table: T = toml::Value::Table(table).try_into()?;
    Ok(Arc::new(table))
}

/// The tables of one step.
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

/// They are equal when they are written alike.
impl PartialEq for Tables {
    fn eq(&self, other: &Self) -> bool {
        self.to_toml("") == other.to_toml("")
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Keys {
    /// Those that more than one kind of step takes.
    pub of_more: &'static [&'static str],
    /// Those of a step that runs the workload, and of no other.
    pub of_a_run: &'static [&'static str],
    /// What such a step says to `do`.
    pub run: &'static str,
}

impl Keys {
    pub fn all(&self) -> Vec<&'static str> {
        [self.of_more, self.of_a_run].concat()
    }

    /// Whether a key that is set for all steps of the workload means something to this one.
    pub fn are_taken(&self, asked: &toml::Table, key: &str) -> bool {
        let is_run = asked.get("do").and_then(toml::Value::as_str) == Some(self.run);
        is_run || !self.of_a_run.contains(&key)
    }

    /// Refuses a key of a run in a step that does something else.
    ///
    /// # Errors
    /// The first such key.
    pub fn refuse_of_a_run(&self, said: &toml::Table) -> Result<(), String> {
        let mut of_a_run = self.of_a_run.iter();
        match of_a_run.find(|key| said.contains_key(**key)) {
            Some(key) => Err(format!("{key} needs do = \"{}\"", self.run)),
            None => Ok(()),
        }
    }
}

/// Refuses a number that is said and not between 1 and the most.
///
/// # Errors
/// The first such number, by its key.
pub fn bounded<const N: usize>(numbers: [(&str, Option<u32>, u32); N]) -> Result<(), String> {
    for (key, value, most) in numbers {
        if value.is_some_and(|n| !(1..=most).contains(&n)) {
            return Err(format!("{key} is not between 1 and {most}"));
        }
    }
    Ok(())
}

/// Whether a value need not be written.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
