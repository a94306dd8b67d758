//! A statement as words and values, by the lexical rules of the server that it is from.
//!
//! Two settings of a session decide how its strings end (`standard_conforming_strings`, `NO_BACKSLASH_ESCAPES`), and one what double
//! quotes are (`ANSI_QUOTES`). Nobody else can read them. So what is a value under one of the readings is a value here, and a text is
//! not read beyond the first place where its readings part.

/// By whose lexical rules a statement is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Postgres,
    /// MariaDB as well.
    MySql,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'s> {
    /// A name, a keyword, a parameter, an operator or a bracket.
    Word(&'s str),
    /// A literal of any type.
    Value,
    Unclear,
}

/// True if a backslash in a string takes the next character with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backslash {
    Escapes,
    IsText,
    /// A setting of the session decides.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    At(usize),
    /// It takes everything: the server has cut the text.
    Never,
    /// It can be read in two ways.
    Unclear,
}

impl End {
    /// Counted from so many bytes before.
    fn behind(self, bytes: usize) -> Self {
        match self {
            Self::At(end) => Self::At(bytes + end),
            other => other,
        }
    }
}

/// Hands out the parts of a statement; comments are none.
pub(super) struct Lexer<'s> {
    rest: &'s str,
    dialect: Dialect,
}

impl<'s> Lexer<'s> {
    pub(super) fn of(sql: &'s str, dialect: Dialect) -> Self {
        Self { rest: sql, dialect }
    }

    /// Takes so many bytes as a word.
    fn word(&mut self, length: usize) -> Token<'s> {
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        Token::Word(word)
    }

    /// Takes a value that ends there.
    fn value(&mut self, end: End) -> Token<'s> {
        let (rest, token) = match end {
            End::At(end) => (&self.rest[end..], Token::Value),
            End::Never => ("", Token::Value),
            End::Unclear => ("", Token::Unclear),
        };
        self.rest = rest;
        token
    }

    fn is_mysql(&self) -> bool {
        self.dialect == Dialect::MySql
    }

    /// Length of the comment that the rest begins with; 0 where it begins with none, `None` where its end is unclear.
    fn comment(&self) -> Option<usize> {
        let text = self.rest;
        let is_dashes = text.strip_prefix("--").is_some_and(|more| {
            let next = more.chars().next();
            !self.is_mysql() || next.is_none_or(|c| c.is_ascii_whitespace() || c.is_control())
        });
        if is_dashes || (self.is_mysql() && text.starts_with('#')) {
            let ends: &[char] = match self.dialect {
                Dialect::Postgres => &['\n', '\r'],
                Dialect::MySql => &['\n', '\0'],
            };
            return Some(text.find(ends).unwrap_or(text.len()));
        }
        match text.strip_prefix("/*") {
            None => Some(0),
            Some(_) if self.dialect == Dialect::Postgres => Some(nested(text)),
            Some(body) => {
                let end = body.find("*/");
                let whole = end.map_or(text.len(), |end| end + 4);
                // It is executed, or holds hints: whatever could end later than here is unclear.
                let is_read = ["!", "M!", "+"].iter().any(|mark| body.starts_with(mark));
                let body = &body[..end.unwrap_or(body.len())];
                let is_clear =
                    !body.contains(['\'', '"', '`', '#', '$', '\\']) && !body.contains("--");
                let is_clear = is_clear && !body.contains("/*") && end.is_some();
                (!is_read || is_clear).then_some(whole)
            }
        }
    }

    /// A name, and the string that it is the prefix of.
    fn name(&mut self) -> Token<'s> {
        let is_in_name = |c: char| is_of_name(c) || c == '$' || (self.is_mysql() && c == '@');
        let length = self.rest.find(|c| !is_in_name(c));
        let (name, rest) = self.rest.split_at(length.unwrap_or(self.rest.len()));
        let backslash = match (self.dialect, name) {
            (Dialect::Postgres, "e" | "E") => Backslash::Escapes,
            _ => Backslash::Unknown,
        };
        let is_prefix = match self.dialect {
            Dialect::Postgres => ["e", "b", "x", "n"].as_slice(),
            Dialect::MySql => &["b", "x", "n"],
        };
        let is_prefix = is_prefix
            .iter()
            .any(|prefix| name.eq_ignore_ascii_case(prefix))
            || (self.is_mysql() && name.starts_with('_'));
        let quote = rest.chars().next();
        let is_quote = quote == Some('\'') || (self.is_mysql() && quote == Some('"'));
        if let (true, true, Some(quote)) = (is_prefix, is_quote, quote) {
            let end = string_end(rest, quote, backslash);
            return self.value(end.behind(name.len()));
        }
        // U&'…', a string with escapes of another kind.
        let is_unicode = self.dialect == Dialect::Postgres && name.eq_ignore_ascii_case("u");
        if let (true, Some(string)) = (is_unicode, rest.strip_prefix('&'))
            && string.starts_with('\'')
        {
            let end = string_end(string, '\'', Backslash::Unknown);
            return self.value(end.behind(name.len() + 1));
        }
        self.word(name.len())
    }

    /// A name in quotes; one without an end may be anything.
    fn quoted_name(&mut self, quote: char) -> Token<'s> {
        match string_end(self.rest, quote, Backslash::IsText) {
            End::At(end) => self.word(end),
            End::Never | End::Unclear => self.value(End::Unclear),
        }
    }

    /// `$1` is a parameter; `$tag$…$tag$` is a value, on MySQL of the newest versions only.
    fn dollar(&mut self) -> Token<'s> {
        let body = &self.rest[1..];
        let digits = body.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && !self.is_mysql() {
            return self.word(1 + digits);
        }
        let tag = body.find(|c| !is_of_name(c)).unwrap_or(body.len());
        let is_quote = body[tag..].starts_with('$');
        match (is_quote, self.dialect) {
            (true, Dialect::MySql) => self.value(End::Unclear),
            (true, Dialect::Postgres) => {
                let delimiter = &self.rest[..tag + 2];
                let end = self.rest[delimiter.len()..].find(delimiter);
                self.value(end.map_or(End::Never, |at| End::At(at + 2 * delimiter.len())))
            }
            (false, Dialect::MySql) => self.word(1 + tag),
            (false, Dialect::Postgres) => self.word(1),
        }
    }

    fn number(&mut self) -> Token<'s> {
        let bytes = self.rest.as_bytes();
        let is_of_number = |(at, c): &(usize, char)| {
            let is_signed = matches!(c, '+' | '-')
                && matches!(bytes[at - 1], b'e' | b'E')
                && bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
            is_of_name(*c) || *c == '.' || is_signed
        };
        let rest = self.rest.char_indices().skip(1);
        let end = rest.skip_while(is_of_number).map(|(at, _)| at).next();
        let end = end.unwrap_or(self.rest.len());
        // Some versions read letters behind digits as a name, which would have the dollar in it.
        if self.rest[end..].starts_with('$') {
            self.value(End::Unclear)
        } else {
            self.value(End::At(end))
        }
    }

    /// An operator; a comment ends it.
    fn operator(&mut self, first: char) -> Token<'s> {
        const OF_OPERATORS: &str = "<>=~!@#%^&|+-*/:";
        let mut end = first.len_utf8();
        while OF_OPERATORS.contains(first) {
            let rest = &self.rest[end..];
            let is_comment = rest.starts_with("--")
                || rest.starts_with("/*")
                || (self.is_mysql() && rest.starts_with(['#', '@']));
            match rest.chars().next() {
                Some(next) if OF_OPERATORS.contains(next) && !is_comment => end += next.len_utf8(),
                _ => break,
            }
        }
        self.word(end)
    }
}

impl<'s> Iterator for Lexer<'s> {
    type Item = Token<'s>;

    fn next(&mut self) -> Option<Token<'s>> {
        loop {
            let is_blank = |c: char| c.is_ascii_whitespace() || matches!(c, '\u{b}' | '\0');
            self.rest = self.rest.trim_start_matches(is_blank);
            match self.comment() {
                Some(0) => break,
                Some(length) => self.rest = &self.rest[length..],
                None => return Some(self.value(End::Unclear)),
            }
        }
        let text = self.rest;
        let first = text.chars().next()?;
        let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        Some(match first {
            '\'' => self.value(string_end(text, '\'', Backslash::Unknown)),
            // A name under one setting, a string under another.
            '"' if self.is_mysql() => self.value(string_end(text, '"', Backslash::Unknown)),
            '"' => self.quoted_name(first),
            '`' if self.is_mysql() => self.quoted_name(first),
            '$' => self.dollar(),
            '.' if is_number(&text[1..]) => self.number(),
            '@' if self.is_mysql() => self.name(),
            c if c.is_ascii_digit() => self.number(),
            c if is_of_name(c) => self.name(),
            c => self.operator(c),
        })
    }
}

/// Both servers take every character beyond ASCII for a letter, blanks among them.
fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii()
}

/// Length of a comment in which others may be.
fn nested(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while let Some(mark) = text[at..].find(['/', '*']) {
        at += mark;
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Where a string or a name in quotes ends, of which two are one of it.
fn string_end(text: &str, quote: char, backslash: Backslash) -> End {
    let mut characters = text.char_indices().skip(1).peekable();
    let mut is_escaped = false;
    while let Some((at, c)) = characters.next() {
        if c == quote {
            match (is_escaped, backslash) {
                (true, Backslash::Escapes) => {}
                (true, Backslash::Unknown) => return End::Unclear,
                _ if characters.next_if(|(_, next)| *next == quote).is_some() => {}
                _ => return End::At(at + quote.len_utf8()),
            }
        }
        is_escaped = c == '\\' && !is_escaped && backslash != Backslash::IsText;
    }
    End::Never
}
