//! Remarks as objects: code and fields, in archives, exports and events.
//!
//! Written out in place of serde's derives, which make some 3,500 lines of every variant for the compiler to optimise.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Error, Map, Value};

use super::fields::{code_of, take, variant_of};
use super::value::Remark;

impl Remark {
    /// Code and fields, as the archive keeps them.
    pub(crate) fn parts(&self) -> (String, String) {
        let (variant, fields) = self.variant_and_fields();
        (code_of(variant), Value::Object(fields).to_string())
    }

    /// # Errors
    /// When there is none of that code, or with such fields.
    pub(crate) fn of_parts(code: &str, fields: &str) -> serde_json::Result<Self> {
        Self::of_code_and_fields(code, serde_json::from_str(fields)?)
    }

    /// Code, fields and sentence, as exports have them.
    pub fn exported(&self) -> Value {
        let mut fields = self.object();
        fields.insert("text".to_owned(), self.to_string().into());
        Value::Object(fields)
    }

    fn object(&self) -> Map<String, Value> {
        let (variant, fields) = self.variant_and_fields();
        let code = ("code".to_owned(), code_of(variant).into());
        [code].into_iter().chain(fields).collect()
    }

    fn of_code_and_fields(code: &str, mut fields: Map<String, Value>) -> serde_json::Result<Self> {
        let variant = variant_of(code);
        let known = code_of(&variant) == code;
        let remark = if known {
            Self::of_variant_and_fields(&variant, &mut fields)?
        } else {
            None
        };
        remark
            .ok_or_else(|| Error::custom(format_args!("there is no remark with the code {code:?}")))
    }
}

impl Serialize for Remark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object().serialize(serializer)
    }
}

/// Serializes remarks as exports have them.
pub(crate) fn with_sentences<S: Serializer>(
    remarks: &[Remark],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(remarks.iter().map(Remark::exported))
}

impl<'de> Deserialize<'de> for Remark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        let code = take::<String>(&mut fields, "code").map_err(D::Error::custom)?;
        Self::of_code_and_fields(&code, fields).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::remark::{Broken, KINDS};

    #[test]
    fn every_code_leads_back_to_its_variant() {
        for kind in KINDS {
            let code = kind.code();
            assert_eq!(code_of(&variant_of(&code)), code);
            let mut types = kind.fields.iter().map(|(_, of)| of);
            let all_may_be_missing = types.all(|of| of.starts_with("Option"));
            match Remark::of_parts(&code, "{}") {
                Ok(read) => assert!(all_may_be_missing && read.parts().0 == code, "{read:?}"),
                Err(error) => {
                    assert!(!all_may_be_missing, "{error}");
                    assert!(error.to_string().starts_with("missing field"), "{error}");
                }
            }
        }
    }

    #[test]
    fn objects_have_the_code_first_and_are_read_back() {
        let remark = Remark::UnsoundAfterwards {
            broken: vec![Broken {
                condition: 3,
                count: u64::MAX,
            }],
            errors: vec!["a \"b\"".to_owned()],
        };
        let text = serde_json::to_string(&remark).unwrap();
        assert_eq!(
            text,
            r#"{"code":"unsound_afterwards","broken":[{"condition":3,"count":18446744073709551615}],"errors":["a \"b\""]}"#
        );
        assert_eq!(serde_json::from_str::<Remark>(&text).unwrap(), remark);
    }

    #[test]
    fn what_may_be_unknown_may_be_missing_and_what_others_add_is_ignored() {
        let read = |value| serde_json::from_value::<Remark>(value);
        let missing = json!({"code": "text", "text": "a", "more": [1]});
        assert_eq!(read(missing).unwrap(), Remark::Text { text: "a".into() });
        let error_of = |value| read(value).unwrap_err().to_string();
        assert_eq!(error_of(json!({"code": "text"})), "missing field `text`");
        assert_eq!(
            error_of(json!({"code": "text", "text": 1})),
            "text: invalid type: integer `1`, expected a string"
        );
        assert_eq!(error_of(json!({"text": "a"})), "missing field `code`");
        for code in ["tExt", "Text", "text_", "no__think_time", "nosuch", ""] {
            let error = error_of(json!({"code": code, "text": "a"}));
            assert_eq!(error, format!("there is no remark with the code {code:?}"));
        }
    }
}
