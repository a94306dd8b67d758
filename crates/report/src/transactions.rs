//! Kinds of transaction of a script: a row for each, over the repetitions of a level.

use archive::TransactionKind;

use crate::level::{Curve, Level};
use crate::number;

/// The kinds at a level over its repetitions; empty if the points have none.
pub fn of_level(level: &Level<'_>) -> Vec<TransactionKind> {
    let mut all: Vec<TransactionKind> = Vec::new();
    let kinds = level
        .points
        .iter()
        .flat_map(|p| &p.by_operation.transactions);
    for kind in kinds {
        match all.iter_mut().find(|k| k.name == kind.name) {
            Some(sum) => {
                sum.completed += kind.completed;
                sum.rows += kind.rows;
            }
            None => all.push(kind.clone()),
        }
    }
    all
}

/// "rows per transaction with 4 sessions: look 1 · buy 3", one sentence per level.
pub fn sentences(curve: &Curve<'_>) -> Vec<String> {
    let sentence = |level: &Level<'_>| {
        let kinds = of_level(level);
        let each = kinds.iter().map(|kind| {
            let rows = number::figure_or_unknown(kind.rows_per_transaction());
            format!("{} {rows}", kind.name)
        });
        let each = each.collect::<Vec<_>>().join(" · ");
        (!kinds.is_empty()).then(|| format!("rows per transaction with {}: {each}", jobs(level)))
    };
    curve.levels.iter().filter_map(sentence).collect()
}

pub fn jobs(level: &Level<'_>) -> String {
    match level.first().key.jobs {
        1 => "1 job".to_owned(),
        jobs => format!("{jobs} sessions"),
    }
}
