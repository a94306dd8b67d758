//! The table of the kinds of transaction of a script.

use archive::Table;

use super::section::Fragment;
use crate::level::TestGroup;
use crate::number;
use crate::transactions;

const COLUMNS: &str = "transaction | completed | rows | rows per transaction";

/// The table; empty unless the test is a script.
pub fn view(group: &TestGroup<'_>) -> Fragment {
    let mut table = Table::new(COLUMNS);
    for curve in &group.curves {
        for level in &curve.levels {
            let kinds = transactions::of_level(level);
            if !kinds.is_empty() {
                table.heading(format!("{}, {}", curve.label, transactions::jobs(level)));
            }
            for kind in kinds {
                table.row([
                    kind.name.clone(),
                    number::count(kind.completed),
                    number::count(kind.rows),
                    number::figure_or_unknown(kind.rows_per_transaction()),
                ]);
            }
        }
    }
    let mut parts = Fragment::default();
    parts.table(
        "times",
        &format!("Transaction types of {}", group.test),
        &table,
    );
    parts
}
