//! Transactions with the amounts of a profile: statements by sort, and rows of each.

use engine::Footprint;

use super::kinds::{Kind, Kinds};
use super::profile::{Profile, STATEMENTS_MAX};

/// Most rows that one statement inserts: each has parameters of its own.
const INSERTED_MAX: f64 = 15.0;
/// Fewer scanned rows per transaction are the server's own.
const SCANNED_MIN: f64 = 0.05;
/// Text of a row in a load that changes none.
const TEXT_BYTES_USUAL: u32 = 100;
/// With fewer rows, transactions would wait for each other.
const ROWS_MIN: f64 = 10_000.0;
/// Default working set, and the largest one that is made, in MB.
const WORKING_SET_MB_USUAL: f64 = 100.0;
pub(super) const WORKING_SET_MB_MAX: f64 = 10_000.0;
pub(super) const THOUSAND: u64 = 1000;

/// Rows per statement by sort.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Rows {
    pub read: u64,
    pub updated: u64,
    /// For an insert or a delete.
    pub changed: u64,
    pub scanned: u64,
}

impl Rows {
    fn of([updates, inserts, deletes]: [Sort; 3]) -> Self {
        Self {
            updated: updates.rows as u64,
            changed: inserts.rows.max(deletes.rows) as u64,
            ..Self::default()
        }
    }
}

/// Transactions of a twin, and its data.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub rows: Rows,
    pub kinds: Vec<(u64, Kind)>,
    pub text_bytes: u32,
    /// Rows of the table that is read and updated.
    pub table_rows: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Means {
    pub writing: f64,
    pub statements: f64,
    pub rows_read: f64,
    pub rows_fetched: f64,
    pub rows_returned: f64,
    pub rows_inserted: f64,
    pub rows_updated: f64,
    pub rows_deleted: f64,
    pub log_bytes: f64,
    /// Log that the engine writes in any case.
    pub others_log_bytes: f64,
    pub working_set_mb: f64,
    /// Additional unused space in its files.
    pub room_mb: f64,
}

/// Statements of a sort in each writing transaction, and the rows of each.
#[derive(Debug, Clone, Copy, Default)]
struct Sort {
    statements: f64,
    rows: f64,
}

impl Sort {
    /// As many rows in so many statements of equal size.
    fn of(rows: f64, statements: f64) -> Self {
        if rows <= 0.0 {
            return Self::default();
        }
        Self::with(rows, (rows / statements.max(1e-9) - 1e-9).ceil().max(1.0))
    }

    fn with(rows: f64, each: f64) -> Self {
        Self {
            statements: rows / each,
            rows: each,
        }
    }
}

impl Shape {
    pub fn of(profile: &Profile, footprint: Footprint) -> Self {
        let [inserted, updated, deleted] = [
            profile.rows_inserted,
            profile.rows_updated,
            profile.rows_deleted,
        ]
        .map(|rows| rows.unwrap_or(0.0));
        let read = profile.rows_read.unwrap_or(0.0);
        let by_key = profile.rows_fetched.unwrap_or(read);
        let changed = [updated, inserted, deleted];
        let (mut kinds, mut rows) = together(profile, changed, read > updated + deleted);
        let counted = Counted {
            ends: profile.counts_ends,
        };
        let least = kinds.mean(|k| counted.of(k)) + kinds.share(|k| !k.writes);
        // Single statements that commit by themselves have no room for several changes.
        let is_apart = |all: f64| all < counted.several() && least > all * 1.001;
        if profile.statements.is_some_and(is_apart) {
            (kinds, rows) = apart(changed);
        }
        let looked_at = |rows: u64| looked_at(rows, footprint.beyond_range);
        let found = kinds.mean(|k| f64::from(k.updates)) * looked_at(rows.updated)
            + kinds.mean(|k| f64::from(k.deletes)) * looked_at(rows.changed);
        let keys = (by_key - found).max(0.0);
        let scanned = (read - by_key.max(found)).max(0.0);
        let scanned = if scanned < SCANNED_MIN { 0.0 } else { scanned };
        let is_read = keys + scanned > 0.0;
        add_others(&mut kinds, profile.statements, counted, is_read);
        let returned = profile.rows_returned;
        rows.read = fill_reads(&mut kinds, keys, footprint.beyond_range, returned);
        rows.scanned = fill_scans(&mut kinds, scanned);
        let mut shape = Self {
            rows,
            kinds: kinds.weighted(),
            text_bytes: TEXT_BYTES_USUAL,
            table_rows: 0,
        };
        shape.text_bytes = shape.text_for(profile, footprint);
        shape.table_rows = shape.rows_for(profile.working_set_mb, footprint);
        shape
    }

    /// Length of the text with which the log has the profile's size.
    fn text_for(&self, profile: &Profile, footprint: Footprint) -> u32 {
        let others = footprint.log_bytes_per_s / profile.per_s;
        let log_of = |text_bytes: f64| self.log_bytes(text_bytes, footprint) + others;
        let (none, slope) = (log_of(0.0), log_of(1.0) - log_of(0.0));
        match profile.log_bytes {
            Some(bytes) if slope > 0.0 => {
                let most = f64::from(footprint.text_bytes_max);
                ((bytes - none) / slope).round().clamp(1.0, most) as u32
            }
            _ => TEXT_BYTES_USUAL,
        }
    }

    fn rows_for(&self, working_set_mb: Option<f64>, footprint: Footprint) -> u64 {
        let mb = working_set_mb.unwrap_or(WORKING_SET_MB_USUAL);
        let row_bytes = footprint.file.of(f64::from(self.text_bytes));
        let rows = mb.min(WORKING_SET_MB_MAX) * 1e6 / row_bytes;
        let of_a_statement = self.rows.read.max(self.rows.updated);
        let rows = rows.max(ROWS_MIN).max(2.0 * of_a_statement as f64);
        (rows / THOUSAND as f64).round() as u64 * THOUSAND
    }

    pub fn weights(&self) -> u64 {
        self.kinds.iter().map(|(weight, _)| weight).sum()
    }

    fn mean(&self, of: impl Fn(&Kind) -> f64) -> f64 {
        let weights = self.weights();
        let weighted = self.kinds.iter().map(|(w, kind)| *w as f64 * of(kind));
        weighted.sum::<f64>() / weights as f64
    }

    fn log_bytes(&self, text_bytes: f64, footprint: Footprint) -> f64 {
        let writing = self.mean(|k| f64::from(u8::from(k.writes)));
        let changed = self.rows.changed as f64;
        let parts = [
            (
                self.mean(|k| f64::from(k.inserts)) * changed,
                footprint.insert,
            ),
            (
                self.mean(|k| f64::from(k.updates)) * self.rows.updated as f64,
                footprint.update,
            ),
            (
                self.mean(|k| f64::from(k.deletes)) * changed,
                footprint.delete,
            ),
        ];
        let of_rows: f64 = parts
            .iter()
            .map(|(rows, log)| rows * log.of(text_bytes))
            .sum();
        writing * footprint.transaction_log_bytes + of_rows
    }

    pub fn means(&self, profile: &Profile, footprint: Footprint) -> Means {
        let counted = Counted {
            ends: profile.counts_ends,
        };
        let rows = &self.rows;
        let [updated, inserted, deleted] = [
            self.mean(|k| f64::from(k.updates)) * rows.updated as f64,
            self.mean(|k| f64::from(k.inserts)) * rows.changed as f64,
            self.mean(|k| f64::from(k.deletes)) * rows.changed as f64,
        ];
        let reads = self.mean(|k| f64::from(k.reads));
        let returning = self.mean(|k| f64::from(k.returning));
        let others = self.mean(|k| f64::from(k.others));
        let looked_at = |rows: u64| looked_at(rows, footprint.beyond_range);
        let fetched = reads * looked_at(rows.read)
            + self.mean(|k| f64::from(k.updates)) * looked_at(rows.updated)
            + self.mean(|k| f64::from(k.deletes)) * looked_at(rows.changed);
        let text_bytes = f64::from(self.text_bytes);
        let others_log = footprint.log_bytes_per_s / profile.per_s;
        Means {
            writing: self.mean(|k| f64::from(u8::from(k.writes))),
            statements: self.mean(|k| counted.of(k)),
            rows_read: fetched + self.mean(|k| f64::from(k.scans)) * rows.scanned as f64,
            rows_fetched: fetched,
            rows_returned: returning * rows.read as f64 + others - returning,
            rows_inserted: inserted,
            rows_updated: updated,
            rows_deleted: deleted,
            log_bytes: self.log_bytes(text_bytes, footprint) + others_log,
            others_log_bytes: others_log,
            working_set_mb: self.table_rows as f64 * footprint.file.of(text_bytes) / 1e6,
            room_mb: footprint.room_mb * if self.rows.changed > 0 { 2.0 } else { 1.0 },
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Counted {
    /// True if BEGIN and COMMIT are counted.
    ends: bool,
}

impl Counted {
    fn ends(self) -> f64 {
        if self.ends { 2.0 } else { 0.0 }
    }

    fn of(self, kind: &Kind) -> f64 {
        let ends = if kind.is_wrapped() { self.ends() } else { 0.0 };
        f64::from(kind.statements()) + ends
    }

    /// Share of transactions with several statements, or with one between BEGIN and COMMIT.
    fn several(self) -> f64 {
        if self.ends { 3.0 } else { 2.0 }
    }
}

/// Changes of several sorts in the same transactions; as many write as were observed, or as have a row of the most
/// frequent sort.
fn together(profile: &Profile, changed: [f64; 3], is_read: bool) -> (Kinds, Rows) {
    let most = changed.into_iter().fold(0.0, f64::max);
    let observed = profile.writing.filter(|part| *part > 0.0);
    let writing = most.min(observed.unwrap_or(1.0));
    let mut kinds = Kinds::new(writing);
    if writing <= 0.0 {
        return (kinds, Rows::default());
    }
    let budget = profile.statements.map(|all| {
        let is_read = writing >= 1.0 && is_read;
        let ends = if profile.counts_ends { 2.0 } else { 0.0 };
        (all - (1.0 - writing)) / writing - ends - f64::from(u8::from(is_read))
    });
    let rows = changed.map(|rows| rows / writing);
    let most = budget.unwrap_or(STATEMENTS_MAX).min(STATEMENTS_MAX * 0.8);
    let scale = (most / rows.iter().sum::<f64>()).min(1.0);
    // A sort with rows has a statement.
    let [updates, inserts, deletes] = sorts(rows, |rows| (rows * scale).max(rows.min(1.0)));
    kinds.spread(|k| k.writes, updates.statements, |k, n| k.updates += n);
    kinds.spread(|k| k.writes, inserts.statements, |k, n| k.inserts += n);
    kinds.spread(|k| k.writes, deletes.statements, |k, n| k.deletes += n);
    (kinds, Rows::of([updates, inserts, deletes]))
}

/// One change of one sort in each writing transaction.
fn apart(changed: [f64; 3]) -> (Kinds, Rows) {
    let all: f64 = changed.iter().sum();
    let scale = (1.0 / all).min(1.0);
    let sorts = sorts(changed, |rows| rows * scale);
    let [updates, inserts, deletes] = sorts.map(|sort| sort.statements);
    let mut kinds = Kinds::new((updates + inserts + deletes).min(1.0));
    let share = |kinds: &Kinds, part: f64| {
        let free = kinds.share(|k| k.writes && k.statements() == 0);
        (part / free.max(1e-9)).min(1.0)
    };
    let is_free = |k: &Kind| k.writes && k.statements() == 0;
    let part = share(&kinds, updates);
    kinds.spread(is_free, part, |k, n| k.updates += n);
    let part = share(&kinds, inserts);
    kinds.spread(is_free, part, |k, n| k.inserts += n);
    let part = share(&kinds, deletes);
    kinds.spread(is_free, part, |k, n| k.deletes += n);
    (kinds, Rows::of(sorts))
}

/// Count of an engine for a statement that finds so many rows.
fn looked_at(rows: u64, beyond_range: f64) -> f64 {
    match rows {
        0 | 1 => rows as f64,
        rows => rows as f64 + beyond_range,
    }
}

/// Updates, inserts and deletes: a row each, or several if there are fewer statements.
fn sorts(rows: [f64; 3], statements: impl Fn(f64) -> f64) -> [Sort; 3] {
    let sort = |rows: f64| Sort::of(rows, statements(rows));
    let [updates, mut inserts, mut deletes] = rows.map(sort);
    let most = inserts.rows.max(deletes.rows).min(INSERTED_MAX);
    // Inserts and deletes have equal numbers of rows per statement.
    if most > 0.0 {
        inserts = Sort::with(rows[1], most);
        deletes = Sort::with(rows[2], most);
    }
    [updates, inserts, deletes]
}

/// Adds statements that change nothing, up to the number that was counted; one per transaction if nobody counted.
fn add_others(kinds: &mut Kinds, statements: Option<f64>, counted: Counted, is_read: bool) {
    kinds.spread(|k| !k.writes, 1.0, |k, n| k.others += n);
    let all_write = kinds.share(|k| !k.writes) <= 0.0;
    if is_read && all_write {
        kinds.spread(|_| true, 1.0, |k, n| k.others += n);
    }
    let Some(statements) = statements else {
        return;
    };
    let mut left = statements - kinds.mean(|k| counted.of(k));
    // First the writing transactions also read …
    let writing = kinds.share(|k| k.writes && k.others == 0);
    if is_read && left > 0.0 && writing > 0.0 {
        let single = |k: &Kind| k.writes && k.others == 0 && k.statements() == 1;
        let cost = writing + counted.ends() * kinds.share(single);
        let share = (left / cost).min(1.0);
        kinds.spread(|k| k.writes && k.others == 0, share, |k, n| k.others += n);
        left = statements - kinds.mean(|k| counted.of(k));
    }
    // … then single statements are put between BEGIN and COMMIT …
    let single = kinds.share(|k| !k.is_wrapped());
    if left > 0.0 && single > 0.0 && counted.ends {
        let share = (left / (2.0 * single)).min(1.0);
        kinds.spread(|k| !k.is_wrapped(), share, |k, n| k.wrapped += n);
        left = statements - kinds.mean(|k| counted.of(k));
    }
    // … then all have more of them.
    if left > 1e-9 {
        kinds.spread(|_| true, left, |k, n| k.others += n);
    }
}

/// Distributes reads by key and returned rows over the statements that change nothing. Returns the rows of each.
fn fill_reads(kinds: &mut Kinds, keys: f64, beyond_range: f64, returned: Option<f64>) -> u64 {
    let others = kinds.mean(|k| f64::from(k.others));
    let mut reads = Sort::of(keys, others);
    if reads.rows < 1.0 {
        return 0;
    }
    if reads.rows > 1.0 {
        // A row that is visited beyond a range counts for the range.
        let each = (keys / others - beyond_range - 1e-9).ceil().max(2.0);
        reads = Sort {
            rows: each,
            statements: (keys / (each + beyond_range)).min(others),
        };
    }
    kinds.fill(reads.statements, |k| k.others, |k, n| k.reads += n);
    let returning = match returned {
        // Statements that do not return all rows return one.
        Some(rows) if reads.rows > 1.0 => {
            ((rows - others) / (reads.rows - 1.0)).clamp(0.0, reads.statements)
        }
        _ => reads.statements,
    };
    kinds.fill(returning, |k| k.reads, |k, n| k.returning += n);
    reads.rows as u64
}

/// Distributes scanned rows. Returns the rows of the scanned table.
fn fill_scans(kinds: &mut Kinds, scanned: f64) -> u64 {
    let able = kinds.share(|k| k.others > 0);
    if scanned <= 0.0 || able <= 0.0 {
        return 0;
    }
    let rows = (scanned / able - 1e-9).ceil();
    kinds.fill(
        scanned / rows,
        |k| u32::from(k.others > 0),
        |k, n| k.scans += n,
    );
    rows as u64
}
