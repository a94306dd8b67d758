//! SQL of the order-entry database: files of the library, `NAME.ENGINE.sql` or `NAME.sql`.

use archive::Remark;
use workload::sql_folder::Folder;

use super::{OltpError, Result};

pub(super) const FOLDER: Folder = Folder("oltp");

/// Statements that create the tables.
///
/// # Errors
/// When the engine has none.
pub(super) fn tables(engine: &str) -> Result<&'static str> {
    FOLDER
        .sql("tables", engine)
        .ok_or_else(|| OltpError::Engine {
            engine: engine.to_owned(),
            known: FOLDER.engines().join(", "),
        })
}

pub fn obstacle(engine: &str) -> Option<Remark> {
    let error = tables(engine).err()?.to_string();
    Some(Remark::OltpWithoutEngine { error })
}

/// Sixteen hexadecimal digits that change with any of the engine's files.
pub fn fingerprint(engine: &str) -> String {
    FOLDER.fingerprint(engine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TABLES;

    #[test]
    fn a_fingerprint_is_of_one_engine_and_of_all_its_files() {
        let engines = FOLDER.engines();
        let prints: Vec<_> = engines.iter().map(|engine| fingerprint(engine)).collect();
        let distinct: std::collections::HashSet<_> = prints.iter().collect();
        assert_eq!(distinct.len(), engines.len(), "{prints:?}");
        assert_eq!(fingerprint("sqlite"), fingerprint("sqlite"));
    }

    #[test]
    fn every_engine_has_all_tables_and_keys() {
        let engines = FOLDER.engines();
        assert!(engines.len() >= 2, "{engines:?}");
        for engine in &engines {
            let made = tables(engine).unwrap();
            for table in TABLES {
                assert!(
                    made.contains(&format!("CREATE TABLE {{schema}}.{table} (")),
                    "{engine} {table}"
                );
            }
            let keys = FOLDER.steps("keys", engine);
            assert!(keys.len() >= 2, "{engine}");
            assert!(
                keys.iter().all(|step| step.sql.trim_end().ends_with(';')),
                "{keys:?}"
            );
        }
        let message = tables("abacus").unwrap_err().to_string();
        assert!(
            message.contains("abacus") && message.contains(&engines.join(", ")),
            "{message}"
        );
    }
}
