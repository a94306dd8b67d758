//! Assertions on texts, each of which shows the text when it fails, and tables of cases.

/// The rows of a table of cases: a line each, with the input before ` => ` and the expected words after it.
///
/// # Panics
/// If a line has no ` => `.
pub fn rows(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = table.lines().map(str::trim).filter(|l| !l.is_empty());
    lines.map(|line| match line.split_once(" => ") {
        Some((input, expected)) => (input.trim_end(), expected.trim_start()),
        None => panic!("no \" => \" in {line:?}"),
    })
}

/// A text that a test searches for words.
pub trait Says {
    /// # Panics
    /// If these words are not in the text.
    fn says(&self, words: &str);

    /// # Panics
    /// If one of these is not in the text.
    fn says_all(&self, all: &[&str]);

    /// # Panics
    /// If these words are in the text.
    fn omits(&self, words: &str);
}

impl Says for str {
    #[track_caller]
    fn says(&self, words: &str) {
        assert!(self.contains(words), "{words:?} is not in: {self}");
    }

    #[track_caller]
    fn says_all(&self, all: &[&str]) {
        all.iter().for_each(|words| self.says(words));
    }

    #[track_caller]
    fn omits(&self, words: &str) {
        assert!(!self.contains(words), "{words:?} is in: {self}");
    }
}
