//! Keywords that may be cut short, and definitions that inherit from a default.

use super::error::{Position, Result};
use super::lexer::Parameter;

const DEFINITIONS_MAX: usize = 4096;

/// What a keyword stands for: the first of the table that begins with `given`. Tables keep an order that is part of
/// the language, because it decides what an abbreviation means.
fn resolve<K: Copy>(table: &[(&str, K)], given: &str) -> Option<K> {
    let found = table.iter().find(|(full, _)| full.starts_with(given));
    found.map(|(_, meaning)| *meaning)
}

/// The word of `known` that is most like a given one, if one is near.
pub(super) fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let near = known
        .iter()
        .map(|word| (strsim::damerau_levenshtein(word, given), *word));
    let (distance, word) = near.min()?;
    (distance <= (word.len() / 2).clamp(1, 3)).then_some(word)
}

pub(super) trait Section {
    /// `sd`, `wd` …; nothing for the general parameters.
    const HEAD: &'static str;
    /// What its keywords stand for.
    type Key: Copy + 'static;
    const KEYWORDS: &'static [(&'static str, Self::Key)];

    /// Takes a parameter whose keyword stands for this.
    fn take(&mut self, key: Self::Key, parameter: &Parameter) -> Result<()>;

    /// Takes a parameter; false where it has no such keyword.
    fn set(&mut self, parameter: &Parameter) -> Result<bool> {
        let Some(key) = resolve(Self::KEYWORDS, &parameter.key) else {
            return Ok(false);
        };
        self.take(key, parameter)?;
        Ok(true)
    }

    fn names() -> Vec<&'static str> {
        Self::KEYWORDS.iter().map(|(name, _)| *name).collect()
    }

    /// Whether it has such a keyword.
    fn knows(given: &str) -> bool {
        resolve(Self::KEYWORDS, given).is_some()
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
