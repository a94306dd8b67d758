//! The fields of a line, as RFC 4180 has them.

use std::borrow::Cow;

/// Splits a line at its commas; a field in double quotes may hold commas, and a quote as two of them. Blanks around a field
/// do not count. A field does not reach into the next line.
///
/// # Errors
/// When a quote does not end, or something follows it.
pub fn split(line: &str) -> Result<Vec<Cow<'_, str>>, String> {
    if !line.contains('"') {
        return Ok(line.split(',').map(|field| field.trim().into()).collect());
    }
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let begin = rest.trim_start();
        let Some(quoted) = begin.strip_prefix('"') else {
            let end = begin.find(',');
            fields.push(begin[..end.unwrap_or(begin.len())].trim().into());
            match end {
                Some(comma) => rest = &begin[comma + 1..],
                None => return Ok(fields),
            }
            continue;
        };
        let (text, behind) = unquoted(quoted)?;
        fields.push(text.into());
        let behind = behind.trim_start();
        match behind.strip_prefix(',') {
            Some(next) => rest = next,
            None if behind.is_empty() => return Ok(fields),
            None => {
                return Err(format!(
                    "field {} goes on behind its quotes; put quotes around all of it",
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
            assert_eq!(split(line).unwrap(), expected, "{line}");
        }
        assert!(split("a,\"b").is_err() && split("\"a\"b,c").is_err());
    }
}
