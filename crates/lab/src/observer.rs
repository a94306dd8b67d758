//! Observers of a run in progress.

use std::sync::Arc;

use archive::stream::Snapshot;
use archive::{Arranged, Point, PointKey, RightsMissing, TargetRecord};
use load::Progress;

/// Receiver of the snapshots of a run, called from a separate thread.
pub type Snapshots = Arc<dyn Fn(Snapshot) + Send + Sync>;

/// Observer of a run: the terminal, a test.
pub trait Observer {
    /// The run was entered into the archive; `todo` of `planned` points are to be measured.
    fn begins(&mut self, label: &str, planned: usize, todo: usize);
    /// The requested name is taken, and the run or study is called `name` instead.
    fn is_renamed(&mut self, _requested: &str, _name: &str) {}
    /// Arrangement of both sides of a study with their settings, reported once before the first point.
    fn is_arranged(&mut self, _arranged: &Arranged, _settings: [&[String]; 2]) {}
    /// The user of a target has insufficient rights to see everything; reported once before the first point.
    fn lacks_rights(&mut self, _target: &str, _missing: &RightsMissing) {}
    /// The login of a target reveals data from which its password can be guessed; reported once as above.
    fn has_weak_login(&mut self, _target: &str, _what: &str) {}
    /// A point begins; `progress` can be read while it runs.
    fn point_begins(&mut self, key: &PointKey, title: &str, target: &str, progress: &Arc<Progress>);
    /// Receiver of a snapshot of the current point per interval; `None` costs nothing.
    fn snapshots(&self) -> Option<Snapshots> {
        None
    }
    /// A target failed; the run continues with the others.
    fn gave_out(&mut self, _target: &str, _message: &str) {}
    fn point_ends(&mut self, point: &Point);
}

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
