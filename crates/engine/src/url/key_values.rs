//! libpq's other form of a connection string: `host=db1 dbname=bench user=me`.

use std::collections::BTreeMap;

/// One of them is in every such string: without a place, a text with an equals sign is something else.
const OF_PLACES: &str =
    "host hostaddr port dbname user password service passfile sslmode servicefile";

/// The keys and values of such a string; `None` where the text is none.
pub(super) fn key_values(text: &str) -> Option<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (key, behind) = rest.split_once('=')?;
        let key = key.trim_end();
        let is_of_key = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if key.is_empty() || !key.chars().all(is_of_key) {
            return None;
        }
        let (value, behind) = value(behind.trim_start())?;
        found.insert(key.to_owned(), value);
        rest = behind.trim_start();
    }
    let has_place = OF_PLACES.split(' ').any(|key| found.contains_key(key));
    has_place.then_some(found)
}

/// The value at the front, in quotation marks or up to a blank, and what follows it.
fn value(text: &str) -> Option<(String, &str)> {
    let quoted = text.strip_prefix('\'');
    let text = quoted.unwrap_or(text);
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.extend(letters.next().map(|(_, c)| c)),
            '\'' if quoted.is_some() => return Some((value, &text[at + 1..])),
            c if quoted.is_none() && c.is_whitespace() => return Some((value, &text[at..])),
            c => value.push(c),
        }
    }
    quoted.is_none().then_some((value, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_blanks_in_quotation_marks() {
        let found = key_values(" host = h  password='a\\'b =c' user=x\\ y dbname=''").unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        let expected = [
            ("dbname", ""),
            ("host", "h"),
            ("password", "a'b =c"),
            ("user", "x y"),
        ];
        assert_eq!(found, expected);
        for other in [
            "x=1",
            "host",
            "host='a",
            "sqlite:x?cache_mb=1",
            "a b=1 host=h",
            "",
        ] {
            assert_eq!(key_values(other), None, "{other}");
        }
    }
}
