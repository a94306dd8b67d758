//! Shared by the tests on the stand-in for Oracle.

use std::sync::Arc;

use engine::Target;

pub use crate::shared::*;

/// A schema of the test's own; other tests are at work on the server meanwhile.
pub fn new_url() -> String {
    format!("{}?others=allow", testing::oracle_stand_in().new_url())
}

pub fn new_target() -> Arc<dyn Target> {
    opened(&new_url()).unwrap()
}

/// Text with what has a meaning in other protocols.
pub fn text(id: i64) -> String {
    format!("row\t{id}\\N\n'ä\"")
}
