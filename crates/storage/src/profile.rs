//! Parameter files that come with dbdyno.

use std::path::PathBuf;

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
    name: &'static str,
    text: &'static str,
}

impl Profile {
    pub fn named(name: &str) -> Result<Self, UnknownProfile> {
        let found = PROFILES.iter().find(|(known, _)| *known == name);
        found
            .map(|(name, text)| Self { name, text })
            .ok_or_else(|| UnknownProfile {
                name: name.to_owned(),
            })
    }

    #[must_use]
    pub fn path(self) -> PathBuf {
        PathBuf::from(format!("profile {}", self.name))
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
