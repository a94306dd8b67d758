//! A statement without the values in it, so that the same statement with other values is the same text.

/// Longer texts are cut.
const CHARACTERS_MAX: usize = 300;

/// The text with `?` for each literal, comments left out, and one blank between words. Lists of literals become one.
///
/// Where `quotes_are_texts`, what stands in double quotes is a value and not a name, and `#` begins a comment.
pub(crate) fn without_values(sql: &str, quotes_are_texts: bool) -> String {
    let mut words = Vec::new();
    let mut rest = sql;
    while let Some(word) = next(&mut rest, quotes_are_texts) {
        words.push(word);
    }
    let mut text = String::new();
    let mut last = "";
    let mut lists = words.iter().peekable();
    while let Some(word) = lists.next() {
        if *word == "," && last == "?" && lists.peek() == Some(&&"?") {
            lists.next();
            continue;
        }
        let is_tight = matches!(*word, "," | ")" | ";" | "." | "::")
            || text.is_empty()
            || matches!(last, "(" | "." | "::")
            || (*word == "(" && is_name(last));
        if !is_tight {
            text.push(' ');
        }
        text.push_str(word);
        last = word;
        if text.chars().count() > CHARACTERS_MAX {
            return text.chars().take(CHARACTERS_MAX).chain(['…']).collect();
        }
    }
    text
}

fn is_name(word: &str) -> bool {
    let begins = |c: char| c.is_alphabetic() || c == '_';
    let keywords = [
        "in", "values", "and", "or", "where", "from", "as", "on", "not", "exists",
    ];
    word.starts_with(begins) && !keywords.contains(&word.to_ascii_lowercase().as_str())
}

/// The next word, of which literals are `?`.
fn next<'s>(rest: &mut &'s str, quotes_are_texts: bool) -> Option<&'s str> {
    loop {
        *rest = rest.trim_start();
        let text = *rest;
        let first = text.chars().next()?;
        let of_line = text.strip_prefix("--");
        let of_line = of_line.or_else(|| text.strip_prefix('#').filter(|_| quotes_are_texts));
        if let Some(comment) = of_line {
            *rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
            continue;
        }
        if let Some(comment) = text.strip_prefix("/*") {
            *rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
            continue;
        }
        let (length, is_literal) = match first {
            '\'' => (quoted(text, '\''), true),
            '"' => (quoted(text, first), quotes_are_texts),
            '`' => (quoted(text, first), false),
            '$' => dollar(text),
            '0'..='9' => (number(text), true),
            c if c.is_alphabetic() || c == '_' || c == '@' => (name(text), false),
            _ if text.starts_with("::") => (2, false),
            _ => (first.len_utf8(), false),
        };
        let (word, behind) = text.split_at(length);
        *rest = behind;
        // E'…', N'…', B'…', X'…', U&'…' and _utf8'…' are literals as a whole.
        let is_prefix = word.len() <= 2 || word.starts_with('_');
        if is_prefix && is_name(word) && behind.starts_with('\'') {
            *rest = &behind[quoted(behind, '\'')..];
            return Some("?");
        }
        return Some(if is_literal { "?" } else { word });
    }
}

/// Length of a text in quotes, of which two are one of it, and a backslash hides the next.
fn quoted(text: &str, quote: char) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && quote != '`' {
            letters.next();
        } else if letter == quote {
            match letters.peek() {
                Some((_, next)) if *next == quote => {
                    letters.next();
                }
                _ => return at + quote.len_utf8(),
            }
        }
    }
    text.len()
}

/// `$1` is a parameter and stays; `$tag$…$tag$` is a literal.
fn dollar(text: &str) -> (usize, bool) {
    let digits = text[1..].bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        return (1 + digits, false);
    }
    let is_of_tag = |c: char| !(c.is_alphanumeric() || c == '_');
    let tag = text[1..].find(is_of_tag).unwrap_or(text.len() - 1);
    let Some(body) = text[1 + tag..].strip_prefix('$') else {
        return (1, false);
    };
    let opening = &text[..tag + 2];
    let end = body
        .find(opening)
        .map_or(text.len(), |at| at + 2 * opening.len());
    (end, true)
}

fn number(text: &str) -> usize {
    let is_of_number = |(at, c): &(usize, char)| {
        let before = text[..*at].chars().next_back();
        c.is_alphanumeric()
            || *c == '.'
            || (matches!(c, '+' | '-') && matches!(before, Some('e' | 'E')))
    };
    let letters = text.char_indices().take_while(is_of_number);
    letters.map(|(at, c)| at + c.len_utf8()).last().unwrap_or(1)
}

fn name(text: &str) -> usize {
    let is_of_name = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '@' | '$'));
    text.find(is_of_name).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_stays() {
        for (sql, text) in [
            (
                "SELECT  name FROM people\n WHERE id = 42 AND mail='a''b@c' -- secret",
                "SELECT name FROM people WHERE id = ? AND mail = ?",
            ),
            (
                "select * from t where x in (1, 2,3) and y in ('a')",
                "select * from t where x in (?) and y in (?)",
            ),
            (
                "INSERT INTO t VALUES (1, 'x', NULL), ($1, $2, 1.5e-3)",
                "INSERT INTO t VALUES (?, NULL), ($1, $2, ?)",
            ),
            (
                "SELECT E'it\\'s', $tag$ 'secret' $tag$, \"Column 1\" /* hidden */ FROM a.b1",
                "SELECT ?, \"Column 1\" FROM a.b1",
            ),
            (
                "SELECT count(*), x::int FROM t",
                "SELECT count(*), x::int FROM t",
            ),
            (
                "UPDATE `t 1` SET a = a + -1",
                "UPDATE `t 1` SET a = a + - ?",
            ),
            ("SELECT 'never ends", "SELECT ?"),
            ("", ""),
        ] {
            assert_eq!(without_values(sql, false), text);
        }
    }

    #[test]
    fn a_long_text_is_cut_between_letters() {
        let sql = format!("SELECT {}", "ä, ".repeat(500));
        let text = without_values(&sql, false);
        assert_eq!(text.chars().count(), CHARACTERS_MAX + 1);
        assert!(text.ends_with('…'));
    }

    #[test]
    fn texts_in_double_quotes_are_values_where_they_are() {
        let sql = "SELECT `a b`, \"it\\\"s secret\" FROM t # secret\nWHERE n = 'x'";
        assert_eq!(
            without_values(sql, true),
            "SELECT `a b`, ? FROM t WHERE n = ?"
        );
    }

    #[test]
    fn odd_texts_come_to_an_end() {
        for odd in [
            "'", "$", "$a$", "/*", "--", "E'", "\"x", "1e+", "::", "ä'", "\u{0}$1$", "('\\'",
        ] {
            for quotes_are_texts in [true, false] {
                without_values(odd, quotes_are_texts);
                let text = without_values(&format!("SELECT 'secret' {odd}"), quotes_are_texts);
                assert!(!text.contains("secret"), "{odd}: {text}");
            }
        }
    }
}
