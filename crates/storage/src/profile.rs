//! Parameter files that come with the tool.

use std::path::PathBuf;

/// Name and text of each.
const PROFILES: &[(&str, &str)] = &[
    ("database", include_str!("../profiles/database.txt")),
    ("mixed", include_str!("../profiles/mixed.txt")),
];

/// A name that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile {name}; available: {}", names())]
pub struct UnknownProfile {
    name: String,
}

/// A parameter file that is read in place of one on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    name: &'static str,
    text: &'static str,
}

impl Profile {
    /// The one of this name.
    ///
    /// # Errors
    /// [`UnknownProfile`], which names those that there are.
    pub fn named(name: &str) -> Result<Self, UnknownProfile> {
        let found = PROFILES.iter().find(|(known, _)| *known == name);
        found
            .map(|(name, text)| Self { name, text })
            .ok_or_else(|| UnknownProfile {
                name: name.to_owned(),
            })
    }

    /// What messages and pages call it.
    #[must_use]
    pub fn path(self) -> PathBuf {
        PathBuf::from(format!("profile {}", self.name))
    }

    /// Its text, in the language of parameter files.
    #[must_use]
    pub fn text(self) -> &'static str {
        self.text
    }
}

fn names() -> String {
    let names: Vec<&str> = PROFILES.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}
