//! Percent signs of URLs.

/// Replaces `%40` and the like by the bytes they stand for.
///
/// # Errors
/// When a percent sign begins no such escape, or the bytes are no text.
pub(super) fn decode(text: &str) -> Result<String, String> {
    let wrong = || {
        format!(
            "\"{text}\" contains a % that is not followed by two hexadecimal digits; write a percent sign as %25"
        )
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let byte = escaped(after).ok_or_else(wrong)?;
        bytes.push(byte);
        rest = &after[2..];
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.contains('\0') => Err(format!("\"{text}\" contains %00")),
        Ok(text) => Ok(text),
        Err(_) => Err(format!("\"{text}\" is not UTF-8")),
    }
}

/// The same where a percent sign may stand for itself, as in `log_line_prefix=%m`: what is no escape stays as it is.
pub(super) fn decode_where_escaped(text: &str) -> String {
    let is_escape = |at: usize| escaped(&text.as_bytes()[at + 1..]).is_some();
    let all_escaped: String = text
        .char_indices()
        .map(|(at, c)| match c {
            '%' if !is_escape(at) => "%25".to_owned(),
            other => other.to_string(),
        })
        .collect();
    decode(&all_escaped).unwrap_or_else(|_| text.to_owned())
}

/// Writes what [`decode_where_escaped`] reads; `special` are the characters that mean something where the text stands.
pub(super) fn encode_where_needed(text: &str, special: &str) -> String {
    let needs = |at: usize, c: char| {
        special.contains(c) || c == '%' && escaped(&text.as_bytes()[at + 1..]).is_some()
    };
    let letters = text.char_indices();
    letters
        .map(|(at, c)| {
            if needs(at, c) {
                format!("%{:02X}", u32::from(c))
            } else {
                c.to_string()
            }
        })
        .collect()
}

/// Writes a part of a server's place.
pub(super) fn encode(text: &str) -> String {
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || b"-._~".contains(b);
    let bytes = text.bytes();
    bytes
        .map(|byte| {
            if is_plain(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

/// The byte for which two hexadecimal digits at the front stand.
fn escaped(digits: &[u8]) -> Option<u8> {
    let digits = digits
        .get(..2)
        .filter(|d| d.iter().all(u8::is_ascii_hexdigit))?;
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        for text in ["/run/pg", "a%41b", "ä b", "100%", "%zz%", "q?x&y#z"] {
            assert_eq!(decode(&encode(text)).unwrap(), text);
            assert_eq!(
                decode_where_escaped(&encode_where_needed(text, "?&#")),
                text
            );
        }
    }

    #[test]
    fn a_percent_sign_may_stand_for_itself_in_a_setting() {
        assert_eq!(decode_where_escaped("%m [%p] %2Fa"), "%m [%p] /a");
        assert_eq!(encode_where_needed("%m", "&"), "%m");
        assert!(decode("%+1").unwrap_err().contains("%25"));
        assert!(decode("a%00").is_err());
    }
}
