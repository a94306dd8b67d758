use std::sync::atomic::AtomicBool;

use olap::{Checked, LoadOptions, Loaded, OlapError, Scale};

pub use crate::database::Database;

impl Database {
    pub fn duckdb() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("duckdb:{}/olap.duckdb", directory.path().display());
        Self::at("duckdb", &url, directory)
    }

    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::duckdb(), Self::sqlite(), Self::postgres()];
        all.extend(Self::mariadb_and_mysql());
        all
    }

    pub fn load(&self, options: &LoadOptions) -> Result<Loaded, OlapError> {
        let never = AtomicBool::new(false);
        olap::load(self.target.as_ref(), self.engine, options, &never, &|_| ())
    }

    /// Loads the smallest scale.
    pub fn load_least(&self) {
        self.load(&options(0.01)).unwrap();
    }

    pub fn check(&self, queries: &[u32]) -> Checked {
        olap::check(self.target.as_ref(), self.engine, queries, None, &|_| ()).unwrap()
    }
}

pub fn options(scale: f64) -> LoadOptions {
    LoadOptions {
        scale: Scale::new(scale).unwrap(),
        jobs: None,
        replace: false,
    }
}
