//! The remarks of all topics as one type.

use std::collections::BTreeMap;
use std::fmt;
use std::mem::discriminant;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::parts::{
    BracketEnd, Broken, LimitChanged, PendingWrites, RateTried, Reconciled, RoundsRole,
    RoundsWindow,
};
use super::span::{Argument, Field};
use super::{span, words};

/// One kind of remark. Whether it makes something invalid is no matter of its kind, but of where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    variant: &'static str,
    /// Names and types, as Rust has them.
    pub fields: &'static [(&'static str, &'static str)],
    about: &'static str,
}

driver! { host library oltp olap columnar backup observe storage study record catalogue; }

impl Kind {
    /// The name in archives and exports, which never changes.
    pub fn code(&self) -> String {
        let mut code = String::new();
        for (at, letter) in self.variant.char_indices() {
            if letter.is_uppercase() && at > 0 {
                code.push('_');
            }
            code.extend(letter.to_lowercase());
        }
        code
    }

    /// What it means.
    pub fn about(&self) -> &'static str {
        self.about.trim()
    }
}

impl Remark {
    /// One sentence for this remark and another one, where their first number alone differs: "46–107 ms".
    pub fn between(&self, other: &Self) -> Option<String> {
        if discriminant(self) != discriminant(other) {
            return None;
        }
        let ((fields, words), (others, other_words)) = (self.arguments(), other.arguments());
        let fields = span::first_number_between(fields, others)?;
        self.sentence_of(fields, span::between(words, other_words)?)
    }

    /// The first of its numbers.
    pub fn first_number(&self) -> Option<f64> {
        let (fields, _) = self.arguments();
        fields.into_iter().find_map(|field| match field {
            Argument::Number(number) => Some(number),
            _ => None,
        })
    }

    /// Code and fields, as the archive keeps them.
    pub(crate) fn parts(&self) -> (String, String) {
        let mut fields = self.object();
        let code = match fields.remove("code") {
            Some(Value::String(code)) => code,
            _ => String::new(),
        };
        (code, Value::Object(fields).to_string())
    }

    /// The remark of a code and fields that the archive kept.
    ///
    /// # Errors
    /// When there is none of that code, or with such fields.
    pub(crate) fn of_parts(code: &str, fields: &str) -> serde_json::Result<Self> {
        let mut fields: Map<String, Value> = serde_json::from_str(fields)?;
        fields.insert("code".to_owned(), code.into());
        serde_json::from_value(Value::Object(fields))
    }

    /// Code, fields and sentence, as exports have them.
    pub fn exported(&self) -> Value {
        let mut fields = self.object();
        fields.insert("text".to_owned(), self.to_string().into());
        Value::Object(fields)
    }

    fn object(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            // Fields are numbers, texts and lists of them, with names that are texts.
            _ => Map::new(),
        }
    }
}
