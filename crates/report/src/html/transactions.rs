//! The table of the kinds of transaction of a script.

use archive::TransactionKind;

use crate::level::TestGroup;
use crate::number;
use crate::transactions;

/// Rows under the name of their level: kind, completed, rows, rows per transaction.
pub type View = Vec<(String, Vec<[String; 4]>)>;

/// Builds the table; empty unless the test is a script.
pub fn view(group: &TestGroup<'_>) -> View {
    let mut levels = View::new();
    for curve in &group.curves {
        for level in &curve.levels {
            let kinds = transactions::of_level(level);
            if !kinds.is_empty() {
                let name = format!("{}, {}", curve.label, transactions::jobs(level));
                levels.push((name, kinds.iter().map(row).collect()));
            }
        }
    }
    levels
}

fn row(kind: &TransactionKind) -> [String; 4] {
    [
        kind.name.clone(),
        number::count(kind.completed),
        number::count(kind.rows),
        number::figure_or_unknown(kind.rows_per_transaction()),
    ]
}
