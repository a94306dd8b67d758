//! Keywords that may be abbreviated, and definitions that inherit from a default.

use std::fmt::Display;

use super::error::{LanguageError, Position, Result};
use super::lexer::Parameter;

const DEFINITIONS_MAX: usize = 4096;

/// The word of `known` that is most similar to `given`, if it is similar enough.
pub(super) fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let near = known
        .iter()
        .map(|word| (strsim::damerau_levenshtein(word, given), *word));
    let (distance, word) = near.min()?;
    (distance <= (word.len() / 2).clamp(1, 3)).then_some(word)
}

/// Takes a parameter into a section.
pub(super) type Setter<S> = fn(&mut S, &Parameter) -> Result<()>;

/// Puts a value where it belongs.
pub(super) fn put<T>(to: &mut T, value: Result<T>) -> Result<()> {
    *to = value?;
    Ok(())
}

/// Keywords, synonyms in one row, with their setters. Their order is part of the language: an abbreviation means the
/// first that begins with it.
pub(super) type Keywords<S> = &'static [(&'static [&'static str], Setter<S>)];

/// `"keyword" "synonym" => setter;` for each row of [`Keywords`].
macro_rules! keywords {
    ($($($name:literal)+ => $setter:expr;)*) => {
        &[$((&[$($name),+], $setter)),*]
    };
}
pub(super) use keywords;

pub(super) trait Section: Sized + 'static {
    const HEAD: &'static str;
    const KEYWORDS: Keywords<Self>;

    fn set(&mut self, parameter: &Parameter) -> Result<bool> {
        let setter = Self::setter(&parameter.key);
        setter.map_or(Ok(false), |setter| setter(self, parameter).map(|()| true))
    }

    fn names() -> Vec<&'static str> {
        let rows = Self::KEYWORDS.iter();
        rows.flat_map(|(names, _)| *names).copied().collect()
    }

    fn setter(given: &str) -> Option<Setter<Self>> {
        let rows = Self::KEYWORDS.iter();
        let mut found = rows.filter(|(names, _)| names.iter().any(|name| name.starts_with(given)));
        found.next().map(|(_, setter)| *setter)
    }
}

pub(super) trait Definition: Section + Clone + Default {
    fn label(&self) -> (&str, &Position);

    fn named(self, name: String, place: Position) -> Self;

    /// An error about this definition.
    fn wrong(&self, what: impl Display) -> LanguageError {
        let (name, place) = self.label();
        place.wrong(format!("{}={name}: {what}", Self::HEAD))
    }
}

#[derive(Debug)]
pub(super) struct Definitions<T> {
    pub default: T,
    pub named: Vec<T>,
    in_default: bool,
}

impl<T: Definition> Definitions<T> {
    pub fn new() -> Self {
        Self {
            default: T::default(),
            named: Vec::new(),
            in_default: false,
        }
    }

    /// Begins `sd=name` or `sd=default`. A new definition inherits the current default.
    pub fn begin(&mut self, parameter: &Parameter) -> Result<()> {
        let name = parameter.word()?;
        self.in_default = name == "default";
        if self.in_default {
            return Ok(());
        }
        if self.named.iter().any(|other| other.label().0 == name) {
            let what = "this name is already used; give every definition its own name";
            return Err(parameter.wrong(what));
        }
        Self::check_number(self.named.len() + 1, &parameter.place)?;
        let new = self.default.clone();
        self.named
            .push(new.named(name.to_owned(), parameter.place.clone()));
        Ok(())
    }

    /// Sets a parameter of the last definition; false if it has no such keyword.
    pub fn set(&mut self, parameter: &Parameter) -> Result<bool> {
        match self.named.last_mut() {
            Some(last) if !self.in_default => last.set(parameter),
            _ => self.default.set(parameter),
        }
    }

    pub fn check_number(number: usize, place: &Position) -> Result<()> {
        if number > DEFINITIONS_MAX {
            let head = T::HEAD;
            return Err(place.wrong(format!("there are more than {DEFINITIONS_MAX} of {head}=")));
        }
        Ok(())
    }
}
