//! Findings of the recovery of a journal that an earlier execution left.

use archive::Remark;
use archive::remark::PendingWrites;

/// Findings of the recovery of one journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    pub sd: String,
    /// Blocks without a pending write that were read and hold the last write.
    pub proven: u64,
    /// Blocks with neither of the contents that are possible.
    pub corrupted: u64,
    /// Blocks that were trusted, because reading all was skipped.
    pub unread: u64,
    /// Blocks whose write was pending when the earlier execution ended: each may hold its old or its new data.
    pub pending: PendingWrites,
}

impl Recovery {
    #[must_use]
    pub fn remark(&self) -> Remark {
        Remark::JournalRecovered {
            sd: self.sd.clone(),
            proven: self.proven,
            corrupted: self.corrupted,
            unread: self.unread,
            pending: self.pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_in_the_remark() {
        let mut found = Recovery {
            sd: "sd1".to_owned(),
            proven: 500,
            ..Recovery::default()
        };
        assert_eq!(
            found.remark().to_string(),
            "journal of SD sd1 recovered: 500 blocks verified, 0 corrupted; no write was pending"
        );
        (found.corrupted, found.unread) = (1, 7);
        found.pending = PendingWrites {
            count: 7,
            new: 3,
            old: 2,
            first: 1,
            ignored: 0,
        };
        assert_eq!(
            found.remark().to_string(),
            "journal of SD sd1 recovered: 500 blocks verified, 1 corrupted, 7 not read; 7 more had a pending write: 3 with the \
             new data, 2 with the old data, 1 with an incomplete first write, 1 corrupted"
        );
    }
}
