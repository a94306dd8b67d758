//! What the tables of the workloads with databases of their own have in common: `[step.oltp]`, `[step.olap]`.

/// Keys of such a table.
pub(super) struct Keys {
    /// Those that more than one kind of step takes.
    pub of_more: &'static [&'static str],
    /// Those of a step that runs the workload, and of no other.
    pub of_a_run: &'static [&'static str],
}

impl Keys {
    /// All of them.
    pub fn all(&self) -> Vec<&'static str> {
        [self.of_more, self.of_a_run].concat()
    }

    /// Whether a key that is set for all steps of the workload means something to this one.
    pub fn are_taken(&self, asked: &toml::Table, key: &str) -> bool {
        let is_run = asked.get("do").and_then(toml::Value::as_str) == Some("run");
        is_run || !self.of_a_run.contains(&key)
    }

    /// Refuses a key of a run in a step that does something else.
    pub fn refuse_of_a_run(&self, said: &toml::Table) -> Result<(), String> {
        let mut of_a_run = self.of_a_run.iter();
        match of_a_run.find(|key| said.contains_key(**key)) {
            Some(key) => Err(format!("{key} needs do = \"run\"")),
            None => Ok(()),
        }
    }
}

/// Refuses a number that is said and not between 1 and the most.
pub(super) fn bounded<const N: usize>(
    numbers: [(&str, Option<u32>, u32); N],
) -> Result<(), String> {
    for (key, value, most) in numbers {
        if value.is_some_and(|n| !(1..=most).contains(&n)) {
            return Err(format!("{key} is not between 1 and {most}"));
        }
    }
    Ok(())
}

/// Whether a value need not be written.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
