//! What a journal that an earlier execution left said of an SD.

use archive::Remark;
use archive::remark::PendingWrites;

/// What the recovery of one journal found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    pub sd: String,
    /// Blocks without a pending write that were read and hold what was written last.
    pub proven: u64,
    /// Blocks that hold nothing that they may hold.
    pub corrupted: u64,
    /// Blocks that were taken on trust, because the reading of all was left out.
    pub unread: u64,
    /// Blocks whose write was pending when the earlier execution ended: each may hold its old or its new data.
    pub pending: PendingWrites,
}

impl Recovery {
    /// What is to be said of it.
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
    fn counts_are_told() {
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
