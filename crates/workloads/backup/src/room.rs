//! Upper limit of the space that a method needs in the repository.

use engine::BackupMethod;
use workload::volume::of_small_transactions;

use super::step::BackupStep;

/// Spare room, in backup and in restored copy each, for the engine's log and the tables of the proof.
const SPARE_BYTES: u64 = 64 << 20;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Needed {
    /// Size without compression, because the ratio is unknown beforehand.
    pub backup_bytes: u64,
    /// Log of the users' work, if the method archives it.
    pub archive_bytes: u64,
    pub restored_bytes: u64,
}

impl Needed {
    pub fn by(method: &BackupMethod, options: &BackupStep, logical_bytes: u64) -> Self {
        if method.backups == 0 {
            return Self::default();
        }
        let each = logical_bytes.saturating_add(SPARE_BYTES);
        let log = of_small_transactions(options.work_seconds_in_all()).room_bytes;
        Self {
            backup_bytes: each.saturating_mul(u64::from(method.backups)),
            archive_bytes: if method.log_archive.is_some() { log } else { 0 },
            restored_bytes: each.saturating_add(method.restored_log_bytes),
        }
    }

    pub fn bytes(&self) -> u64 {
        let backup = self.backup_bytes.saturating_add(self.archive_bytes);
        backup.saturating_add(self.restored_bytes)
    }
}
