//! Notes shared by many tables: a letter at each table, the sentence once.

use archive::Remark;

use super::table;
use super::text::{Paint, clean};
use crate::level::TestGroup;
use crate::remarks;

const TABLES_MIN: usize = 3;
/// Number of letters; later notes stay with their tables.
const LETTERS: usize = 26;

pub struct General {
    texts: Vec<String>,
}

impl General {
    /// Finds the notes that whole tables share repeatedly.
    pub fn of(groups: &[TestGroup<'_>]) -> Self {
        let mut counted: Vec<(String, usize)> = Vec::new();
        let curves = groups.iter().flat_map(|group| &group.curves);
        for note in curves.flat_map(remarks::standing) {
            let note = note.to_string();
            match counted.iter_mut().find(|(text, _)| *text == note) {
                Some((_, count)) => *count += 1,
                None => counted.push((note, 1)),
            }
        }
        let many = counted
            .into_iter()
            .filter(|(_, count)| *count >= TABLES_MIN);
        Self {
            texts: many.map(|(text, _)| text).take(LETTERS).collect(),
        }
    }

    /// The letters of a table's standing notes, and the notes without a letter.
    pub fn divide(&self, standing: &[Remark]) -> (String, Vec<String>) {
        let (mut letters, mut own) = (Vec::new(), Vec::new());
        for note in standing.iter().map(Remark::to_string) {
            match self.texts.iter().position(|text| *text == note) {
                Some(at) => letters.push(letter(at)),
                None => own.push(note),
            }
        }
        letters.sort_unstable();
        let letters = if letters.is_empty() {
            String::new()
        } else {
            format!(" [{}]", letters.join(","))
        };
        (letters, own)
    }

    pub fn render(&self, width: usize, paint: &Paint) -> String {
        if self.texts.is_empty() {
            return String::new();
        }
        let mut out = format!("\n{}\n", paint.bold("Notes on whole tables"));
        for (at, text) in self.texts.iter().enumerate() {
            let line = format!("  {}  {}", letter(at), clean(text));
            out.push_str(&format!("{}\n", table::wrap(&line, width, 5)));
        }
        out
    }
}

fn letter(at: usize) -> String {
    char::from(b'a' + at.min(LETTERS - 1) as u8).to_string()
}
