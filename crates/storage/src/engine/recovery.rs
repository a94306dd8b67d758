//! What a journal that an earlier execution left said of an SD.

use std::fmt;

/// What the recovery of one journal found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Name of the SD.
    pub sd: String,
    /// Blocks without a pending write that were read and hold what was written last.
    pub proven: u64,
    /// Blocks that hold nothing that they may hold.
    pub corrupted: u64,
    /// Blocks that were taken on trust, because the reading of all was left out.
    pub unread: u64,
    /// Blocks whose write was pending when the earlier execution ended.
    pub pending: Pending,
}

/// Blocks whose write was pending: each may hold its old or its new data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pending {
    /// All of them.
    pub count: u64,
    /// They hold the new data.
    pub new: u64,
    /// They hold the old data.
    pub old: u64,
    /// Their first write did not get there, and of what was there before nothing is known.
    pub first: u64,
    /// Nobody looked, because pending writes were to be ignored.
    pub ignored: u64,
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sd, pending, .. } = self;
        write!(
            f,
            "journal of SD {sd} recovered: {} blocks verified, {} corrupted",
            self.proven, self.corrupted
        )?;
        if self.unread > 0 {
            write!(f, ", {} not read", self.unread)?;
        }
        match pending.count {
            0 => write!(f, "; no write was pending"),
            count => write!(f, "; {count} more had a write pending: {pending}"),
        }
    }
}

impl fmt::Display for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settled = self.new + self.old + self.first + self.ignored;
        let counts = [
            (self.new, "with the new data"),
            (self.old, "with the old data"),
            (self.first, "first write, not complete"),
            (self.ignored, "ignored"),
            (self.count.saturating_sub(settled), "corrupted"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = counts
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        f.write_str(&parts.join(", "))
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
            found.to_string(),
            "journal of SD sd1 recovered: 500 blocks verified, 0 corrupted; no write was pending"
        );
        (found.corrupted, found.unread) = (1, 7);
        found.pending = Pending {
            count: 7,
            new: 3,
            old: 2,
            first: 1,
            ignored: 0,
        };
        assert_eq!(
            found.to_string(),
            "journal of SD sd1 recovered: 500 blocks verified, 1 corrupted, 7 not read; 7 more had a write pending: 3 with the new data, 2 with the old data, 1 first write, not complete, 1 corrupted"
        );
    }
}
