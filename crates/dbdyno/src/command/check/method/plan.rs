//! The plan behind the invariants of the method: a script for each of its steps.

use std::fmt::Write;
use std::path::Path;

use verdict::method::{Parameters, Role};
use workload::{Library, Script};

/// Sessions of points without think time; fewer if fewer users are admitted.
const SESSIONS_MAX: u32 = 4;
const ROWS: u32 = 1000;
/// Rows that transactions change, few enough for conflicts and retries.
const COUNTERS: u32 = 32;
const RAMP_UP_S: f64 = 0.2;

const ROWS_TABLE: &str = "dbdyno_check_rows";
const COUNTERS_TABLE: &str = "dbdyno_check_counters";
const LEDGER_TABLE: &str = "dbdyno_check_ledger";

pub(super) struct Table {
    pub name: &'static str,
    columns: &'static str,
    /// Number of rows, whose keys begin at 1.
    rows: u32,
}

const KEYED: &str = "id BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL";

pub(super) const TABLES: [Table; 3] = [
    Table::new(ROWS_TABLE, KEYED, ROWS),
    Table::new(COUNTERS_TABLE, KEYED, COUNTERS),
    Table::new(LEDGER_TABLE, "a BIGINT NOT NULL, b BIGINT NOT NULL", 0),
];

impl Table {
    const fn new(name: &'static str, columns: &'static str, rows: u32) -> Self {
        Self {
            name,
            columns,
            rows,
        }
    }
    /// The statement that creates it in `schema`, which ends with its point.
    pub(super) fn create(&self, schema: &str) -> String {
        format!("CREATE TABLE {schema}{} ({})", self.name, self.columns)
    }

    /// The statement that fills it; `None` for a table that starts empty.
    pub(super) fn fill(&self, schema: &str) -> Option<String> {
        let values: Vec<String> = (1..=self.rows).map(|id| format!("({id}, 0)")).collect();
        let values = values.join(", ");
        (self.rows > 0).then(|| format!("INSERT INTO {schema}{} VALUES {values}", self.name))
    }
}

pub(super) fn text(parameters: &Parameters) -> String {
    let mut text = format!(
        "name = \"method\"\nrepeat = {}\n[validity]\ndriver_pct_max = 100.0\n\
         driver_thread_pct_max = 100.0\nlate_starts_pct_max = 100.0\nstall_pct_max = 100.0\n",
        parameters.repetitions
    );
    for role in Role::ALL {
        let (script, load) = (role.script(), load(role, parameters));
        let _ = writeln!(
            text,
            "[[step]]\nuse = \"library\"\ntests = [\"S-{script}\"]\n{load}"
        );
    }
    text
}

/// Keys of a step. Read-only steps warm up; in the others every operation counts.
fn load(role: Role, parameters: &Parameters) -> String {
    let (users, seconds) = (parameters.users, parameters.seconds);
    let sessions = users.min(SESSIONS_MAX);
    let timed = |jobs: u32, more: &str| {
        format!("jobs = [{jobs}]\nmode = \"time\"\nseconds = {seconds:?}\n{more}")
    };
    let warm = |jobs| timed(jobs, &format!("ramp_up_seconds = {RAMP_UP_S:?}"));
    let thinking = |users, ms: f64| format!("{}\nthink_ms = {ms:?}", warm(users));
    match role {
        Role::Idle | Role::One | Role::Many | Role::TwiceAsMany => warm(1),
        Role::First | Role::Second => warm(sessions),
        Role::Users => thinking(users, parameters.think_ms),
        Role::LongThink => thinking(users, 2.0 * parameters.think_ms),
        Role::HalfUsers => thinking(users / 2, parameters.think_ms),
        Role::Open => {
            let rate_per_s = parameters.rate_per_s();
            timed(
                users,
                &format!("arrivals = \"poisson\"\nrate_per_s = {rate_per_s:?}"),
            )
        }
        Role::ShortDelay | Role::LongDelay => warm(sessions),
        Role::Commit => timed(sessions, "contention = true"),
        Role::Count => "jobs = [1]".to_owned(),
    }
}

/// The library with the script of every role; `makes_tables` if each script creates its tables.
pub(super) fn library(makes_tables: bool) -> anyhow::Result<Library> {
    let mut library = super::super::super::library(None)?;
    for role in Role::ALL {
        let text = script(role, makes_tables);
        let script = Script::parse(&text, Path::new("."));
        let script = script.map_err(|what| anyhow::anyhow!("{}: {what}", role.script()))?;
        let added = library.add_script(role.script(), script);
        added.map_err(lab::LabError::from)?;
    }
    Ok(library)
}

fn script(role: Role, makes_tables: bool) -> String {
    let select = format!("SELECT n FROM {ROWS_TABLE} WHERE id = :id");
    let one_of = |rows| format!("id = {{ uniform = [1, {rows}] }}");
    let looks_up = |times: u32| {
        let statements = statement(&format!("sql = \"{select}\"\nrows = 1")).repeat(times as usize);
        transaction("look-up", true, &one_of(ROWS), &statements)
    };
    let waits = |ms: f64| {
        let seconds = ms / 1e3;
        let sql = format!(
            "sql_for = {{ postgres = \"SELECT 1 FROM pg_sleep({seconds})\", mysql = \"SELECT SLEEP({seconds})\" }}"
        );
        transaction("wait", true, "", &statement(&sql))
    };
    let idle = || transaction("nothing", true, "", &statement("sql = \"SELECT 1\""));
    let [short_ms, long_ms] = Parameters::DELAYS_MS;
    let (tables, transaction): (&[&str], String) = match role {
        Role::Idle => (&[], idle()),
        Role::Many => (&[ROWS_TABLE], looks_up(Parameters::STATEMENTS)),
        Role::TwiceAsMany => (&[ROWS_TABLE], looks_up(2 * Parameters::STATEMENTS)),
        Role::ShortDelay => (&[], waits(short_ms)),
        Role::LongDelay => (&[], waits(long_ms)),
        Role::Commit => (&[COUNTERS_TABLE, LEDGER_TABLE], commit()),
        Role::Count => (&[], count()),
        _ => (&[ROWS_TABLE], looks_up(1)),
    };
    let set_up = if makes_tables {
        set_up(tables)
    } else {
        String::new()
    };
    format!(
        "name = \"{}\"\noperations = 1\nretries = 100000\n{set_up}{transaction}",
        role.script()
    )
}

/// Adds 1 to two counters in any order, and a row for both, so that a partial commit breaks the sum.
fn commit() -> String {
    let adds = |which| {
        let sql = format!("UPDATE {COUNTERS_TABLE} SET n = n + 1 WHERE id = :{which}");
        statement(&format!("sql = \"{sql}\"\nrows = 1"))
    };
    let enters = format!("sql = \"INSERT INTO {LEDGER_TABLE} VALUES (:a, :b)\"\nrows = 1");
    let statements = adds("a") + &statement(&enters) + &adds("b");
    let draw = format!("a = {{ uniform = [1, {COUNTERS}] }}\nb = {{ uniform = [1, {COUNTERS}] }}");
    transaction("commit", false, &draw, &statements)
}

/// Reads every row of the ledger, and another one ([`Parameters::ROWS_BESIDE`]) if the counters add up to twice their number.
fn count() -> String {
    let sum = format!("(SELECT SUM(n) FROM {COUNTERS_TABLE})");
    let twice = format!("(SELECT 2 * COUNT(*) FROM {LEDGER_TABLE})");
    let adds_up = format!("SELECT id FROM {COUNTERS_TABLE} WHERE id = 1 AND {sum} = {twice}");
    let statements = statement(&format!("sql = \"SELECT a FROM {LEDGER_TABLE}\""))
        + &statement(&format!("sql = \"{adds_up}\"\nrows = 1"));
    transaction("count", true, "", &statements)
}

fn statement(keys: &str) -> String {
    format!("[[transaction.statement]]\n{keys}\n")
}

fn transaction(name: &str, autocommit: bool, draw: &str, statements: &str) -> String {
    let draw = match draw {
        "" => String::new(),
        draw => format!("[transaction.draw]\n{draw}\n"),
    };
    format!("[[transaction]]\nname = \"{name}\"\nautocommit = {autocommit}\n{draw}{statements}")
}

fn set_up(names: &[&str]) -> String {
    let tables = TABLES.iter().filter(|it| names.contains(&it.name));
    let tables: Vec<&Table> = tables.collect();
    if tables.is_empty() {
        return String::new();
    }
    let list = |texts: Vec<String>| {
        let quoted: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
        quoted.join(", ")
    };
    let tables = tables.iter();
    let creates = tables
        .clone()
        .flat_map(|it| [Some(it.create("")), it.fill("")]);
    let drops = tables.map(|it| format!("DROP TABLE IF EXISTS {}", it.name));
    format!(
        "[setup]\nwhen = \"run\"\nsql = [{}]\n[teardown]\nsql = [{}]\n",
        list(creates.flatten().collect()),
        list(drops.collect())
    )
}

#[cfg(test)]
mod tests {
    use lab::Plan;

    use super::*;

    const PARAMETERS: Parameters = Parameters {
        users: 16,
        think_ms: 12.5,
        seconds: 1.0,
        repetitions: 8,
    };

    /// Points are found again by the order of the steps, so that every role is one step.
    #[test]
    fn the_plan_has_every_role_at_its_step() {
        for makes_tables in [false, true] {
            let mut workloads = workloads::registry(library(makes_tables).unwrap());
            let mut plan = Plan::parse(&workloads, &text(&PARAMETERS), &[]).unwrap();
            workloads.prepare(&mut plan).unwrap();
            assert_eq!(plan.step.len(), Role::ALL.len());
            for role in Role::ALL {
                let step = &plan.step[role.step() as usize - 1];
                assert_eq!(step.tests, [format!("S-{}", role.script())]);
            }
        }
    }

    #[test]
    fn each_table_is_made_where_it_is_used() {
        let commit = script(Role::Commit, true);
        assert!(
            commit.contains("CREATE TABLE dbdyno_check_ledger"),
            "{commit}"
        );
        assert!(!commit.contains("INSERT INTO dbdyno_check_ledger VALUES (1"));
        assert!(!script(Role::Commit, false).contains("CREATE"));
        assert_eq!(script(Role::First, true), script(Role::Open, true));
    }
}
