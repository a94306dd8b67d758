//! How files are brought to their size before the first run.

/// When, and with which writes; the engine makes a run of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Format {
    pub policy: FormatPolicy,
    /// Bytes of a write (`formatxfersize=`); none: the engine's own.
    pub transfer_bytes: Option<u64>,
}

/// Whether files are brought to their size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FormatPolicy {
    /// Files that are missing or too short, as far as they are.
    #[default]
    AsNeeded,
    /// Everything, from the beginning (`formatsds=yes`).
    Always,
    /// Nothing (`formatsds=no`).
    Never,
}
