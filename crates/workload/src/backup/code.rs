//! Codes of the points of backups: the method with its level. Channels are the point's threads.

use target::BackupMethod;

/// In front of the name of a method.
pub const OF_METHOD: &str = "BACKUP-";

/// The code of a method's points.
pub(super) fn code_of(name: &str) -> String {
    format!("{OF_METHOD}{}", name.to_uppercase())
}

/// The method of a point, with its level.
pub(super) fn name_of(code: &str) -> String {
    code.strip_prefix(OF_METHOD).unwrap_or(code).to_lowercase()
}

/// The method that a name means, with the level that it asks for.
pub(super) fn method_of(
    methods: &[BackupMethod],
    name: &str,
) -> Option<(BackupMethod, Option<u32>)> {
    methods
        .iter()
        .find_map(|method| Some((*method, method.level_of(name)?)))
}

/// The title of a point.
pub(super) fn title(code: &str) -> String {
    format!("Backup and restore: {}", name_of(code))
}
