//! Policy by which files are brought to their size before the first run.

/// Policy and size of the writes; the engine makes a run of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Format {
    pub policy: FormatPolicy,
    pub transfer_bytes: Option<u64>,
}

/// Files that are brought to their size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FormatPolicy {
    /// Files that are missing or too short, only the missing part.
    #[default]
    AsNeeded,
    /// All files, from the beginning (`formatsds=yes`).
    Always,
    /// None (`formatsds=no`).
    Never,
}
