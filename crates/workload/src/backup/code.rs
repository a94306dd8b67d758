//! Codes of the points of backups: the method with its level and buffer. Channels are the point's threads.

use target::{BackupMethod, Variant};

/// In front of the name of a method.
pub const OF_METHOD: &str = "BACKUP-";

/// The code of a method's points.
pub(super) fn code_of(name: &str) -> String {
    format!("{OF_METHOD}{}", name.to_uppercase())
}

/// The method of a point, with its level and buffer.
pub(super) fn name_of(code: &str) -> String {
    code.strip_prefix(OF_METHOD).unwrap_or(code).to_lowercase()
}

/// The method that a name means, with what it asks for.
pub(super) fn method_of(methods: &[BackupMethod], name: &str) -> Option<(BackupMethod, Variant)> {
    let asked = |method: &BackupMethod| Some((*method, method.variant_of(name)?));
    methods.iter().find_map(asked)
}

/// The title of a point.
pub(super) fn title(code: &str) -> String {
    format!("Backup and restore: {}", name_of(code))
}
