//! Settings that other clients know in their URLs, and what each means here.

use std::collections::BTreeMap;

use super::UrlError;

/// Settings of other clients that mean the same here.
pub struct Foreign {
    /// Their names, separated by blanks; capitals do not matter.
    names: &'static str,
    meaning: Meaning,
}

impl Foreign {
    pub const fn new(names: &'static str, meaning: Meaning) -> Self {
        Self { names, meaning }
    }

    pub const fn same(names: &'static str, own: &'static str) -> Self {
        Self::new(names, Meaning::Same(own))
    }

    pub const fn nothing(names: &'static str, why: &'static str) -> Self {
        Self::new(names, Meaning::Nothing(why))
    }

    pub const fn only(
        names: &'static str,
        values: &'static [&'static str],
        instead: &'static str,
    ) -> Self {
        Self::new(names, Meaning::NothingIf(values, instead))
    }

    /// These values mean `own`=`value` here; the sentence says what to write for any other.
    pub const fn set_by(
        names: &'static str,
        values: &'static [&'static str],
        own: (&'static str, &'static str),
        instead: &'static str,
    ) -> Self {
        Self::new(names, Meaning::SetBy(values, own, instead))
    }

    pub const fn never(names: &'static str, instead: &'static str) -> Self {
        Self::new(names, Meaning::Never(instead))
    }

    fn is_named(&self, key: &str) -> bool {
        let mut names = self.names.split(' ');
        names.any(|name| name.eq_ignore_ascii_case(key))
    }
}

#[derive(Clone, Copy)]
pub enum Meaning {
    Same(&'static str),
    Nothing(&'static str),
    /// These values ask for what happens anyway; the sentence says what to do instead of any other.
    NothingIf(&'static [&'static str], &'static str),
    /// These values ask for a setting and its value; the sentence says what to do instead of any other.
    SetBy(
        &'static [&'static str],
        (&'static str, &'static str),
        &'static str,
    ),
    /// It cannot be had; the sentence says what to do instead.
    Never(&'static str),
    /// Settings of the server, as libpq's `options` has them.
    Options,
}

/// Puts the engine's own settings into the place of foreign ones; returns a sentence for each that has no effect.
///
/// # Errors
/// The first that asks for what cannot be had.
pub fn translate(
    foreign: &[Foreign],
    settings: &mut BTreeMap<String, String>,
) -> Result<Vec<String>, UrlError> {
    let mut ignored = Vec::new();
    let keys: Vec<String> = settings.keys().cloned().collect();
    for key in keys {
        let Some(found) = foreign.iter().find(|f| f.is_named(&key)) else {
            continue;
        };
        let value = settings.remove(&key).unwrap_or_default();
        let refused = |instead: &str| Err(UrlError::ForeignSetting(key.clone(), instead.into()));
        match found.meaning {
            Meaning::Nothing(why) => {
                ignored.push(format!("{key} in the target's URL has no effect: {why}"));
            }
            Meaning::NothingIf(values, _)
                if values.iter().any(|v| v.eq_ignore_ascii_case(&value)) => {}
            Meaning::SetBy(values, (own, meant), _)
                if values.iter().any(|v| v.eq_ignore_ascii_case(&value)) =>
            {
                enter(settings, own, meant.to_owned(), &key)?;
            }
            Meaning::NothingIf(_, instead)
            | Meaning::SetBy(_, _, instead)
            | Meaning::Never(instead) => {
                return refused(instead);
            }
            Meaning::Same(own) => enter(settings, own, value, &key)?,
            Meaning::Options => {
                let Some(options) = options(&value) else {
                    return refused(
                        "of it only -c NAME=VALUE is taken; write NAME=VALUE for each setting of the measured sessions",
                    );
                };
                for (name, value) in options {
                    enter(settings, &name, value, &key)?;
                }
            }
        }
    }
    Ok(ignored)
}

fn enter(
    settings: &mut BTreeMap<String, String>,
    own: &str,
    value: String,
    by: &str,
) -> Result<(), UrlError> {
    match settings.insert(own.to_owned(), value.clone()) {
        Some(other) if other != value => Err(UrlError::ForeignSetting(
            by.to_owned(),
            format!("{own} says something else; give one of them"),
        )),
        _ => Ok(()),
    }
}

/// The settings of `-c NAME=VALUE --NAME=VALUE`; a backslash keeps the blank behind it.
fn options(text: &str) -> Option<Vec<(String, String)>> {
    let mut words = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            c if c.is_whitespace() => words.push(String::new()),
            '\\' => words.last_mut()?.extend(letters.next()),
            c => words.last_mut()?.push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    let mut words = words.iter().map(String::as_str);
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let (name, value) = match word.strip_prefix("-c") {
            Some("") => words.next()?.split_once('='),
            Some(setting) => setting.split_once('='),
            None => word.strip_prefix("--")?.split_once('='),
        }?;
        found.push((name.replace('-', "_"), value.to_owned()));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[Foreign] = &[
        Foreign::same("ssl-mode sslMode", "sslmode"),
        Foreign::new("options", Meaning::Options),
    ];

    fn translated(settings: &[(&str, &str)]) -> Result<Vec<(String, String)>, UrlError> {
        let own = |(k, v): &(&str, &str)| ((*k).to_owned(), (*v).to_owned());
        let mut settings = settings.iter().map(own).collect();
        translate(LIST, &mut settings)?;
        Ok(settings.into_iter().collect())
    }

    #[test]
    fn options_are_settings() {
        for (text, expected) in [
            ("-c a=b", Some(vec![("a", "b")])),
            (
                "-ca=b --work-mem=4MB",
                Some(vec![("a", "b"), ("work_mem", "4MB")]),
            ),
            ("-c a=b\\ c", Some(vec![("a", "b c")])),
            ("", Some(vec![])),
            ("endpoint=x", None),
            ("-c", None),
            ("-c a", None),
            ("-e", None),
        ] {
            let found = options(text);
            let own = |(n, v): (&str, &str)| (n.to_owned(), v.to_owned());
            let expected = expected.map(|list| list.into_iter().map(own).collect());
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn two_spellings_say_the_same_or_are_refused() {
        let found = translated(&[("SSLMODE", "x")]).unwrap();
        assert_eq!(found, [("sslmode".to_owned(), "x".to_owned())]);
        assert!(translated(&[("ssl-mode", "x"), ("sslmode", "x")]).is_ok());
        let error = translated(&[("ssl-mode", "x"), ("sslmode", "y")]).unwrap_err();
        assert!(error.to_string().contains("give one of them"), "{error}");
    }
}
