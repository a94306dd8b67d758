//! Codes of the points of backups: the method with its level and buffer. The point's threads are the channels.

use engine::{BackupMethod, Variant};

pub const OF_METHOD: &str = "BACKUP-";

pub(super) fn code_of(name: &str) -> String {
    format!("{OF_METHOD}{}", name.to_uppercase())
}

pub(super) fn name_of(code: &str) -> String {
    code.strip_prefix(OF_METHOD).unwrap_or(code).to_lowercase()
}

pub(super) fn method_of(methods: &[BackupMethod], name: &str) -> Option<(BackupMethod, Variant)> {
    let variant = |method: &BackupMethod| Some((*method, method.variant_of(name)?));
    methods.iter().find_map(variant)
}

pub(super) fn title(code: &str) -> String {
    format!("Backup and restore: {}", name_of(code))
}
