//! The group of requests under way, for those who do not wait.

use crate::explain::explain;
use crate::read::keep_row;
use crate::wire::{Event, Wire};
use engine::TargetError;
use engine::nonblocking::Replies;

#[derive(Debug, Default)]
pub(super) struct Group {
    /// Rows of the answer that is coming in.
    pub rows: u64,
    pub failed: bool,
    pub begins: bool,
    pub reads_only: bool,
}

impl Group {
    /// True if a request may be sent before the one in front of it is answered.
    #[inline]
    pub fn may_join(&mut self, begins: bool, changes_nothing: bool) -> bool {
        let joins = self.begins || (self.reads_only && changes_nothing);
        self.begins = begins;
        joins
    }

    #[inline]
    pub fn take(&mut self, event: Event, wire: &Wire, replies: &mut Replies) {
        if self.failed {
            return;
        }
        match event {
            Event::Row => {
                self.rows += 1;
                if let Some(first) = replies.wanted()
                    && let Err(error) = keep_row(wire.row(), first)
                {
                    replies.failed(error);
                }
            }
            Event::Finished(finished) => {
                if self.rows == 0 {
                    self.rows = finished.changed;
                }
                if !finished.more {
                    replies.sent_again(wire.releases());
                    replies.completed(std::mem::take(&mut self.rows), false);
                }
            }
            Event::Failed(error) => self.fail(explain("statement failed", &error), replies),
            Event::Secure | Event::Connected | Event::Prepared(_) | Event::Upload => {
                let error = TargetError::unreachable(
                    "mysql: the server sent an unexpected reply; check that it is a MariaDB or MySQL server",
                );
                self.fail(error, replies);
            }
        }
    }

    #[cold]
    fn fail(&mut self, error: TargetError, replies: &mut Replies) {
        self.failed = true;
        replies.failed(error);
    }
}
