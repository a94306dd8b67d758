//! Sessions whose questions and answers can be taken apart, so that one thread can look after many.

use std::os::fd::RawFd;

use crate::{Result, Statement, TargetError, Value};

/// A session that sends without waiting for the answer. What it was prepared with, the blocking
/// [`crate::Session`] has done before; while a group is under way, nothing may be asked of that one.
pub trait Nonblocking {
    /// Becomes readable when something comes.
    fn descriptor(&self) -> RawFd;

    /// Adds a request to the group that is sent next.
    ///
    /// # Errors
    /// When it cannot be encoded; nothing of the group is sent then, and the next one is empty.
    fn queue(&mut self, request: Request<'_>) -> Result<()>;

    /// Sends the group as far as the socket takes it; called again when there is room for the rest.
    ///
    /// # Errors
    /// When the connection broke.
    fn send(&mut self) -> Result<Sent>;

    /// True if something that may be sent now waits for room in the socket. [`Nonblocking::receive`] sends as
    /// well, where an engine has to see one answer before it may be sent the next request.
    fn waits_for_room(&self) -> bool;

    /// Takes what has come of the answers to the group; true when all of it was answered, false when nothing
    /// more is there yet. Where a request fails, those behind it in the group are not carried out, or were
    /// such as change nothing.
    ///
    /// # Errors
    /// When the connection broke. What the database refuses stands in the replies.
    fn receive(&mut self, replies: &mut Replies) -> Result<bool>;

    /// As [`Nonblocking::receive`], but waits until all of the group was answered.
    ///
    /// # Errors
    /// As there.
    fn await_replies(&mut self, replies: &mut Replies) -> Result<()>;

    /// True if a transaction is open, failed ones included, when a group has been answered.
    fn in_transaction(&self) -> bool;
}

/// One request of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Request<'a> {
    /// Begins a transaction that may write.
    Begin,
    /// Begins a transaction that only reads.
    BeginRead,
    /// Executes a prepared statement; every row it returns is read.
    Execute(Statement, &'a [Value<'a>]),
    Commit,
    /// Rolls back; alone in its group.
    Rollback,
}

/// How far a group was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    All,
    Part,
}

/// The answers to one group, in the order of its requests; used again and again without new memory.
#[derive(Debug, Default)]
pub struct Replies {
    rows: Vec<u64>,
    kept: Vec<Option<usize>>,
    first: Vec<FirstRow>,
    error: Option<TargetError>,
    rolled_back: bool,
    further_round_trips: u64,
}

impl Replies {
    /// Forgets everything, for the next group.
    #[inline]
    pub fn clear(&mut self) {
        self.rows.clear();
        self.kept.clear();
        self.error = None;
        self.rolled_back = false;
        self.further_round_trips = 0;
    }

    /// Says of the next request whether its first row is to be kept, in the place `keep`.
    #[inline]
    pub fn awaits(&mut self, keep: Option<usize>) {
        if let Some(place) = keep {
            if self.first.len() <= place {
                self.first.resize_with(place + 1, FirstRow::default);
            }
            self.first[place].clear();
        }
        self.kept.push(keep);
    }

    /// Rows that the request number `at` returned or changed; `None` when it was not carried out.
    #[inline]
    pub fn rows(&self, at: usize) -> Option<u64> {
        self.rows.get(at).copied()
    }

    /// The row that was kept in `place`.
    #[inline]
    pub fn first(&self, place: usize) -> Option<&FirstRow> {
        self.first.get(place)
    }

    /// Makes a place for each of so many rows.
    #[inline]
    pub fn reserve(&mut self, places: usize) {
        if self.first.len() < places {
            self.first.resize_with(places, FirstRow::default);
        }
    }

    /// Where the first row of the request `at` is to be put; for threads that fetch by themselves as well.
    #[inline]
    pub fn first_mut(&mut self, place: usize) -> Option<&mut FirstRow> {
        self.first.get_mut(place)
    }

    /// The first error of the group.
    #[inline]
    pub fn take_error(&mut self) -> Option<TargetError> {
        self.error.take()
    }

    /// True if the database rolled back what was meant to be committed.
    #[inline]
    pub fn rolled_back(&self) -> bool {
        self.rolled_back
    }

    /// Round trips that the group took: more than one where an engine had to see an answer before it could be
    /// sent what follows.
    #[inline]
    pub fn round_trips(&self) -> u64 {
        1 + self.further_round_trips
    }

    /// Says how often something of the group was sent after its beginning.
    #[inline]
    pub fn sent_again(&mut self, times: u64) {
        self.further_round_trips = times;
    }

    /// Number of the request whose answer comes next.
    #[inline]
    pub fn next(&self) -> usize {
        self.rows.len()
    }

    /// Where the row that has just come is to be kept, if it is the first of its request and wanted.
    #[inline]
    pub fn wanted(&mut self) -> Option<&mut FirstRow> {
        let place = (*self.kept.get(self.rows.len())?)?;
        self.first.get_mut(place).filter(|row| row.is_empty())
    }

    #[inline]
    pub fn completed(&mut self, rows: u64, rolled_back: bool) {
        self.rows.push(rows);
        self.rolled_back |= rolled_back;
    }

    pub fn failed(&mut self, error: TargetError) {
        self.error.get_or_insert(error);
    }
}

/// The first row of a result, in memory that is used again.
#[derive(Debug, Default)]
pub struct FirstRow {
    cells: Vec<Cell>,
    used: usize,
}

#[derive(Debug, Default)]
struct Cell {
    kind: Kind,
    number: i64,
    text: String,
}

#[derive(Debug, Default, Clone, Copy)]
enum Kind {
    #[default]
    Null,
    Int,
    Text,
}

impl FirstRow {
    #[inline]
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// True when there was no row.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// The value in a column, from 0; `None` when it is null or there was no row.
    #[inline]
    pub fn value(&self, column: usize) -> Option<Value<'_>> {
        let cell = self.cells[..self.used].get(column)?;
        match cell.kind {
            Kind::Null => None,
            Kind::Int => Some(Value::Int(cell.number)),
            Kind::Text => Some(Value::Text(&cell.text)),
        }
    }

    #[inline]
    pub fn push_int(&mut self, number: i64) {
        let cell = self.push(Kind::Int);
        cell.number = number;
    }

    #[inline]
    pub fn push_text(&mut self, text: &[u8]) {
        let cell = self.push(Kind::Text);
        cell.text.clear();
        match std::str::from_utf8(text) {
            Ok(text) => cell.text.push_str(text),
            Err(_) => cell.text.push_str(&String::from_utf8_lossy(text)),
        }
    }

    #[inline]
    pub fn push_null(&mut self) {
        self.push(Kind::Null);
    }

    fn push(&mut self, kind: Kind) -> &mut Cell {
        if self.used == self.cells.len() {
            self.cells.push(Cell::default());
        }
        let cell = &mut self.cells[self.used];
        self.used += 1;
        cell.kind = kind;
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_of_a_wanted_request_is_kept() {
        let mut replies = Replies::default();
        replies.awaits(None);
        replies.awaits(Some(1));
        assert!(replies.wanted().is_none(), "nobody wants the first one");
        replies.completed(0, false);
        replies.wanted().unwrap().push_text(b"a");
        assert!(
            replies.wanted().is_none(),
            "the second row is not the first"
        );
        replies.completed(2, false);
        assert_eq!((replies.rows(1), replies.rows(2)), (Some(2), None));
        let row = replies.first(1).unwrap();
        assert_eq!((row.value(0), row.value(1)), (Some(Value::Text("a")), None));
        replies.clear();
        replies.awaits(Some(1));
        assert!(replies.first(1).unwrap().is_empty());
    }

    #[test]
    fn a_row_is_overwritten_and_nulls_are_nothing() {
        let mut row = FirstRow::default();
        row.push_text(b"long");
        row.clear();
        row.push_null();
        row.push_int(-3);
        row.push_text(b"\xff");
        let values = [0, 1, 2].map(|column| row.value(column));
        assert_eq!(
            values,
            [None, Some(Value::Int(-3)), Some(Value::Text("\u{fffd}"))]
        );
    }
}
