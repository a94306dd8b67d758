//! Names of variants, and fields of a type each, as JSON has them.

use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Error, Map, Value};

/// The name in archives and exports, which never changes: "no_think_time" of `NoThinkTime`.
pub(super) fn code_of(variant: &str) -> String {
    let mut code = String::new();
    for (at, letter) in variant.char_indices() {
        if letter.is_uppercase() && at > 0 {
            code.push('_');
        }
        code.extend(letter.to_lowercase());
    }
    code
}

/// The variant whose code this is, if it is one's.
pub(super) fn variant_of(code: &str) -> String {
    let mut variant = String::new();
    for word in code.split('_') {
        let mut letters = word.chars();
        variant.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        variant.push_str(letters.as_str());
    }
    variant
}

pub(super) fn put(fields: &mut Map<String, Value>, name: &str, value: &impl Serialize) {
    // Numbers, texts, and lists and structs of them: nothing that JSON has not. What is not a number is null.
    let value = serde_json::to_value(value).unwrap_or_default();
    fields.insert(name.to_owned(), value);
}

/// A missing value is `None` if the field may be.
pub(super) fn take<T: DeserializeOwned>(
    fields: &mut Map<String, Value>,
    name: &str,
) -> serde_json::Result<T> {
    let value = fields.remove(name);
    let missing = value.is_none();
    serde_json::from_value(value.unwrap_or_default()).map_err(|error| {
        if missing {
            Error::custom(format_args!("missing field `{name}`"))
        } else {
            Error::custom(format_args!("{name}: {error}"))
        }
    })
}
