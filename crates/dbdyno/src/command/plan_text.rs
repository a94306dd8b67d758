//! Plans built from the flags of a verb.

use clap::ValueEnum;
use toml::{Table, Value};

pub(super) fn table<const N: usize>(entries: [(&str, Option<Value>); N]) -> Table {
    let said = entries.into_iter();
    said.filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
}

pub(super) fn number(n: u32) -> Value {
    i64::from(n).into()
}

pub(super) fn numbers(numbers: &[u32]) -> Value {
    numbers
        .iter()
        .copied()
        .map(number)
        .collect::<Vec<_>>()
        .into()
}

/// A step of a workload with its keys.
pub(super) fn step(workload: &str, said: Table) -> Value {
    Table::from_iter([
        ("use".to_owned(), workload.into()),
        (workload.to_owned(), said.into()),
    ])
    .into()
}

/// The word for a choice, the same in plans and on the command line.
pub(super) fn word(choice: impl ValueEnum) -> String {
    let value = choice.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}
