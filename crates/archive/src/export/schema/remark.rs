//! What the published schema says of remarks.

use serde_json::{Value, json};

use crate::remark::{KINDS, Kind};

/// Any remark: FORMAT.md lists the codes with their fields.
pub(super) fn definition() -> Value {
    let codes: Vec<String> = KINDS.iter().map(Kind::code).collect();
    json!({
        "type": "object",
        "description": "A remark: its code, the fields of that code, and its sentence.",
        "required": ["code", "text"],
        "properties": {
            "code": { "enum": codes },
            "text": { "type": "string", "description": "The sentence." },
        },
    })
}

pub(super) fn one(description: &str) -> Value {
    json!({ "$ref": "#/$defs/remark", "description": description })
}

pub(super) fn list(description: &str) -> Value {
    json!({ "type": "array", "items": { "$ref": "#/$defs/remark" }, "description": description })
}
