//! The parts that schemas are put together from.

use serde_json::{Map, Value, json};

/// Names and schemas, in their order.
pub(super) type Properties = Vec<(String, Value)>;

pub(super) fn properties<const N: usize>(list: [(&str, Value); N]) -> Properties {
    list.map(|(name, value)| (name.to_owned(), value)).into()
}

/// An object with exactly these properties, all of them present.
pub(super) fn object(properties: Properties) -> Value {
    let required: Vec<&String> = properties.iter().map(|(name, _)| name).collect();
    let required = json!(required);
    let properties: Map<String, Value> = properties.into_iter().collect();
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

pub(super) fn array(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

pub(super) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

pub(super) fn count(description: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": description })
}

pub(super) fn flag(description: &str) -> Value {
    json!({ "type": "boolean", "description": description })
}

pub(super) fn real(description: &str) -> Value {
    json!({ "type": "number", "description": description })
}

pub(super) fn choice(words: &[&str], description: &str) -> Value {
    json!({ "enum": words, "description": description })
}

pub(super) fn or_null(mut schema: Value) -> Value {
    if let Some(kind) = schema.get_mut("type") {
        *kind = json!([kind.take(), "null"]);
    }
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.push(Value::Null);
    }
    schema
}
