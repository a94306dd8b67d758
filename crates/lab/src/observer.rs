//! Who watches a run while it is measured.

use std::sync::Arc;

use archive::{Point, PointKey};
use load::Progress;

/// Who watches a run: the terminal, a test.
pub trait Observer {
    /// The run was entered into the archive; `todo` of `planned` points are to be measured.
    fn begins(&mut self, label: &str, planned: usize, todo: usize);
    /// A point begins; `progress` can be read while it runs.
    fn point_begins(&mut self, key: &PointKey, title: &str, target: &str, progress: &Arc<Progress>);
    /// A point was measured and is safe in the archive.
    fn point_ends(&mut self, point: &Point);
}
