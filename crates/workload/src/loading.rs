//! What the loaders of the workloads share: how they tell what they do, and with how many sessions they do it.

use target::{Feature, Target};

/// What happens while a load goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// Something that a reader should know, e.g. that the engine has one writer.
    Note(&'a str),
    /// So many parts are whole: warehouses, or parts of tables.
    Parts {
        /// Whole ones.
        done: u32,
        /// All of them.
        of: u32,
        /// Rows loaded so far.
        rows: u64,
    },
    /// A step begins.
    Step(&'a str),
}

/// Told of every event, by any of the sessions.
pub type Observer<'a> = &'a (dyn Fn(Event<'_>) + Sync);

/// Sessions that load: as many as asked for, or as usual; one where the engine has one writer, which is told to who
/// asked for more.
pub(crate) fn sessions(
    target: &dyn Target,
    asked: Option<u32>,
    usual: u32,
    tell: Observer<'_>,
) -> u32 {
    let Some(why) = target.lacks(Feature::ConcurrentWriters) else {
        return asked.unwrap_or(usual);
    };
    if asked > Some(1) {
        tell(Event::Note(&format!("loading with one job: {why}")));
    }
    1
}
