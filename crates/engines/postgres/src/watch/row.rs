//! Rows of PostgreSQL's views at one moment.

use std::collections::HashMap;

/// I/O by kind of process is counted from this version on …
pub(super) const VERSION_OF_IO: u32 = 16;
/// … and this one counts bytes of I/O, and that of the log among it.
pub(super) const VERSION_OF_IO_BYTES: u32 = 18;

/// Columns by view and name.
pub(super) struct Row(HashMap<String, String>);

impl Row {
    pub(super) fn of(cells: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(cells.into_iter().collect())
    }

    pub(super) fn is_on(&self, setting: &str) -> bool {
        let value = self.0.get(&format!("setting.{setting}"));
        value.is_some_and(|value| value == "on")
    }

    fn number(&self, view: &str, column: &str) -> Option<f64> {
        self.0.get(&format!("{view}.{column}"))?.parse().ok()
    }

    pub(super) fn count(&self, view: &str, column: &str) -> Option<u64> {
        self.number(view, column).map(|n| n as u64)
    }

    pub(super) fn ms(&self, view: &str, column: &str) -> Option<u64> {
        self.number(view, column).map(|ms| (ms * 1e6) as u64)
    }
}
