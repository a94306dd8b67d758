//! Files of a server that a URL places outside its data directory.

use std::fmt;

use archive::Purpose;

/// In front of a table's name.
pub const TABLE: &str = "table.";

/// Files that can lie apart from the data; shown as in a URL, without `place.`: "log", "table.stock".
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Apart {
    Kind(Purpose),
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
