//! Codes of the points of backups.

/// In front of the name of a method.
pub const OF_METHOD: &str = "BACKUP-";

/// The code of a method's points.
pub(super) fn code_of(method: &str) -> String {
    format!("{OF_METHOD}{}", method.to_uppercase())
}

/// The method of a point.
pub(super) fn method_of(code: &str) -> String {
    code.strip_prefix(OF_METHOD).unwrap_or(code).to_lowercase()
}

/// The title of a point.
pub(super) fn title(code: &str) -> String {
    format!("Backup and restore: {}", method_of(code))
}
