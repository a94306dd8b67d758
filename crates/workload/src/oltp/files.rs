//! The SQL of the order-entry database: files of the library, `NAME.ENGINE.sql` or `NAME.sql`.

use sha2::{Digest, Sha256};

use super::{OltpError, Result};
use crate::library::EMBEDDED;

/// In front of every named step of a file.
const STEP: &str = "-- step: ";

/// A statement with the name that is shown while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub name: &'static str,
    pub sql: &'static str,
}

/// The file `oltp/NAME.sql`, or that of the engine.
pub(super) fn sql(name: &str, engine: &str) -> Option<&'static str> {
    let file = |name: String| EMBEDDED.get_file(name)?.contents_utf8();
    file(format!("oltp/{name}.{engine}.sql")).or_else(|| file(format!("oltp/{name}.sql")))
}

/// Any other file of `oltp/`.
pub(super) fn text(name: &str) -> &'static str {
    let file = EMBEDDED.get_file(format!("oltp/{name}"));
    file.and_then(|file| file.contents_utf8())
        .unwrap_or_default()
}

/// The steps of a file; none where the engine has no such file.
pub(super) fn steps(name: &str, engine: &str) -> Vec<Step> {
    let Some(text) = sql(name, engine) else {
        return Vec::new();
    };
    let parts = text.split(STEP).skip(1);
    parts
        .filter_map(|part| part.split_once('\n').map(|(name, sql)| Step { name, sql }))
        .collect()
}

/// The statements that make the tables.
///
/// # Errors
/// When the engine has none.
pub(super) fn tables(engine: &str) -> Result<&'static str> {
    sql("tables", engine).ok_or_else(|| OltpError::Engine {
        engine: engine.to_owned(),
        known: known_engines().join(", "),
    })
}

/// Why the workload does not run on an engine; `None` where it does.
pub fn obstacle(engine: &str) -> Option<String> {
    tables(engine).err().map(|error| error.to_string())
}

/// Sixteen hexadecimal digits that change with any of the files that an engine is worked with.
pub fn fingerprint(engine: &str) -> String {
    let files = EMBEDDED.get_dir("oltp").map(|dir| all_files(dir));
    let mut files: Vec<_> = files.unwrap_or_default();
    files.sort_by_key(|(name, _)| name.clone());
    let mut hash = Sha256::new();
    for (name, contents) in files {
        let is_of_another = known_engines()
            .iter()
            .any(|other| other != engine && name.ends_with(&format!(".{other}.sql")));
        if !is_of_another {
            hash.update(name.as_bytes());
            hash.update([0]);
            hash.update(contents);
        }
    }
    let digits = hash.finalize();
    digits.iter().take(8).map(|b| format!("{b:02x}")).collect()
}

fn all_files(dir: &'static include_dir::Dir<'static>) -> Vec<(String, &'static [u8])> {
    let here = dir.files();
    let here = here.map(|file| (file.path().display().to_string(), file.contents()));
    let below = dir.dirs().flat_map(all_files);
    here.chain(below).collect()
}

fn known_engines() -> Vec<String> {
    let files = EMBEDDED.get_dir("oltp").map(|dir| dir.files());
    let mut engines: Vec<String> = files
        .into_iter()
        .flatten()
        .filter_map(|file| {
            let name = file.path().file_name()?.to_str()?;
            Some(
                name.strip_prefix("tables.")?
                    .strip_suffix(".sql")?
                    .to_owned(),
            )
        })
        .collect();
    engines.sort();
    engines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oltp::TABLES;

    #[test]
    fn a_fingerprint_is_of_one_engine_and_of_all_its_files() {
        let engines = known_engines();
        let prints: Vec<_> = engines.iter().map(|engine| fingerprint(engine)).collect();
        let distinct: std::collections::HashSet<_> = prints.iter().collect();
        assert_eq!(distinct.len(), engines.len(), "{prints:?}");
        assert_eq!(fingerprint("sqlite"), fingerprint("sqlite"));
    }

    #[test]
    fn every_engine_has_all_tables_and_keys() {
        let engines = known_engines();
        assert!(engines.len() >= 2, "{engines:?}");
        for engine in &engines {
            let made = tables(engine).unwrap();
            for table in TABLES {
                assert!(
                    made.contains(&format!("CREATE TABLE {table} (")),
                    "{engine} {table}"
                );
            }
            let keys = steps("keys", engine);
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
