//! What is loaded, in tables beside the nine: never inferred from counts.

use target::{SCHEMA_MARK, Session};

use super::initial_rows::WarehouseRows;
use super::{OltpError, Result, TABLES};
use crate::owned::{ORDER_ENTRY_MARK, Owned, finds};

const FACTS: &str = "dbdyno_oltp";
/// The fact that says how many rows a warehouse has.
const ROWS: &str = "warehouse_rows";
/// The fact of which plan has loaded it, as a fingerprint of its name; none of a database that nobody's plan may replace.
const PLAN: &str = "plan";
/// One row a warehouse that is whole. A warehouse without one is not there or half loaded.
pub(super) const WAREHOUSES: &str = "dbdyno_oltp_warehouse";
pub(crate) const OWNED: Owned = Owned {
    facts: FACTS,
    notes: &[WAREHOUSES],
    tables: &TABLES,
    mark: ORDER_ENTRY_MARK,
};

/// What the database says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// Warehouses that were asked for.
    pub warehouses: u32,
    /// How many rows each has; those that older versions loaded have all.
    pub rows: WarehouseRows,
    pub seed: u64,
    pub generator: u64,
    /// Constant of the non-uniform choice of last names while loading.
    pub c_last_load: u64,
    /// Whether foreign keys were asked for.
    pub foreign_keys: bool,
    /// Whether everything is loaded, with keys and statistics, and was counted.
    pub whole: bool,
    /// Whether transactions may have run since.
    pub transactions_since_load: bool,
}

impl Metadata {
    /// Reads it; `None` where there is no order-entry database of ours.
    ///
    /// # Errors
    /// When it makes no sense.
    pub fn read(session: &mut dyn Session) -> Result<Option<Self>> {
        if !OWNED.has_facts(session)? {
            return Ok(None);
        }
        let facts = OWNED.read(session)?;
        let number = |name: &str| {
            let text = facts.get(name).map_or("nothing", String::as_str);
            text.parse::<u64>().map_err(|_| OltpError::Metadata {
                table: FACTS,
                what: format!("{name} is {text}"),
            })
        };
        Ok(Some(Self {
            warehouses: u32::try_from(number("warehouses")?).unwrap_or(u32::MAX),
            rows: match facts.get(ROWS) {
                None => WarehouseRows::Full,
                Some(name) => WarehouseRows::named(name).ok_or_else(|| OltpError::Metadata {
                    table: FACTS,
                    what: format!("{ROWS} is {name}"),
                })?,
            },
            seed: number("seed")?,
            generator: number("generator")?,
            c_last_load: number("c_last_load")?,
            foreign_keys: number("foreign_keys")? != 0,
            whole: number("whole")? != 0,
            transactions_since_load: number("transactions_since_load")? != 0,
        }))
    }

    /// Reads that of a database that is whole.
    ///
    /// # Errors
    /// When there is none, or its load was not finished.
    pub fn of_whole(session: &mut dyn Session) -> Result<Self> {
        let metadata = Self::read(session)?.ok_or(OltpError::Absent)?;
        if metadata.whole {
            return Ok(metadata);
        }
        let done = whole_warehouses(session)?.len() as u32;
        Err(OltpError::NotWhole {
            done,
            warehouses: metadata.warehouses,
            missing: if done == metadata.warehouses {
                "but keys or statistics are missing".into()
            } else {
                "without keys or statistics".into()
            },
            seed: metadata.seed,
        })
    }

    /// Makes the nine tables and notes what is going to be loaded.
    pub(super) fn begin(&self, session: &mut dyn Session, tables: &str) -> Result<()> {
        let facts = [
            ("warehouses", u64::from(self.warehouses)),
            ("seed", self.seed),
            ("generator", self.generator),
            ("c_last_load", self.c_last_load),
            ("foreign_keys", u64::from(self.foreign_keys)),
            ("whole", 0),
            ("transactions_since_load", 0),
        ];
        let facts = facts.map(|(name, value)| (name, value.to_string()));
        let rows = (ROWS, self.rows.name().to_owned());
        let facts: Vec<_> = facts.into_iter().chain([rows]).collect();
        let tables = format!(
            "{tables}\nCREATE TABLE {SCHEMA_MARK}.{WAREHOUSES} (w_id INTEGER NOT NULL PRIMARY KEY);"
        );
        Ok(OWNED.begin(session, &tables, &facts)?)
    }
}

/// Notes that transactions may have run since the load; to be called before the first one.
///
/// # Errors
/// When the target fails.
pub fn note_transactions(session: &mut dyn Session) -> Result<()> {
    Ok(OWNED.set(session, "transactions_since_load")?)
}

/// Whether a plan of this fingerprint has loaded the database, or found it as it would load it.
pub(super) fn is_of_plan(session: &mut dyn Session, plan: &str) -> Result<bool> {
    let facts = if OWNED.has_facts(session)? {
        OWNED.read(session)?
    } else {
        return Ok(false);
    };
    Ok(facts.get(PLAN).is_some_and(|of| of == plan))
}

/// Notes that a plan may bring the database back to its load, or replace it.
pub(super) fn note_plan(session: &mut dyn Session, plan: &str) -> Result<()> {
    if is_of_plan(session, plan)? {
        return Ok(());
    }
    OWNED.forget_facts(session, PLAN)?;
    Ok(OWNED.insert(session, &[(PLAN, plan.to_owned())])?)
}

pub(super) fn note_whole(session: &mut dyn Session) -> Result<()> {
    Ok(OWNED.set(session, "whole")?)
}

/// Notes that warehouse `w` is whole; 0 stands for the items.
pub(super) fn note_warehouse(session: &mut dyn Session, w: u32) -> Result<()> {
    let schema = session.schema();
    Ok(session.batch(&format!("INSERT INTO {schema}.{WAREHOUSES} VALUES ({w})"))?)
}

/// Whether the items, which belong to no warehouse, are whole.
pub(super) fn has_items(session: &mut dyn Session) -> Result<bool> {
    Ok(finds(
        session,
        &format!("SELECT w_id FROM {WAREHOUSES} WHERE w_id = 0"),
    )?)
}

pub(super) fn whole_warehouses(session: &mut dyn Session) -> Result<Vec<u32>> {
    let rows = session.texts(&format!(
        "SELECT w_id FROM {WAREHOUSES} WHERE w_id > 0 ORDER BY w_id"
    ))?;
    let number = |row: Vec<Option<String>>| row.first()?.as_ref()?.parse().ok();
    Ok(rows.into_iter().filter_map(number).collect())
}

/// Notes that a step is done as a fact of its name, in the step's own transaction where the engine can.
pub(super) fn step_sql(name: &str) -> String {
    format!("INSERT INTO {SCHEMA_MARK}.{FACTS} VALUES ('{name}', 'done')")
}
