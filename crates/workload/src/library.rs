//! Test definitions and their SQL, embedded or read from a directory.

mod definition;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use archive::Component;
use engine::Feature;
use include_dir::{Dir, include_dir};
use lab::LabError;
use sha2::{Digest, Sha256};

use crate::script::Script;

pub use definition::{
    Amount, Cache, Computation, Definition, Importance, Keys, Kind, SizeClass, Sweep, Table,
    Weight, Work,
};

pub(crate) static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../library");
const FILES_MAX: usize = 10_000;
const FILE_BYTES_MAX: u64 = 4 << 20;

#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    #[error("the library {path} cannot be read: {reason}")]
    Unreadable {
        path: String,
        reason: std::io::Error,
    },
    #[error("library file {file} is invalid: {what}")]
    Malformed {
        file: String,
        /// Error with its position.
        what: String,
    },
    #[error("there is no test \"{code}\"{hint}")]
    UnknownTest {
        code: String,
        /// ` (did you mean "…"?)`, or empty.
        hint: String,
    },
    #[error("two different scripts are both called {code}; give one of them another name")]
    TwoScripts { code: String },
    #[error("there is no size \"{size}\"; the sizes are {known}")]
    UnknownSize { size: String, known: String },
}

impl From<LibraryError> for LabError {
    fn from(error: LibraryError) -> Self {
        match error {
            LibraryError::Unreadable { .. } => Self::Unreadable(error.to_string()),
            _ => Self::Plan(error.to_string()),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Test {
    pub definition: Definition,
    pub needs: Vec<Feature>,
    toml: String,
    sql: BTreeMap<String, String>,
}

#[derive(Debug, Clone)]
pub struct Library {
    tests: BTreeMap<String, Test>,
    tables: BTreeMap<String, String>,
    sizes: BTreeMap<String, SizeClass>,
    scripts: BTreeMap<String, String>,
}

impl Library {
    /// The library built into the program.
    ///
    /// # Errors
    /// None in a program whose tests have passed; the error names the wrong file.
    pub fn embedded() -> Result<Self, LibraryError> {
        let mut files = BTreeMap::new();
        for dir in std::iter::once(&EMBEDDED).chain(EMBEDDED.dirs()) {
            for file in dir.files() {
                let text = file.contents_utf8().unwrap_or_default();
                files.insert(file.path().display().to_string(), text.to_owned());
            }
        }
        Self::parse(&files)
    }

    /// Reads a library from a directory of the same layout.
    ///
    /// # Errors
    /// When it cannot be read, or a file is invalid.
    pub fn from_directory(path: &Path) -> Result<Self, LibraryError> {
        let mut files = BTreeMap::new();
        for folder in ["", "tables"] {
            let unreadable = |reason| LibraryError::Unreadable {
                path: path.join(folder).display().to_string(),
                reason,
            };
            let entries = match std::fs::read_dir(path.join(folder)) {
                // Tests that only compute need no tables.
                Err(e) if e.kind() == ErrorKind::NotFound && !folder.is_empty() => continue,
                entries => entries.map_err(unreadable)?,
            };
            for entry in entries.take(FILES_MAX) {
                let entry = entry.map_err(unreadable)?;
                if entry.path().is_file() {
                    let text =
                        archive::read_text(&entry.path(), FILE_BYTES_MAX).map_err(unreadable)?;
                    let name = Path::new(folder).join(entry.file_name());
                    files.insert(name.display().to_string(), text);
                }
            }
        }
        Self::parse(&files)
    }

    fn parse(files: &BTreeMap<String, String>) -> Result<Self, LibraryError> {
        let malformed = |file: &str, what: String| LibraryError::Malformed {
            file: file.to_owned(),
            what,
        };
        let sizes = files
            .get("sizes.toml")
            .ok_or_else(|| malformed("sizes.toml", "it is missing".into()))?;
        let sizes = toml::from_str(sizes)
            .map_err(|e| malformed("sizes.toml", archive::toml_sentence(sizes, &e)))?;
        let mut tests = BTreeMap::new();
        for (name, text) in files {
            let Some(code) = name
                .strip_suffix(".toml")
                .filter(|c| c.starts_with(['D', 'T']))
            else {
                continue;
            };
            let test = Test::parse(code, text, files).map_err(|what| malformed(name, what))?;
            tests.insert(code.to_owned(), test);
        }
        let tables = files
            .iter()
            .filter_map(|(name, sql)| Some((name.strip_prefix("tables/")?.to_owned(), sql.clone())))
            .collect();
        Ok(Self {
            tests,
            tables,
            sizes,
            scripts: BTreeMap::new(),
        })
    }

    /// Adds the script read from `path` as the test `S-NAME`.
    ///
    /// # Errors
    /// When another script has that name.
    pub fn add_script(&mut self, path: &str, script: Script) -> Result<(), LibraryError> {
        let test = Test::of_script(script);
        let code = test.code().to_owned();
        if self
            .tests
            .get(&code)
            .is_some_and(|there| there.toml != test.toml)
        {
            return Err(LibraryError::TwoScripts { code });
        }
        self.scripts.insert(path.to_owned(), code.clone());
        self.tests.insert(code, test);
        Ok(())
    }

    pub fn script_at(&self, path: &str) -> Option<&Test> {
        self.tests.get(self.scripts.get(path)?)
    }

    pub fn tests(&self) -> impl Iterator<Item = &Test> {
        self.tests.values()
    }

    /// # Errors
    /// When there is none; the error suggests the most similar code.
    pub fn test(&self, code: &str) -> Result<&Test, LibraryError> {
        self.tests.get(code).ok_or_else(|| {
            let nearest = self
                .tests
                .keys()
                .map(|known| (strsim::damerau_levenshtein(known, code), known))
                .min()
                .filter(|(distance, _)| *distance <= 2);
            LibraryError::UnknownTest {
                code: code.to_owned(),
                hint: nearest.map_or(String::new(), |(_, k)| format!(" (did you mean \"{k}\"?)")),
            }
        })
    }

    pub fn size(&self, name: &str) -> Result<SizeClass, LibraryError> {
        self.sizes
            .get(name)
            .copied()
            .ok_or_else(|| LibraryError::UnknownSize {
                size: name.to_owned(),
                known: self.sizes.keys().cloned().collect::<Vec<_>>().join(", "),
            })
    }

    /// `CREATE TABLE` of a table shape ("bench", "heap" or "blob") for the table `name` on an engine.
    pub fn create_table(&self, shape: &str, engine: &str, name: &str) -> String {
        let sql = self
            .tables
            .get(&format!("{shape}.{engine}.sql"))
            .or_else(|| self.tables.get(&format!("{shape}.sql")));
        sql.map_or(String::new(), |sql| sql.replace("{table}", name))
    }
}

impl Test {
    fn parse(code: &str, text: &str, files: &BTreeMap<String, String>) -> Result<Self, String> {
        let definition: Definition =
            toml::from_str(text).map_err(|e| archive::toml_sentence(text, &e))?;
        if definition.code != code {
            return Err(format!(
                "its key code is \"{}\", unlike its file name",
                definition.code
            ));
        }
        let mut needs = definition
            .needs
            .iter()
            .map(|name| Feature::named(name).ok_or(format!("there is no feature \"{name}\"")))
            .collect::<Result<Vec<_>, _>>()?;
        if definition.exercise.uses_tables() {
            needs.push(Feature::Tables);
        }
        if definition.exercise.makes_keyless_tables() {
            needs.push(Feature::KeylessTables);
        }
        let owner = definition.sql_of.as_deref().unwrap_or(code);
        let sql: BTreeMap<String, String> = files
            .iter()
            .filter_map(|(name, sql)| {
                let rest = name.strip_prefix(owner)?.strip_suffix("sql")?;
                Some((rest.trim_matches('.').to_owned(), sql.trim().to_owned()))
            })
            .collect();
        if sql.is_empty() && definition.sql_of.is_some() {
            return Err(format!("sql_of names {owner}, which has no SQL"));
        }
        Ok(Self {
            definition,
            needs,
            toml: text.to_owned(),
            sql,
        })
    }

    /// Test of a script, which declares its own amount of work.
    fn of_script(script: Script) -> Self {
        let amount = Amount {
            operations: script.operations,
            rows: 1,
        };
        let toml = script.text.clone();
        let definition = Definition {
            code: format!("S-{}", script.name),
            title: script.name.clone(),
            about: script.about.clone(),
            component: Component::Database,
            published: false,
            importance: Importance {
                oltp: Weight::Less,
                warehouse: Weight::Less,
            },
            needs: Vec::new(),
            sweep: Sweep::Jobs,
            writes: script.writes(),
            queries: false,
            cache: Cache::Any,
            engine_specific: false,
            sql_of: None,
            exercise: Kind::Script(Arc::new(script)),
            work: Work {
                quick: amount,
                quick_on: BTreeMap::new(),
                published: amount,
                ramp_up: 0.0,
            },
        };
        Self {
            definition,
            needs: vec![Feature::Tables],
            toml,
            sql: BTreeMap::new(),
        }
    }

    pub fn script(&self) -> Option<&Script> {
        match &self.definition.exercise {
            Kind::Script(script) => Some(script),
            _ => None,
        }
    }

    pub fn code(&self) -> &str {
        &self.definition.code
    }

    /// SQL for an engine: the engine's own file, else the common one. Empty if the test needs none.
    pub fn sql(&self, engine: &str) -> &str {
        self.sql
            .get(engine)
            .or_else(|| self.sql.get(""))
            .map_or("", String::as_str)
    }

    /// SQL that creates the stored code of the test on an engine, from `CODE.ENGINE.setup.sql`. Empty if the test needs
    /// none.
    pub fn set_up_sql(&self, engine: &str) -> &str {
        let own = self.sql.get(&format!("{engine}.setup"));
        own.map_or("", String::as_str)
    }

    /// Amount of work of a size class on an engine.
    pub fn amount(&self, size: SizeClass, engine: &str) -> Amount {
        let work = &self.definition.work;
        if size.is_published() || self.script().is_some() {
            return work.published;
        }
        let quick = *work.quick_on.get(engine).unwrap_or(&work.quick);
        match &self.definition.exercise {
            Kind::BulkLoad { .. } => Amount {
                rows: quick.rows * size.factor,
                ..quick
            },
            // The table grows instead of the amount.
            kind if kind.uses_a_whole_table() => quick,
            _ => Amount {
                operations: quick.operations * size.factor,
                ..quick
            },
        }
    }

    /// Fingerprint of the definition with the SQL and the stored code for the engine.
    pub fn fingerprint(&self, engine: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(self.toml.as_bytes());
        hash.update([0]);
        hash.update(self.sql(engine).as_bytes());
        let set_up = self.set_up_sql(engine);
        // Tests without stored code keep the fingerprints that archives already contain.
        if !set_up.is_empty() {
            hash.update([0]);
            hash.update(set_up.as_bytes());
        }
        hash.finalize()
            .iter()
            .take(8)
            .map(|b| format!("{b:02x}"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_library_is_whole() {
        let library = Library::embedded().unwrap();
        let codes: Vec<_> = library.tests().map(|t| t.code().to_owned()).collect();
        assert_eq!(
            codes.join(" "),
            "D111 D112 D121 D122 T132 T133 T141 T151 T152 T153 T154 T155 T211 T311 T331 T332 T421 T426 T431 T512 \
             T513 T521 T531 T611 T616 T621 T626 T716 T721"
        );
        for test in library.tests() {
            assert!(
                test.definition.about.len() > 40,
                "{} says too little",
                test.code()
            );
        }
    }

    #[test]
    fn a_larger_size_has_more_operations_or_larger_ones() {
        let library = Library::embedded().unwrap();
        let operations = |code: &str, size: &str| {
            let size = library.size(size).unwrap();
            library.test(code).unwrap().amount(size, "mysql").operations
        };
        assert_eq!(
            operations("T611", "medium"),
            64 * operations("T611", "quick")
        );
        for code in ["T421", "T431", "T512"] {
            assert_eq!(operations(code, "medium"), operations(code, "quick"));
        }
    }

    #[test]
    fn a_misspelt_code_names_the_nearest() {
        let library = Library::embedded().unwrap();
        let message = library.test("T661").unwrap_err().to_string();
        assert!(message.contains("did you mean"), "{message}");
        assert!(
            library
                .size("huge")
                .unwrap_err()
                .to_string()
                .contains("quick")
        );
    }

    #[test]
    fn an_unknown_key_in_a_definition_is_refused() {
        let mut files = BTreeMap::from([(
            "sizes.toml".to_owned(),
            "[quick]\nfactor = 1\nsmall = 1\nlarge = 1\noltp = 1\n".to_owned(),
        )]);
        files.insert("T1.toml".into(), "code = \"T1\"\ncolour = 3\n".into());
        let message = Library::parse(&files).unwrap_err().to_string();
        assert!(
            message.contains("T1.toml") && message.contains("line 2: unknown field `colour`"),
            "{message}"
        );
    }

    #[test]
    fn the_fingerprint_follows_the_sql() {
        let library = Library::embedded().unwrap();
        let mut test = library.test("T611").unwrap().clone();
        let before = test.fingerprint("sqlite");
        test.sql.insert(String::new(), "SELECT 1".into());
        let changed = test.fingerprint("sqlite");
        assert_ne!(changed, before);
        test.sql.insert("sqlite.setup".into(), "CREATE …".into());
        assert_eq!(test.set_up_sql("sqlite"), "CREATE …");
        assert_ne!(test.fingerprint("sqlite"), changed);
    }
}
