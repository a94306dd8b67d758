//! Tokens of Rust source without comments and tests, as input of the rules.

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};

pub struct Source {
    /// Tokens in order; a sign of several characters is several tokens.
    pub tokens: Vec<Token>,
}

/// A name, a character of a sign, a bracket or a literal.
pub struct Token {
    /// Line number from 1.
    pub line: usize,
    pub text: String,
    /// The value of a string literal.
    pub string: Option<String>,
}

impl Source {
    /// Tokens that are not compiled only for tests.
    pub fn without_tests(path: &str, text: &str) -> Self {
        let mut tokens = Vec::new();
        flatten(product_tokens(path, text), &mut tokens);
        Self { tokens }
    }

    pub fn strings(&self) -> impl Iterator<Item = (usize, &str)> {
        let string = |token: &'_ Token| token.string.is_some();
        self.tokens
            .iter()
            .filter(move |token| string(token))
            .map(|token| (token.line, token.string.as_deref().unwrap_or_default()))
    }

    /// The tokens after each occurrence of `texts`, with its line.
    pub fn after(&self, texts: &[&str]) -> Vec<(usize, &[Token])> {
        let stand = |tokens: &&[Token]| {
            let tokens = tokens.iter().map(|token| token.text.as_str());
            tokens.take(texts.len()).eq(texts.iter().copied())
        };
        let positions = (0..self.tokens.len()).map(|at| &self.tokens[at..]);
        let found = positions.filter(stand);
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
    let mut product = Vec::new();
    let mut in_test = false;
    for token in tokens {
        let is_attribute =
            matches!(product.last(), Some(TokenTree::Punct(sign)) if sign.as_char() == '#');
        match token {
            // An item ends with its body, or with a semicolon if it has none.
            TokenTree::Group(group) if in_test => in_test = group.delimiter() != Delimiter::Brace,
            TokenTree::Punct(sign) if in_test => in_test = sign.as_char() != ';',
            _ if in_test => {}
            TokenTree::Group(group)
                if is_attribute && group.to_string().replace(' ', "") == "[cfg(test)]" =>
            {
                product.pop();
                in_test = true;
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_tests(group.stream()));
                inner.set_span(group.span());
                product.push(TokenTree::Group(inner));
            }
            other => product.push(other),
        }
    }
    product.into_iter().collect()
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
            // Doc comments are attributes to the compiler.
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

fn contents(literal: Literal) -> Option<String> {
    match syn::Lit::new(literal) {
        syn::Lit::Str(string) => Some(string.value()),
        syn::Lit::ByteStr(string) => Some(String::from_utf8_lossy(&string.value()).into_owned()),
        syn::Lit::CStr(string) => Some(string.value().to_string_lossy().into_owned()),
        _ => None,
    }
}
