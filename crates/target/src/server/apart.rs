//! What of a server's files a URL puts apart from its data.

use std::fmt;

use archive::Purpose;

use super::kind::ServerKind;
use crate::url::PLACE;

/// In front of a table's name.
const TABLE: &str = "table.";
/// Longer names are none of a table that every server takes.
const TABLE_CHARACTERS_MAX: usize = 48;

/// Files that can lie apart from the data; shown as in a URL, without `place.`: "log", "table.stock".
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Apart {
    /// All of a kind.
    Kind(Purpose),
    /// Those of one table.
    Table(String),
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind(purpose) => f.write_str(purpose.name()),
            Self::Table(table) => write!(f, "{TABLE}{table}"),
        }
    }
}

impl Apart {
    /// What `place.KEY` names on a kind of server.
    ///
    /// # Errors
    /// What the kind can keep apart.
    pub(super) fn parse(kind: &dyn ServerKind, key: &str) -> Result<Self, String> {
        let table = key.strip_prefix(TABLE).filter(|_| kind.places_tables());
        if let Some(table) = table {
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            return match (1..=TABLE_CHARACTERS_MAX).contains(&table.len())
                && table.chars().all(fits)
            {
                true => Ok(Self::Table(table.to_owned())),
                false => Err(format!(
                    "{PLACE}{key}: a table has a name of 1 to {TABLE_CHARACTERS_MAX} lower-case letters, digits and underscores"
                )),
            };
        }
        let known = kind.places().iter().find(|it| it.name() == key);
        known.map(|of| Self::Kind(*of)).ok_or_else(|| {
            let mut names: Vec<&str> = kind.places().iter().map(|it| it.name()).collect();
            names.extend(kind.places_tables().then_some("table.NAME"));
            let (title, names) = (kind.title(), names.join(", "));
            format!("{PLACE}{key}: {title} keeps apart from its data: {names}")
        })
    }
}
