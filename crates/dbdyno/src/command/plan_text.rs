//! Plans that stand for the flags of a verb.

use clap::ValueEnum;
use toml::{Table, Value};

/// A table of what was said.
pub(super) fn table<const N: usize>(entries: [(&str, Option<Value>); N]) -> Table {
    let said = entries.into_iter();
    said.filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
}

pub(super) fn number(n: u32) -> Value {
    i64::from(n).into()
}

/// A list of whole numbers.
pub(super) fn numbers(numbers: &[u32]) -> Value {
    numbers
        .iter()
        .copied()
        .map(number)
        .collect::<Vec<_>>()
        .into()
}

/// A step of a workload, with what is said about it.
pub(super) fn step(workload: &str, said: Table) -> Value {
    Table::from_iter([
        ("use".to_owned(), workload.into()),
        (workload.to_owned(), said.into()),
    ])
    .into()
}

/// The word that stands for a choice, in plans as on the command line.
pub(super) fn word(choice: impl ValueEnum) -> String {
    let value = choice.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}
