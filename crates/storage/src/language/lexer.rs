//! Cuts lines into parameters: `keyword=value` and `keyword=(value,value)`.

use super::error::{Position, Result};
use super::source::Line;

/// Largest number of values of one parameter, before and after ranges are expanded.
pub(super) const VALUES_MAX: usize = 10_000;
const PARAMETERS_MAX: usize = 200_000;

#[derive(Debug, Clone)]
pub(super) struct Parameter {
    /// Keyword as given, in lower case; it may be abbreviated.
    pub key: String,
    /// At least one, none empty. Ranges are not expanded.
    pub values: Vec<String>,
    pub place: Position,
}

#[derive(Debug, Clone, Copy)]
struct Glyph {
    character: char,
    literal: bool,
}

impl Glyph {
    fn is(self, character: char) -> bool {
        self.character == character && !self.literal
    }
}

/// All parameters in order. The end of a line separates parameters like a comma, so a line that ends with a comma
/// continues.
pub(super) fn parameters(lines: &[Line]) -> Result<Vec<Parameter>> {
    let mut found = Vec::new();
    let mut piece: Vec<Glyph> = Vec::new();
    let mut begun_at: Option<&Position> = None;
    let mut depth = 0_usize;
    for line in lines {
        let glyphs = glyphs(line)?;
        let goes_on = glyphs.last().is_some_and(|last| last.is(','));
        for glyph in glyphs {
            if glyph.is(',') && depth == 0 {
                take(&mut piece, &mut begun_at, &mut found)?;
                continue;
            }
            if glyph.is('(') {
                depth += 1;
            } else if glyph.is(')') {
                depth = depth
                    .checked_sub(1)
                    .ok_or_else(|| line.place.wrong("a closing parenthesis has no opening one"))?;
            }
            begun_at.get_or_insert(&line.place);
            piece.push(glyph);
        }
        if depth == 0 {
            take(&mut piece, &mut begun_at, &mut found)?;
        } else if !goes_on {
            return Err(line.place.wrong(NOT_CLOSED));
        }
    }
    match begun_at {
        Some(place) => Err(place.wrong(NOT_CLOSED)),
        None => Ok(found),
    }
}

const NOT_CLOSED: &str = "a parenthesis is not closed; a list continues on the next line only after a comma, and a \
                          blank starts a comment";

/// Significant part of a line: up to the first blank, without quotes and question marks.
fn glyphs(line: &Line) -> Result<Vec<Glyph>> {
    let mut glyphs = Vec::with_capacity(line.text.len());
    let mut quoted = false;
    for character in line.text.chars() {
        match character {
            '"' => quoted = !quoted,
            ' ' | '\t' if !quoted => break,
            '?' if !quoted => {}
            _ => glyphs.push(Glyph {
                character,
                literal: quoted,
            }),
        }
    }
    if quoted {
        return Err(line
            .place
            .wrong("a double quote is not closed; close it on the same line"));
    }
    Ok(glyphs)
}

/// Limit of hints for one list; a file with more of them is written in that style.
const HINTS_MAX: usize = 10;

/// Comments after parameters that look like parameters: users of other languages write a blank after a comma.
pub(super) fn hints(lines: &[Line]) -> Vec<String> {
    let hint = |line: &Line| {
        let mut is_quoted = false;
        let blank = line.text.find(|c: char| {
            is_quoted ^= c == '"';
            !is_quoted && (c == ' ' || c == '\t')
        })?;
        let (counted, comment) = line.text.split_at(blank);
        let comment = comment.trim();
        looks_like_parameter(comment).then(|| {
            format!(
                "{}: a blank begins a comment, so \"{comment}\" is ignored; remove the blank after \"{counted}\" if it was meant",
                line.place
            )
        })
    };
    lines.iter().filter_map(hint).take(HINTS_MAX).collect()
}

/// True for a comment that begins like a parameter (`size=1g`) or continues one (`= 1g`).
fn looks_like_parameter(comment: &str) -> bool {
    let comment = comment.trim_start_matches([',', ' ', '\t']);
    comment.split_once('=').is_some_and(|(key, value)| {
        let key = key.trim_end();
        let is_word = key.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
        is_word && key.len() != 1 && !value.trim().is_empty()
    })
}

fn take(
    piece: &mut Vec<Glyph>,
    begun_at: &mut Option<&Position>,
    found: &mut Vec<Parameter>,
) -> Result<()> {
    let Some(place) = begun_at.take() else {
        return Ok(());
    };
    if found.len() == PARAMETERS_MAX {
        return Err(place.wrong(format!(
            "there are more than {PARAMETERS_MAX} parameters; use count=, ranges and loops"
        )));
    }
    found.push(parameter(piece, place)?);
    piece.clear();
    Ok(())
}

fn parameter(piece: &[Glyph], place: &Position) -> Result<Parameter> {
    let Some(equals) = piece.iter().position(|glyph| glyph.is('=')) else {
        return Err(place.wrong(format!(
            "\"{}\" is no parameter; write keyword=value or keyword=(value,value)",
            text(piece)
        )));
    };
    let key = text(&piece[..equals]).to_lowercase();
    if key.chars().count() < 2 {
        return Err(place.wrong(format!(
            "{key}= is too short; a keyword has at least two characters"
        )));
    }
    let values =
        values(&piece[equals + 1..]).map_err(|what| place.wrong(format!("{key}=: {what}")))?;
    Ok(Parameter {
        key,
        values,
        place: place.clone(),
    })
}

fn values(glyphs: &[Glyph]) -> std::result::Result<Vec<String>, String> {
    let is_list = glyphs.first().is_some_and(|first| first.is('('));
    let mut found = vec![String::new()];
    let mut depth = 0_usize;
    for (at, glyph) in glyphs.iter().enumerate() {
        if glyph.is('(') {
            depth += 1;
            if depth == 1 && is_list {
                continue;
            }
        } else if glyph.is(')') {
            // Parentheses are balanced within a parameter, or it would not have ended.
            depth = depth.saturating_sub(1);
            if depth == 0 && is_list {
                if at + 1 < glyphs.len() {
                    return Err("nothing may follow the closing parenthesis but a comma".to_owned());
                }
                continue;
            }
        } else if glyph.is(',') && depth == 1 && is_list {
            found.push(String::new());
            continue;
        }
        if let Some(last) = found.last_mut() {
            last.push(glyph.character);
        }
    }
    if found.len() > VALUES_MAX {
        return Err(format!("more than {VALUES_MAX} values are listed"));
    }
    if found.iter().any(String::is_empty) {
        return Err("a value is missing".to_owned());
    }
    Ok(found)
}

fn text(glyphs: &[Glyph]) -> String {
    glyphs.iter().map(|glyph| glyph.character).collect()
}
