//! The published JSON Schema of the JSON export: that of its types.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::Exported;
use crate::Remark;
use crate::remark::{KINDS, Kind};

/// JSON Schema (draft 2020-12) of what [`super::json`] writes.
pub fn json_schema() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(close));
    let mut schema = settings.into_generator().into_root_schema_for::<Exported>();
    schema.insert("$id".to_owned(), "urn:dbdyno:result:2".into());
    schema.to_value()
}

/// An object has the listed properties alone; a remark has the fields of its code as well.
fn close(schema: &mut Schema) {
    for of_rust in ["default", "format"] {
        schema.remove(of_rust);
    }
    let is_listed = schema.get("properties").is_some();
    if is_listed && schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}

impl JsonSchema for Remark {
    fn schema_name() -> Cow<'static, str> {
        "Remark".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let codes: Vec<String> = KINDS.iter().map(Kind::code).collect();
        json_schema!({
            "type": "object",
            "description": "A remark: its code, the fields of that code, and its sentence.",
            "required": ["code", "text"],
            "additionalProperties": true,
            "properties": {
                "code": { "enum": codes },
                "text": { "type": "string", "description": "The sentence." },
            },
        })
    }
}
