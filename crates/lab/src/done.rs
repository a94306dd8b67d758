//! What became of something that was to be measured, for workloads whose points belong together.

/// What became of a key of the agenda.
pub(crate) enum Done {
    /// It and what belongs to it is in the archive.
    Entered(Vec<archive::Point>),
    /// Its user stopped it; nothing of it is kept.
    Interrupted,
    /// The target gave out.
    Broken(String),
}

/// What measuring a key gave.
pub(crate) enum Measured {
    /// Points that belong together.
    Points(Vec<archive::Point>),
    /// Its user stopped it.
    Interrupted,
    /// The target gave out.
    Broken(String),
}
