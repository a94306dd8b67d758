//! The trait of an engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use archive::Purpose;

use crate::catalogue::Source;
use crate::inspection::Inspection;
use crate::url::{Foreign, Partial, Password};
use crate::{BackupMethod, Footprint, Result, Target, TargetError, TargetUrl};

pub trait Engine: Sync {
    fn info(&self) -> EngineInfo;

    fn scheme(&self) -> &'static str {
        self.info().scheme
    }

    fn reach(&self) -> Reach {
        self.info().reach
    }

    /// Its version, or the sentence that says how to get it.
    fn version(&self) -> std::result::Result<String, String>;

    /// Where there may be several versions: each one found, with its program.
    fn found(&self) -> Vec<String> {
        Vec::new()
    }

    /// Puts into a server's URL what it leaves out, from the places where the engine's own clients look for it.
    ///
    /// # Errors
    /// A sentence, when such a place cannot be used.
    fn complete(&self, _url: &mut Incomplete<'_>) -> std::result::Result<(), String> {
        Ok(())
    }

    /// The setting that makes its cache so large, and its value; `None` where a URL does not set it.
    fn cache_setting(&self, _bytes: u64) -> Option<(&'static str, String)> {
        None
    }

    /// The setting with which a server that is started for a run lets so many sessions in, and its value; `None` where its
    /// usual value does, and where nothing limits them.
    fn sessions_setting(&self, _sessions: u32) -> Option<(&'static str, String)> {
        None
    }

    /// Memory that the server of a URL takes beside what runs on the machine, with this many sessions; `None` where no server
    /// is started, or the URL makes no sense.
    fn memory_need_bytes(&self, _url: &TargetUrl, _sessions: u32) -> Option<u64> {
        None
    }

    /// The backup methods of its databases, those included for which something may be missing here.
    fn backup_methods(&self) -> Vec<BackupMethod> {
        Vec::new()
    }

    /// Checks the values of the URL's settings; touches nothing.
    ///
    /// # Errors
    /// When a value is none that the engine knows.
    fn check(&self, url: &TargetUrl) -> Result<()>;

    /// Opens the database that the URL names to read its tables, somebody's too; nothing is written.
    ///
    /// # Errors
    /// When it cannot be reached, or this engine's tables are not read so.
    fn open_source(&self, url: &TargetUrl) -> Result<Box<dyn Source>> {
        self.open(url)?.source()
    }

    /// Opens the database that the URL names; [`crate::Engines::open`] has checked its settings' names.
    ///
    /// # Errors
    /// When it cannot be reached, is damaged or is not ours.
    fn open(&self, url: &TargetUrl) -> Result<Arc<dyn Target>>;

    /// Opens the database that the URL names to look at the server's work, whoever is at work there; nothing is written, and
    /// nobody is kept from it.
    ///
    /// # Errors
    /// When it cannot be reached, or has no views of its work.
    fn open_observed(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        Err(TargetError::statement(format!(
            "{url} cannot be observed: only running servers show what their sessions do; observe a server by {}",
            "postgres:// or mysql://"
        )))
    }

    /// A URL beside the database, for what nobody shall find there afterwards: a schema or file of its own, or a server
    /// without the directory that was given.
    ///
    /// # Errors
    /// When there is no such place.
    fn place_of_suite(&self, url: &TargetUrl) -> Result<TargetUrl> {
        match self.reach() {
            Reach::LocalServer => Ok(url.in_new_directory()),
            Reach::Nowhere => Ok(url.clone()),
            Reach::Embedded if url.path.is_empty() => Ok(url.clone()),
            Reach::Embedded => Ok(url.with_path_end("-check")),
            Reach::Network | Reach::Replica => Err(TargetError::statement(format!(
                "{url} is populated by a run and cannot be checked; check the target that it copies"
            ))),
        }
    }

    /// Finds out what a run would find, without changing anything; what a run would be refused for is part of it.
    ///
    /// # Errors
    /// When the database cannot be reached, or there is none before a run.
    fn inspect(&self, url: &TargetUrl) -> Result<Inspection> {
        Err(TargetError::statement(format!(
            "{url} is populated by a run and cannot be checked; check the target that it copies"
        )))
    }
}

/// The URL of a server while it is read.
pub struct Incomplete<'a> {
    pub place: Partial,
    /// Those that are no part of the place.
    pub settings: BTreeMap<String, String>,
    pub password: Option<Password>,
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// Types by the engine's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeNames {
    /// Of a moment without a time zone, with microseconds.
    pub moment: &'static str,
    /// Of at least 1000 bytes.
    pub bytes: &'static str,
    /// Of texts, in a cast.
    pub text: &'static str,
    /// The function that gives the length of [`Self::bytes`].
    pub octets: &'static str,
    /// True if a text without letters is stored as null.
    pub empty_text_is_null: bool,
}

impl TypeNames {
    pub const USUAL: Self = Self {
        moment: "TIMESTAMP",
        bytes: "BLOB",
        text: "VARCHAR",
        octets: "octet_length",
        empty_text_is_null: false,
    };
}

/// Where the databases of an engine are. A run that names no target measures the embedded ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Nowhere,
    /// In a file or in memory, inside this process.
    Embedded,
    /// In memory, a copy of another target's.
    Replica,
    /// In a server that dbdyno starts and removes.
    LocalServer,
    /// In a server that runs already.
    Network,
}

impl Reach {
    /// dbdyno makes the files of such a database, so that they can be on a layout.
    pub const fn makes_files(self) -> bool {
        matches!(self, Self::Embedded | Self::LocalServer)
    }
}

/// Versions of an engine's databases by how they were tried; empty where there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tried {
    /// Those that dbdyno's own tests start.
    pub here: &'static str,
    /// Those whose protocol a stand-in speaks in the tests.
    pub on_protocol: &'static str,
    /// Those that nobody has tried.
    pub believed: &'static str,
}

impl Tried {
    pub const NOTHING: Self = Self {
        here: "",
        on_protocol: "",
        believed: "",
    };

    /// A sentence with what there is.
    pub fn sentence(&self) -> Option<String> {
        let parts = [
            ("tested here", self.here),
            ("tested on the protocol only", self.on_protocol),
            ("believed", self.believed),
        ];
        let parts = parts.into_iter().filter(|(_, of)| !of.is_empty());
        let parts: Vec<String> = parts.map(|(how, of)| format!("{how}: {of}")).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// Facts of an engine that never change.
#[derive(Clone, Copy)]
pub struct EngineInfo {
    /// Scheme in a target URL.
    pub scheme: &'static str,
    /// Schemes that other clients have for it.
    pub aliases: &'static [&'static str],
    pub title: &'static str,
    /// The engine whose SQL in the library it executes, where that is another one's.
    pub sql_of: Option<&'static str>,
    pub reach: Reach,
    /// Settings a URL may carry, with their meaning.
    pub settings: &'static [(&'static str, &'static str)],
    /// Settings that other clients have in their URLs, and what they mean here.
    pub foreign_settings: &'static [Foreign],
    /// True if a URL may carry settings that are not among `settings`: those of the server, which a local server has as a
    /// whole, and a running one in every session that is measured. The server checks them.
    pub takes_settings_of_the_server: bool,
    /// True if its URLs may be written as libpq's `KEY=VALUE …`.
    pub reads_key_values: bool,
    /// Kinds of files that URLs can place separately, as `place.log=DIR`; empty where all lie in one directory.
    pub places: &'static [Purpose],
    pub places_tables: bool,
    /// Where the password of a user is looked for, if it is not in the URL; `None` where nobody logs on.
    pub password_places: Option<&'static str>,
    /// True if `?` is an operator of its SQL, and no parameter's place. In a prepared statement that operator is `??`.
    pub has_question_mark_operators: bool,
    pub type_names: TypeNames,
    /// Bytes of a row in its log and its files; `None` where nobody has measured them.
    pub footprint: Option<Footprint>,
    pub tried: Tried,
}

impl EngineInfo {
    /// An engine inside this process that has nothing special.
    pub const EMBEDDED: Self = Self {
        scheme: "",
        aliases: &[],
        title: "",
        sql_of: None,
        reach: Reach::Embedded,
        settings: &[],
        foreign_settings: &[],
        takes_settings_of_the_server: false,
        reads_key_values: false,
        places: &[],
        places_tables: false,
        password_places: None,
        has_question_mark_operators: false,
        type_names: TypeNames::USUAL,
        footprint: None,
        tried: Tried::NOTHING,
    };
}
