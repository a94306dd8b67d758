use std::sync::atomic::AtomicBool;

use engine::Session;
use oltp::{Checked, LoadOptions, Loaded, OltpError, WarehouseRows};

pub use crate::database::{Database, mysql_is_there, open};

impl Database {
    pub fn load(&self, options: &LoadOptions) -> Result<Loaded, OltpError> {
        let never = AtomicBool::new(false);
        oltp::load(self.target.as_ref(), self.engine, options, &never, &|_| ())
    }

    pub fn check(&self) -> Checked {
        oltp::check(self.target.as_ref(), self.engine, false).unwrap()
    }
}

/// A tenth of the rows is as good for the logic of transactions and checks.
pub fn options(warehouses: u32) -> LoadOptions {
    LoadOptions {
        warehouses,
        rows: WarehouseRows::Tenth,
        jobs: None,
        seed: 1,
        foreign_keys: false,
        replace: false,
    }
}

pub fn one(session: &mut dyn Session, sql: &str) -> String {
    let rows = session.texts(sql).unwrap();
    assert_eq!((rows.len(), rows[0].len()), (1, 1), "{sql}");
    rows[0][0].clone().unwrap_or_else(|| "none".into())
}

pub fn change_one(session: &mut dyn Session, sql: &str) {
    let statement = session.prepare(sql).unwrap();
    assert_eq!(session.execute(statement, &[]).unwrap(), 1, "{sql}");
}
