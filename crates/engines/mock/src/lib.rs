//! No database at all: statements that take a stated time.
//!
//! It is what the tool itself is measured with. Two targets of equal settings differ by nothing but
//! chance, two of which one is slowed down differ by exactly what was stated; how often a comparison
//! finds the second, and how seldom it falls for the first, are its error rates. The figures of this
//! target say nothing about any platform.
//!
//! A statement is a list of `work` (takes the stated time once) and `answer N` (the one integer that
//! the statement returns), separated by semicolons: `work; answer 1764`.

mod pace;
mod session;
mod statement;
mod target;
#[cfg(test)]
mod tests;

pub use target::Mock;

/// The engines of this crate.
pub const ENGINES: engine::Engines = engine::Engines(&[&Mock]);
