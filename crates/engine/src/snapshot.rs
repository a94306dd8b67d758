//! The database as it was, kept to come back to.

use crate::{Cooled, Result};

/// A copy of a whole database beside it. There is one at most. Everything here is to be called with no
/// session open, and leaves the caches as [`crate::Target::cool`] does.
pub trait Snapshot {
    /// The copy's label; `None` when there is no copy.
    ///
    /// # Errors
    /// When it cannot be read.
    fn label(&self) -> Result<Option<String>>;

    /// Copies the database as it is now, in place of an earlier copy.
    ///
    /// # Errors
    /// When there is no room ([`crate::ErrorKind::Full`]; no copy is left then), or the target fails.
    fn take(&self, label: &str) -> Result<Cooled>;

    /// Puts the copy in the place of the database. Whoever opens a database whose restoring was broken
    /// off gets it restored.
    ///
    /// # Errors
    /// When there is no copy, or the target fails.
    fn restore(&self) -> Result<Cooled>;

    /// Removes the copy; fine when there is none.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove(&self) -> Result<()>;
}
