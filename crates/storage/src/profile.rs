//! Parameter files that come with dbdyno.

use std::path::Path;

/// Beginning of the name of a file that is a profile.
const SCHEME: &str = "profile:";

const PROFILES: &[(&str, &str)] = &[
    ("database", include_str!("../profiles/database.txt")),
    ("mixed", include_str!("../profiles/mixed.txt")),
];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile {name}; available: {}", names())]
pub struct UnknownProfile {
    name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    text: &'static str,
}

impl Profile {
    /// The profile that a parameter file `profile:NAME` means; `None` for a file of its user.
    pub fn of(file: &Path) -> Result<Option<Self>, UnknownProfile> {
        let Some(name) = file.to_str().and_then(|file| file.strip_prefix(SCHEME)) else {
            return Ok(None);
        };
        let found = PROFILES.iter().find(|(known, _)| *known == name);
        let unknown = || UnknownProfile {
            name: name.to_owned(),
        };
        let (_, text) = found.ok_or_else(unknown)?;
        Ok(Some(Self { text }))
    }

    #[must_use]
    pub fn text(self) -> &'static str {
        self.text
    }
}

fn names() -> String {
    let names: Vec<&str> = PROFILES.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}
