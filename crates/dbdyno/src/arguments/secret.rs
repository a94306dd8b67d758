//! Arguments that may hold a password.

use std::fmt;

use engine::TargetUrl;
use lab::LabError;

/// A text that may hold a password: a target's URL, or a setting with one. `Debug` hides it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// The text as a target's URL, which hides its password.
    pub fn url(&self) -> Result<TargetUrl, LabError> {
        Ok(engines::parse(&self.0)?)
    }

    /// The text as typed, for parsing.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(what may hold a password)")
    }
}

pub fn urls(texts: &[SecretText]) -> Result<Vec<TargetUrl>, LabError> {
    texts.iter().map(SecretText::url).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        let text = SecretText::from("postgres://u:c4nary@h/d".to_owned());
        let said = format!("{text:?} {:?} {}", text.url(), text.url().unwrap());
        assert!(!said.contains("c4nary"), "{said}");
        assert_eq!(text.url().unwrap().password.unwrap().expose(), "c4nary");
    }
}
