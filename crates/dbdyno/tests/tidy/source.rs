//! Rust source without its comments and its tests, as the rules look at it.

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};

/// A source file of the product.
pub struct Source {
    /// In the order of the file; a sign of several characters is several.
    pub tokens: Vec<Token>,
}

/// A name, a character of a sign, a bracket or a literal.
pub struct Token {
    /// From 1.
    pub line: usize,
    /// As it is written.
    pub text: String,
    /// What it says, if it is a string.
    pub string: Option<String>,
}

impl Source {
    /// What is not compiled for tests alone.
    pub fn without_tests(path: &str, text: &str) -> Self {
        let mut tokens = Vec::new();
        flatten(product_tokens(path, text), &mut tokens);
        Self { tokens }
    }

    /// String literals with their lines.
    pub fn strings(&self) -> impl Iterator<Item = (usize, &str)> {
        let string = |token: &'_ Token| token.string.is_some();
        self.tokens
            .iter()
            .filter(move |token| string(token))
            .map(|token| (token.line, token.string.as_deref().unwrap_or_default()))
    }

    /// What follows each place where these tokens stand, with its line.
    pub fn behind(&self, texts: &[&str]) -> Vec<(usize, &[Token])> {
        let stand = |tokens: &&[Token]| {
            let tokens = tokens.iter().map(|token| token.text.as_str());
            tokens.take(texts.len()).eq(texts.iter().copied())
        };
        let places = (0..self.tokens.len()).map(|at| &self.tokens[at..]);
        let found = places.filter(stand);
        found
            .map(|tokens| (tokens[0].line, &tokens[texts.len()..]))
            .collect()
    }
}

/// The tokens of a file, without the items under `#[cfg(test)]`.
pub fn product_tokens(path: &str, text: &str) -> TokenStream {
    let tokens = text.parse::<TokenStream>();
    without_tests(tokens.unwrap_or_else(|error| panic!("{path}: not Rust: {error}")))
}

fn without_tests(tokens: TokenStream) -> TokenStream {
    let mut kept = Vec::new();
    let mut in_test = false;
    for token in tokens {
        let is_attribute =
            matches!(kept.last(), Some(TokenTree::Punct(sign)) if sign.as_char() == '#');
        match token {
            // An item ends with its body, or with a semicolon where it has none.
            TokenTree::Group(group) if in_test => in_test = group.delimiter() != Delimiter::Brace,
            TokenTree::Punct(sign) if in_test => in_test = sign.as_char() != ';',
            _ if in_test => {}
            TokenTree::Group(group)
                if is_attribute && group.to_string().replace(' ', "") == "[cfg(test)]" =>
            {
                kept.pop();
                in_test = true;
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_tests(group.stream()));
                inner.set_span(group.span());
                kept.push(TokenTree::Group(inner));
            }
            other => kept.push(other),
        }
    }
    kept.into_iter().collect()
}

fn flatten(tokens: TokenStream, into: &mut Vec<Token>) {
    for tree in tokens {
        let line = tree.span().start().line;
        let token = |text: &str, string| Token {
            line,
            text: text.to_owned(),
            string,
        };
        match tree {
            TokenTree::Ident(name) => into.push(token(&name.to_string(), None)),
            TokenTree::Punct(sign) => into.push(token(&sign.to_string(), None)),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                into.push(token(&text, contents(literal)));
            }
            // Comments that document are attributes to the compiler.
            TokenTree::Group(group) if begins_with(&group, "doc") => {}
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                into.push(token(open, None));
                flatten(group.stream(), into);
                into.push(token(close, None));
            }
        }
    }
}

fn begins_with(group: &Group, name: &str) -> bool {
    let first = group.stream().into_iter().next();
    first.is_some_and(|first| matches!(first, TokenTree::Ident(ident) if ident == name))
}

/// What a string literal says.
fn contents(literal: Literal) -> Option<String> {
    match syn::Lit::new(literal) {
        syn::Lit::Str(string) => Some(string.value()),
        syn::Lit::ByteStr(string) => Some(String::from_utf8_lossy(&string.value()).into_owned()),
        syn::Lit::CStr(string) => Some(string.value().to_string_lossy().into_owned()),
        _ => None,
    }
}
