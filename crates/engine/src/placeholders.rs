//! `?` of the library's SQL becomes `$n` or `:n`.

use crate::verbatim;

/// Replaces every `?` outside quotes and comments by the mark with 1, 2 … in their order; `??` is the server's own operator.
pub fn numbered(sql: &str, mark: char) -> String {
    let mut numbered = String::with_capacity(sql.len() + 8);
    let mut parameters = 0;
    let mut at = 0;
    while let Some(letter) = sql[at..].chars().next() {
        let quoted = verbatim(&sql[..at], &sql[at..]);
        let taken = match quoted {
            0 if sql[at..].starts_with("??") => {
                numbered.push('?');
                2
            }
            0 if letter == '?' => {
                parameters += 1;
                numbered.push(mark);
                numbered.push_str(&parameters.to_string());
                1
            }
            0 => {
                numbered.push(letter);
                letter.len_utf8()
            }
            quoted => {
                numbered.push_str(&sql[at..at + quoted]);
                quoted
            }
        };
        at += taken;
    }
    numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered() {
        assert_eq!(numbered("a = ? AND b = ?", '$'), "a = $1 AND b = $2");
        assert_eq!(numbered("a = ? AND b = ?", ':'), "a = :1 AND b = :2");
        assert_eq!(numbered("SELECT 1", '$'), "SELECT 1");
        assert_eq!(numbered("ä ?", '$'), "ä $1");
        assert_eq!(numbered("d ?? ? AND d ??| ?", '$'), "d ? $1 AND d ?| $2");
    }

    #[test]
    fn quotes_and_comments_stay() {
        for same in [
            "'a?''?b'",
            "\"a?\"",
            "-- why?\n",
            "/* why? */",
            "$$ ? $$",
            "$f$ ? $$ ? $f$",
            "'open ?",
            "E'it\\'s ?'",
            "/* /* ? */ ? */",
            "$ä$ ? $ä$",
        ] {
            assert_eq!(numbered(same, '$'), same);
        }
        assert_eq!(
            numbered("'?' ? -- ?\n ? $1 ?", '$'),
            "'?' $1 -- ?\n $2 $1 $3"
        );
    }
}
