//! The twelve consistency conditions and the row counts.
//!
//! Each condition is one query over whole tables that returns its violations, with both sides.

use engine::{Session, Target};
use serde::Deserialize;
use workload::owned::count;

use super::initial_rows::InitialRows;
use super::metadata::Metadata;
use super::{OltpError, Result, TABLES, files};

/// Violations of a condition that are named; all are counted.
const PLACES_MAX: usize = 5;

#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    pub metadata: Metadata,
    /// Row counts first, then the conditions in their order.
    pub findings: Vec<Finding>,
}

impl Checked {
    pub fn is_sound(&self) -> bool {
        !self
            .findings
            .iter()
            .any(|finding| matches!(finding.verdict, Verdict::Broken { .. }))
    }

    /// Numbers of the violated conditions; 0 stands for the row counts.
    pub fn broken(&self) -> Vec<u32> {
        let is_broken = |f: &&Finding| matches!(f.verdict, Verdict::Broken { .. });
        self.findings
            .iter()
            .filter(is_broken)
            .map(|finding| finding.number)
            .collect()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Number in clause 3.3.2 of the specification; 0 for the row counts.
    pub number: u32,
    pub title: String,
    pub verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    Holds,
    /// Skipped, for this reason.
    PutOff(&'static str),
    Broken {
        count: u64,
        /// The first violations, with both sides.
        places: Vec<String>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Conditions {
    condition: Vec<Condition>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Condition {
    number: u32,
    title: String,
    /// Sentence about a violation, with `{n}` for column n of the query.
    row: String,
    /// True if it reads every line or payment, so that `light` skips it.
    #[serde(default)]
    heavy: bool,
    #[serde(default)]
    after_load_only: bool,
}

/// Checks a complete database. `light` skips the heavy conditions.
///
/// # Errors
/// When there is no complete database, or the target fails.
pub fn check(target: &dyn Target, engine: &str, light: bool) -> Result<Checked> {
    files::tables(engine)?;
    let mut session = target.open_session()?;
    let session = session.as_mut();
    let metadata = Metadata::of_whole(session)?;
    let mut findings = vec![row_counts(session, &metadata)?];
    let delivered = metadata.rows.delivered().to_string();
    for condition in conditions()? {
        let verdict = if condition.heavy && light {
            Verdict::PutOff("a light check was requested")
        } else if condition.after_load_only && metadata.transactions_since_load {
            Verdict::PutOff("it holds only right after a load, and transactions have run since")
        } else {
            look(session, engine, &condition, &delivered)?
        };
        findings.push(Finding {
            number: condition.number,
            title: condition.title.replace(DELIVERED, &delivered),
            verdict,
        });
    }
    Ok(Checked { metadata, findings })
}

/// Stands for the orders of a district that are delivered in the initial rows.
const DELIVERED: &str = ":delivered";

fn conditions() -> Result<Vec<Condition>> {
    let text = files::FOLDER.text("conditions.toml").unwrap_or_default();
    let parsed: Conditions = toml::from_str(text).map_err(|error| OltpError::Metadata {
        table: "conditions.toml",
        what: archive::toml_sentence(text, &error),
    })?;
    Ok(parsed.condition)
}

fn look(
    session: &mut dyn Session,
    engine: &str,
    condition: &Condition,
    delivered: &str,
) -> Result<Verdict> {
    let name = format!("condition/{:02}", condition.number);
    let sql = files::FOLDER.sql(&name, engine).unwrap_or_default();
    let sql = sql.replace(DELIVERED, delivered);
    // The same query counts the violations, because there may be millions.
    let rows = session.texts(&format!(
        "SELECT broken.*, count(*) OVER () AS broken_places FROM (\n{sql}) broken ORDER BY 1, 2, 3 \
         LIMIT {PLACES_MAX}"
    ))?;
    let Some(first) = rows.first() else {
        return Ok(Verdict::Holds);
    };
    let count = first.last().and_then(|cell| cell.as_ref()?.parse().ok());
    Ok(Verdict::Broken {
        count: count.unwrap_or(rows.len() as u64),
        places: rows.iter().map(|row| words(&condition.row, row)).collect(),
    })
}

pub(super) fn words(template: &str, row: &[Option<String>]) -> String {
    let mut text = template.to_owned();
    for (number, cell) in (1..).zip(row) {
        text = text.replace(&format!("{{{number}}}"), cell.as_deref().unwrap_or("none"));
    }
    text
}

/// Some tables have constant row counts, the others only right after a load.
fn row_counts(session: &mut dyn Session, metadata: &Metadata) -> Result<Finding> {
    let fresh = !metadata.transactions_since_load;
    let population = InitialRows::new(metadata.seed, metadata.rows);
    let mut places = Vec::new();
    for table in TABLES {
        let is_constant = ["item", "warehouse", "district", "customer", "stock"].contains(&table);
        if !is_constant && !fresh {
            continue;
        }
        let right = population.rows_in_all(table, metadata.warehouses);
        let found = count(session, table)?;
        if found != right {
            places.push(format!("{table}: {found} rows instead of {right}"));
        }
    }
    Ok(Finding {
        number: 0,
        title: if fresh {
            "every table has the number of rows of a fresh load".into()
        } else {
            "the tables of constant size have the expected number of rows".into()
        },
        verdict: match places.len() {
            0 => Verdict::Holds,
            count => Verdict::Broken {
                count: count as u64,
                places,
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twelve_conditions_with_their_sql() {
        let conditions = conditions().unwrap();
        let numbers: Vec<u32> = conditions.iter().map(|c| c.number).collect();
        assert_eq!(numbers, (1..=12).collect::<Vec<_>>());
        for condition in &conditions {
            let name = format!("condition/{:02}", condition.number);
            for engine in ["mysql", "postgres", "sqlite"] {
                assert!(
                    files::FOLDER.sql(&name, engine).unwrap().contains("SELECT"),
                    "{name}"
                );
            }
        }
        let heavy = conditions.iter().filter(|c| c.heavy).map(|c| c.number);
        assert_eq!(heavy.collect::<Vec<_>>(), [6, 10, 12]);
        let fresh = conditions
            .iter()
            .filter(|c| c.after_load_only)
            .map(|c| c.number);
        assert_eq!(fresh.collect::<Vec<_>>(), [11]);
    }

    #[test]
    fn a_place_is_told_with_both_sides() {
        let row = ["3", "10.00"].map(|s| Some(s.to_owned()));
        assert_eq!(words("w {1}: {2}, {3}", &row), "w 3: 10.00, {3}");
        assert_eq!(words("{1}", &[None]), "none");
    }
}
