//! Tables and statements of a twin, in SQL that every engine understands.

use super::kinds::Kind;
use super::shape::{Rows, Shape, THOUSAND};

/// Thousands of rows per INSERT during the setup.
const LOADED_AT_ONCE: u64 = 1000;
/// Rows that are there to be deleted, by transaction: any number of sessions that divides it deletes its own inserts,
/// and never waits for another session.
const STOCK: u64 = 5040;
/// Limit if the number of sessions needs more, or if deletes outnumber inserts.
const STOCK_MAX: u64 = 200_000;
const STOCK_OF_LOSS_MAX: u64 = 5_000_000;
/// Number range of the rows that one kind of transaction inserts, so that no two kinds insert the same.
const APART: u64 = 1 << 40;
/// Constant letters: all rows begin alike.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";

pub(super) struct Statement {
    pub sql: String,
    pub rows: u64,
}

pub(super) struct Draw {
    pub name: String,
    /// As in a script.
    pub generator: String,
}

pub(super) struct Words {
    pub draws: Vec<Draw>,
    pub statements: Vec<Statement>,
}

/// Numbers of a kind in the table of inserts and deletes, from 1.
fn first_number(kind: usize) -> u64 {
    (kind as u64 + 1) * APART
}

/// Concurrency and amount of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    pub jobs: u32,
    /// Upper limit of the transactions of a run.
    pub transactions: f64,
}

impl Extent {
    /// Transactions of a kind whose rows are there to be deleted.
    pub fn stock(self, (weight, kind): &(u64, Kind), weights: u64) -> u64 {
        let jobs = u64::from(self.jobs.max(1));
        let usual = match least_common_multiple(jobs, STOCK) {
            stock if stock <= STOCK_MAX => stock,
            // Rows that the same session inserted this many transactions ago.
            _ => jobs * 64,
        };
        if kind.deletes <= kind.inserts {
            return usual;
        }
        let of_kind = self.transactions * *weight as f64 / weights as f64;
        usual.max((of_kind as u64).min(STOCK_OF_LOSS_MAX))
    }
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

pub(super) fn set_up(shape: &Shape, extent: Extent) -> Vec<String> {
    let numbers: Vec<String> = (0..THOUSAND).map(|n| format!("({n})")).collect();
    let bytes = LETTERS.iter().cycle().take(shape.text_bytes as usize);
    let letters: String = bytes.map(|b| char::from(*b)).collect();
    let mut all = vec![
        "CREATE TABLE dbdyno_twin_number (n integer NOT NULL PRIMARY KEY)".to_owned(),
        format!(
            "INSERT INTO dbdyno_twin_number VALUES {}",
            numbers.join(",")
        ),
        "CREATE TABLE dbdyno_twin_text (letters text NOT NULL)".to_owned(),
        format!("INSERT INTO dbdyno_twin_text VALUES ('{letters}')"),
        "CREATE TABLE dbdyno_twin (id integer NOT NULL PRIMARY KEY, letters text NOT NULL)"
            .to_owned(),
    ];
    let thousands = shape.table_rows / THOUSAND;
    for from in (0..thousands).step_by(LOADED_AT_ONCE as usize) {
        let count = (thousands - from).min(LOADED_AT_ONCE);
        all.push(format!(
            "INSERT INTO dbdyno_twin SELECT {} + 1000 * a.n + b.n, letters FROM dbdyno_twin_number a, dbdyno_twin_number b, \
             dbdyno_twin_text WHERE a.n < {count} ORDER BY 1",
            from * THOUSAND + 1
        ));
    }
    all.push("SELECT count(letters) FROM dbdyno_twin".to_owned());
    let mut kinds = shape.kinds.iter().map(|(_, kind)| kind);
    if kinds.any(|kind| kind.inserts + kind.deletes > 0) {
        all.push(
            "CREATE TABLE dbdyno_twin_new (id bigint NOT NULL, part integer NOT NULL, letters text NOT NULL, PRIMARY KEY (id, part))"
                .to_owned(),
        );
    }
    for (at, kind) in shape.kinds.iter().enumerate() {
        let parts = u64::from(kind.1.deletes) * shape.rows.changed;
        let stock = extent.stock(kind, shape.weights());
        if parts > 0 {
            all.extend(stocked_rows(first_number(at) - stock, stock, parts));
        }
    }
    if shape.rows.scanned > 0 {
        all.push("CREATE TABLE dbdyno_twin_scan (n integer NOT NULL)".to_owned());
        all.push(scanned_rows(shape.rows.scanned));
    }
    all
}

/// Inserts so many numbers from this one on, each with so many rows.
fn stocked_rows(from: u64, numbers: u64, parts: u64) -> impl Iterator<Item = String> {
    let million = THOUSAND * THOUSAND;
    (0..numbers).step_by(million as usize).map(move |begun| {
        let count = (numbers - begun).min(million);
        format!(
            "INSERT INTO dbdyno_twin_new SELECT {} + 1000 * a.n + b.n, c.n, letters FROM dbdyno_twin_number a, dbdyno_twin_number b, \
             dbdyno_twin_number c, dbdyno_twin_text WHERE a.n <= {} AND 1000 * a.n + b.n < {count} AND c.n < {parts} ORDER BY 1, 2",
            from + begun,
            count / THOUSAND
        )
    })
}

fn scanned_rows(rows: u64) -> String {
    format!(
        "INSERT INTO dbdyno_twin_scan SELECT c.n FROM dbdyno_twin_number a, dbdyno_twin_number b, dbdyno_twin_number c \
         WHERE a.n <= {} AND 1000000 * a.n + 1000 * b.n + c.n < {rows}",
        rows / (THOUSAND * THOUSAND)
    )
}

/// Also removes tables of an earlier twin.
pub(super) fn teardown() -> Vec<String> {
    ["_number", "_text", "", "_new", "_scan"]
        .iter()
        .map(|table| format!("DROP TABLE IF EXISTS dbdyno_twin{table}"))
        .collect()
}

/// Statements of the kind at this index: reads come before changes.
pub(super) fn words(shape: &Shape, at: usize, extent: Extent) -> Words {
    let kind = &shape.kinds[at].1;
    let stock = extent.stock(&shape.kinds[at], shape.weights());
    let mut words = Words {
        draws: Vec::new(),
        statements: Vec::new(),
    };
    words.add_others(kind, shape);
    words.add_updates(kind, shape);
    words.add_comings(kind, &shape.rows, first_number(at), stock);
    if kind.updates + kind.inserts > 0 {
        words.draw("text", format!("{{ letters = {} }}", shape.text_bytes));
    }
    words
}

impl Words {
    fn draw(&mut self, name: &str, generator: String) {
        self.draws.push(Draw {
            name: name.to_owned(),
            generator,
        });
    }

    fn add(&mut self, sql: String, rows: u64) {
        self.statements.push(Statement { sql, rows });
    }

    /// Draws the first of so many consecutive rows; returns the condition that finds them.
    fn found(&mut self, name: &str, rows: u64, table_rows: u64) -> String {
        let last = table_rows - rows + 1;
        self.draw(name, format!("{{ uniform = [1, {last}] }}"));
        match rows {
            1 => format!("id = :{name}"),
            rows => format!("id BETWEEN :{name} AND :{name} + {}", rows - 1),
        }
    }

    fn add_others(&mut self, kind: &Kind, shape: &Shape) {
        const SCAN: &str = "SELECT count(n) FROM dbdyno_twin_scan";
        let mut scans = kind.scans;
        let mut scan = || {
            let is_due = scans > 0;
            scans = scans.saturating_sub(1);
            is_due
        };
        let idle = kind.others - kind.reads;
        for _ in 0..idle {
            let sql = if scan() { SCAN } else { "SELECT 1" };
            self.add(sql.to_owned(), 1);
        }
        for number in 0..kind.reads {
            let rows = shape.rows.read;
            let found = self.found(&format!("read{}", number + 1), rows, shape.table_rows);
            let (what, rows) = if number < kind.returning {
                ("letters", rows)
            } else {
                ("count(letters)", 1)
            };
            let scanned = if scan() {
                format!(", ({SCAN})")
            } else {
                String::new()
            };
            self.add(
                format!("SELECT {what}{scanned} FROM dbdyno_twin WHERE {found}"),
                rows,
            );
        }
    }

    fn add_updates(&mut self, kind: &Kind, shape: &Shape) {
        for number in 0..kind.updates {
            let rows = shape.rows.updated;
            let found = self.found(&format!("change{}", number + 1), rows, shape.table_rows);
            self.add(
                format!("UPDATE dbdyno_twin SET letters = :text WHERE {found}"),
                rows,
            );
        }
    }

    /// Inserts rows, and deletes those that were inserted a fixed number of transactions ago.
    fn add_comings(&mut self, kind: &Kind, rows: &Rows, first: u64, stock: u64) {
        if kind.inserts > 0 {
            self.draw("new", format!("{{ sequence = {first} }}"));
        }
        if kind.deletes > 0 {
            self.draw("old", format!("{{ sequence = {} }}", first - stock));
        }
        let parts = |number: u32| {
            let first = u64::from(number) * rows.changed;
            first..first + rows.changed
        };
        for number in 0..kind.inserts {
            let rows_of = parts(number).map(|part| format!("(:new, {part}, :text)"));
            let values: Vec<String> = rows_of.collect();
            let sql = format!("INSERT INTO dbdyno_twin_new VALUES {}", values.join(", "));
            self.add(sql, rows.changed);
        }
        for number in 0..kind.deletes {
            let parts = parts(number);
            let which = match rows.changed {
                1 => format!("part = {}", parts.start),
                _ => format!("part BETWEEN {} AND {}", parts.start, parts.end - 1),
            };
            let sql = format!("DELETE FROM dbdyno_twin_new WHERE id = :old AND {which}");
            self.add(sql, rows.changed);
        }
    }
}
