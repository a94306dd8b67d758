//! SQL of a workload: files of a folder of the library, `NAME.ENGINE.sql` or `NAME.sql`.

use sha2::{Digest, Sha256};

use crate::library::EMBEDDED;

/// Prefix of the name of a step in a file.
const STEP: &str = "-- step: ";

/// A statement with the name that is shown while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub name: &'static str,
    pub sql: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub struct Folder(pub &'static str);

impl Folder {
    /// File `NAME.sql`, or that of the engine.
    pub fn sql(self, name: &str, engine: &str) -> Option<&'static str> {
        let file = |name: String| EMBEDDED.get_file(name)?.contents_utf8();
        let Self(folder) = self;
        file(format!("{folder}/{name}.{engine}.sql"))
            .or_else(|| file(format!("{folder}/{name}.sql")))
    }

    pub fn text(self, name: &str) -> Option<&'static str> {
        EMBEDDED
            .get_file(format!("{}/{name}", self.0))?
            .contents_utf8()
    }

    /// Steps of a file; none if the engine has no such file.
    pub fn steps(self, name: &str, engine: &str) -> Vec<Step> {
        let Some(text) = self.sql(name, engine) else {
            return Vec::new();
        };
        let parts = text.split(STEP).skip(1);
        parts
            .filter_map(|part| part.split_once('\n').map(|(name, sql)| Step { name, sql }))
            .collect()
    }

    /// Sixteen hexadecimal digits that change with any of the engine's files.
    pub fn fingerprint(self, engine: &str) -> String {
        let files = EMBEDDED.get_dir(self.0).map(|dir| all_files(dir));
        let mut files: Vec<_> = files.unwrap_or_default();
        files.sort();
        let engines = self.engines();
        let others = engines.iter().filter(|other| *other != engine);
        let ends: Vec<String> = others.map(|other| format!(".{other}.sql")).collect();
        let mut hash = Sha256::new();
        for (name, contents) in files {
            if !ends.iter().any(|end| name.ends_with(end)) {
                hash.update(name.as_bytes());
                hash.update([0]);
                hash.update(contents);
            }
        }
        let digits = hash.finalize();
        digits.iter().take(8).map(|b| format!("{b:02x}")).collect()
    }

    pub fn engines(self) -> Vec<String> {
        let files = EMBEDDED.get_dir(self.0).map(|dir| dir.files());
        let mut engines: Vec<String> = files
            .into_iter()
            .flatten()
            .filter_map(|file| {
                let name = file.path().file_name()?.to_str()?;
                let engine = name.strip_prefix("tables.")?.strip_suffix(".sql")?;
                Some(engine.to_owned())
            })
            .collect();
        engines.sort();
        engines
    }
}

fn all_files(dir: &'static include_dir::Dir<'static>) -> Vec<(String, &'static [u8])> {
    let here = dir.files();
    let here = here.map(|file| (file.path().display().to_string(), file.contents()));
    let below = dir.dirs().flat_map(all_files);
    here.chain(below).collect()
}
