//! Who watches a run while it is measured.

use std::sync::Arc;

use archive::stream::Snapshot;
use archive::{Arranged, Point, PointKey, RightsMissing, TargetRecord};
use load::Progress;

/// Takes the snapshots of a run; called from a thread of its own.
pub type Snapshots = Arc<dyn Fn(Snapshot) + Send + Sync>;

/// Who watches a run: the terminal, a test.
pub trait Observer {
    /// The run was entered into the archive; `todo` of `planned` points are to be measured.
    fn begins(&mut self, label: &str, planned: usize, todo: usize);
    /// How both sides of a study are measured, with what is set for each alone; told once, before the first point.
    fn is_arranged(&mut self, _arranged: &Arranged, _settings: [&[String]; 2]) {}
    /// The user of a target may not see everything; told once, before the first point.
    fn lacks_rights(&mut self, _target: &str, _missing: &RightsMissing) {}
    /// The login at a target gives away what its password can be guessed from; told once, as above.
    fn has_weak_login(&mut self, _target: &str, _what: &str) {}
    /// A point begins; `progress` can be read while it runs.
    fn point_begins(&mut self, key: &PointKey, title: &str, target: &str, progress: &Arc<Progress>);
    /// Who wants a snapshot of the point at work each interval; `None` costs nothing.
    fn snapshots(&self) -> Option<Snapshots> {
        None
    }
    /// A target gave out; the run goes on with the others.
    fn gave_out(&mut self, _target: &str, _message: &str) {}
    /// A point was measured and is safe in the archive.
    fn point_ends(&mut self, point: &Point);
}

/// Tells what the users of these targets may not see, and what their logins give away.
pub(crate) fn tell_rights<'t>(
    observer: &mut dyn Observer,
    targets: impl IntoIterator<Item = &'t TargetRecord>,
) {
    for target in targets {
        if let Some(missing) = &target.rights_missing {
            observer.lacks_rights(&target.name, missing);
        }
        if let Some(what) = target.settings.get(engine::WEAK_LOGIN) {
            observer.has_weak_login(&target.name, what);
        }
    }
}
