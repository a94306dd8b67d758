//! Terminal text: coloured, cleaned, and numbered below a table.

pub(crate) struct Paint {
    pub colour: bool,
}

impl Paint {
    fn wrap(&self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    pub fn bold(&self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub fn dim(&self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub fn red(&self, text: &str) -> String {
        self.wrap("31", text)
    }
}

/// Replaces control characters, so that text from an archive cannot control the terminal.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            // A multi-line statement becomes one line.
            '\n' | '\r' | '\t' => ' ',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_of_several_lines_is_one_line() {
        assert_eq!(
            clean("CREATE TABLE t (\n\tx\u{1b}[1m)"),
            "CREATE TABLE t (  x\u{fffd}[1m)"
        );
    }
}
