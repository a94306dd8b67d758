//! The fields of a line, as RFC 4180 has them.

use std::borrow::Cow;

/// The separator of a file by its first line: spreadsheets of countries with a decimal comma write semicolons.
pub fn separator(head: &str) -> char {
    let others = [';', '\t'].into_iter().find(|other| head.contains(*other));
    others.filter(|_| !head.contains(',')).unwrap_or(',')
}

/// A number, also with a decimal comma. Where fields are separated by commas, one before three digits may separate thousands
/// and makes no number.
pub fn decimal(text: &str, separator: char) -> Option<f64> {
    let number = match text.split_once(',') {
        Some((_, part)) if separator == ',' && part.len() == 3 => return None,
        Some((whole, part))
            if !whole.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            format!("{whole}.{part}").parse()
        }
        _ => text.parse(),
    };
    number
        .ok()
        .filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// Splits a line at its separators; a field in double quotes may hold them, and a quote as two of them. Blanks around a field
/// do not count. A field does not reach into the next line.
///
/// # Errors
/// When a quote does not end, or something follows it.
pub fn split(line: &str, separator: char) -> Result<Vec<Cow<'_, str>>, String> {
    if !line.contains('"') {
        return Ok(line
            .split(separator)
            .map(|field| field.trim().into())
            .collect());
    }
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let begin = rest.trim_start();
        let Some(quoted) = begin.strip_prefix('"') else {
            let end = begin.find(separator);
            fields.push(begin[..end.unwrap_or(begin.len())].trim().into());
            match end {
                Some(at) => rest = &begin[at + 1..],
                None => return Ok(fields),
            }
            continue;
        };
        let (text, after) = unquoted(quoted)?;
        fields.push(text.into());
        let after = after.trim_start();
        match after.strip_prefix(separator) {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(fields),
            None => {
                return Err(format!(
                    "field {} goes on after its quotes; put quotes around all of it",
                    fields.len()
                ));
            }
        }
    }
}

/// The text up to the quote that ends it, and what follows.
fn unquoted(quoted: &str) -> Result<(String, &str), String> {
    let mut text = String::new();
    let mut rest = quoted;
    loop {
        let Some(at) = rest.find('"') else {
            return Err("a quote begins a field and none ends it".to_owned());
        };
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                text.push('"');
                rest = more;
            }
            None => return Ok((text, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_commas_and_end() {
        for (line, expected) in [
            ("a, b ,,c", vec!["a", "b", "", "c"]),
            ("\"a,b\", \"c \"\"d\"\"\" ,", vec!["a,b", "c \"d\"", ""]),
            ("a,\"\"", vec!["a", ""]),
            ("", vec![""]),
        ] {
            assert_eq!(split(line, ',').unwrap(), expected, "{line}");
        }
        assert!(split("a,\"b", ',').is_err() && split("\"a\"b,c", ',').is_err());
    }
    #[test]
    fn the_head_names_the_separator_and_decimal_commas_are_read() {
        for (head, expected) in [
            ("a,b", ','),
            ("a;b", ';'),
            ("a\tb", '\t'),
            ("a,b;c", ','),
            ("a", ','),
        ] {
            assert_eq!(separator(head), expected, "{head}");
        }
        for (text, separator, expected) in [
            ("1.5", ',', Some(1.5)),
            ("62,5", ',', Some(62.5)),
            ("1,234", ',', None),
            ("1,234", ';', Some(1.234)),
            ("1,5,5", ';', None),
            (",5", ';', None),
            ("-1", ';', None),
            ("inf", ';', None),
        ] {
            assert_eq!(decimal(text, separator), expected, "{text}");
        }
        assert_eq!(split("a;\"b;c\";1,5", ';').unwrap(), ["a", "b;c", "1,5"]);
    }
}
