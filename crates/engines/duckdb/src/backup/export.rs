//! `EXPORT DATABASE`: the rows of each table as they are at one moment in a Parquet file, and statements that make the tables.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::super::explain::explain;
use super::super::set_up::SetUp;
use super::super::target::DuckDbTarget;
use super::tools::{Bare, RESTORED, path_text, statement};
use engine::backup_adapter::Adapter;
use engine::file_snapshot::copy::sync;
use engine::register::quoted;
use engine::{BackedUp, BackupMethod, BackupOptions, Method, RestoreOptions, Restored, Result};

const PARQUET: &str = "parquet";
/// Usual level of zstd in DuckDB.
const LEVEL_USUAL: u32 = 3;

pub(super) const EXPORT: Adapter<DuckDbTarget> = Adapter {
    about: BackupMethod {
        name: "export-parquet-zstd",
        how: "EXPORT DATABASE: the rows of one moment as Parquet compressed with zstd (level 3 if not said), then synchronised; \
              channels are threads. The restore is IMPORT DATABASE",
        has_channels: true,
        levels: Some((1, 22)),
        ..BackupMethod::SIMPLE
    },
    on: |target| Box::new(Exported(target)),
};

struct Exported<'t>(&'t DuckDbTarget);

impl Method for Exported<'_> {
    fn lacks(&self) -> Option<String> {
        self.0.lacks_directories()
    }

    fn prepare(&self, options: BackupOptions, into: &Path) -> Result<()> {
        self.0.lend(options, into)
    }

    fn back_up(&self, options: BackupOptions, into: &Path) -> Result<BackedUp> {
        let (connection, _guard) = self.0.instance.connect()?;
        let level = options.variant.level.unwrap_or(LEVEL_USUAL);
        let sql = format!(
            "EXPORT DATABASE {} (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL {level})",
            quoted(path_text(into)?)
        );
        let exported = connection.query(&sql).map(drop);
        exported.map_err(|m| explain("the export failed", &m))?;
        sync(into).map_err(|e| statement(&format!("cannot synchronise the export: {e}")))?;
        Ok(BackedUp::default())
    }

    fn finish(&self) -> Result<()> {
        self.0.take_back()
    }

    /// True if every row of every file can be read. Parquet as DuckDB writes it bears no checksums.
    fn verify(&self, from: &Path) -> Result<Option<String>> {
        let bare = Bare::open(self.0.instance.loaded, None, &[])?;
        for file in files(from).map_err(|e| statement(&format!("{}: {e}", from.display())))? {
            let name = quoted(path_text(&file)?);
            if let Some(fault) = bare.fault(&format!("read_parquet({name})")) {
                return Ok(Some(fault));
            }
        }
        Ok(None)
    }

    fn restore(&self, of: &RestoreOptions<'_>) -> Result<Restored> {
        let begun = Instant::now();
        let file = of.into.join(RESTORED);
        let set_up = SetUp {
            threads: Some(of.options.channels),
            ..SetUp::default()
        };
        let bare = Bare::open(self.0.instance.loaded, Some(&file), &set_up.options())?;
        bare.run(&format!("IMPORT DATABASE {}", quoted(path_text(of.from)?)))?;
        bare.comment()?;
        drop(bare);
        self.0.open_restored(&file, (begun, of.into))
    }
}

fn files(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in directory.read_dir()? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == PARQUET) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
