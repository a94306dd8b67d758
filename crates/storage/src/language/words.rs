//! Keywords that may be cut short, and definitions that inherit from a default.

use super::error::{Position, Result};
use super::lexer::Parameter;

const DEFINITIONS_MAX: usize = 4096;

/// The word of `known` that is most like a given one, if one is near.
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

pub(super) trait Section: Sized + 'static {
    /// `sd`, `wd` …; nothing for the general parameters.
    const HEAD: &'static str;
    /// Its keywords, synonyms in one row. Their order is part of the language: an abbreviation means the first that begins with it.
    const KEYWORDS: &'static [(&'static [&'static str], Setter<Self>)];

    /// Takes a parameter; false where it has no such keyword.
    fn set(&mut self, parameter: &Parameter) -> Result<bool> {
        let Some(setter) = Self::setter(&parameter.key) else {
            return Ok(false);
        };
        setter(self, parameter)?;
        Ok(true)
    }

    fn names() -> Vec<&'static str> {
        Self::KEYWORDS
            .iter()
            .flat_map(|(names, _)| *names)
            .copied()
            .collect()
    }

    fn setter(given: &str) -> Option<Setter<Self>> {
        let rows = Self::KEYWORDS.iter();
        let mut found = rows.filter(|(names, _)| names.iter().any(|name| name.starts_with(given)));
        found.next().map(|(_, setter)| *setter)
    }
}

/// An SD, WD or RD.
pub(super) trait Definition: Section + Clone + Default {
    fn name(&self) -> &str;

    /// Its name and where it was begun, to be filled in.
    fn label(&mut self) -> (&mut String, &mut Position);

    /// This one, under a name of its own.
    fn named(mut self, name: &str, place: &Position) -> Self {
        let (own_name, own_place) = self.label();
        name.clone_into(own_name);
        own_place.clone_from(place);
        self
    }
}

/// All definitions of one kind, in their order.
#[derive(Debug)]
pub(super) struct Definitions<T> {
    /// What the next one begins with.
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

    /// `sd=name` or `sd=default`. A new one is the default as it stands.
    pub fn begin(&mut self, parameter: &Parameter) -> Result<()> {
        let name = parameter.word()?;
        self.in_default = name == "default";
        if self.in_default {
            return Ok(());
        }
        if self.named.iter().any(|other| other.name() == name) {
            return Err(
                parameter.wrong("this name is already used; give every definition its own name")
            );
        }
        Self::check_number(self.named.len() + 1, &parameter.place)?;
        self.named
            .push(self.default.clone().named(name, &parameter.place));
        Ok(())
    }

    /// A parameter of the definition that was begun last; false where it has no such keyword.
    pub fn set(&mut self, parameter: &Parameter) -> Result<bool> {
        match self.named.last_mut() {
            Some(last) if !self.in_default => last.set(parameter),
            _ => self.default.set(parameter),
        }
    }

    /// Refuses more definitions than there may be.
    pub fn check_number(number: usize, place: &Position) -> Result<()> {
        if number > DEFINITIONS_MAX {
            return Err(place.wrong(format!(
                "there are more than {DEFINITIONS_MAX} of {}=",
                T::HEAD
            )));
        }
        Ok(())
    }
}
