//! Metadata of the database in separate tables; nothing is inferred from counts.

use engine::{SCHEMA_MARK, Session};
use workload::owned::{ORDER_ENTRY_MARK, Owned, finds};

use super::initial_rows::WarehouseRows;
use super::{OltpError, Result, TABLES};

const FACTS: &str = "dbdyno_oltp";
const ROWS: &str = "warehouse_rows";
/// Fact with the plan that has loaded the database, as a fingerprint of its name. Without it no plan may replace the
/// database.
const PLAN: &str = "plan";
/// Table with one row per complete warehouse. A warehouse without one is missing or incomplete.
pub(super) const WAREHOUSES: &str = "dbdyno_oltp_warehouse";
pub(crate) const OWNED: Owned = Owned {
    facts: FACTS,
    notes: &[WAREHOUSES],
    tables: &TABLES,
    mark: ORDER_ENTRY_MARK,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metadata {
    /// Requested warehouses.
    pub warehouses: u32,
    /// Share of rows per warehouse; older versions loaded all.
    pub rows: WarehouseRows,
    pub seed: u64,
    pub generator: u64,
    /// Constant of the non-uniform choice of last names during the load.
    pub c_last_load: u64,
    pub foreign_keys: bool,
    /// True if everything is loaded and counted, with keys and statistics.
    pub whole: bool,
    pub transactions_since_load: bool,
}

impl Metadata {
    /// `None` if there is no order-entry database of dbdyno.
    ///
    /// # Errors
    /// When the metadata are invalid.
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

    /// Reads the metadata of a complete database.
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

    /// Creates the nine tables and the metadata of the load.
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

/// Notes that transactions may have run since the load. The call precedes the first transaction.
pub fn note_transactions(session: &mut dyn Session) -> Result<()> {
    Ok(OWNED.set(session, "transactions_since_load")?)
}

/// True if a plan of this fingerprint has loaded the database, or found it as it would load it.
pub(super) fn is_of_plan(session: &mut dyn Session, plan: &str) -> Result<bool> {
    let facts = if OWNED.has_facts(session)? {
        OWNED.read(session)?
    } else {
        return Ok(false);
    };
    Ok(facts.get(PLAN).is_some_and(|of| of == plan))
}

/// Permits a plan to restore or replace the database.
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

/// Marks warehouse `w` as complete; 0 stands for the items.
pub(super) fn note_warehouse(session: &mut dyn Session, w: u32) -> Result<()> {
    let schema = session.schema();
    Ok(session.batch(&format!("INSERT INTO {schema}.{WAREHOUSES} VALUES ({w})"))?)
}

/// Items belong to no warehouse.
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

/// Notes a step as done by a fact of its name, in the step's own transaction if the engine supports that.
pub(super) fn step_sql(name: &str) -> String {
    format!("INSERT INTO {SCHEMA_MARK}.{FACTS} VALUES ('{name}', 'done')")
}
