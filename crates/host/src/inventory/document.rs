//! The inventory as JSON for other programs, and read back for a comparison.

use serde::{Deserialize, Serialize};

use super::{Changed, Inventory, Stated, difference};

const FORMAT: &str = "dbdyno-host";
/// Rises when a field changes its name or its meaning.
const VERSION: u32 = 1;

#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error("{file} is not an inventory of dbdyno in JSON: {what}")]
    NotAnInventory { file: String, what: String },
    #[error(
        "{file} is an inventory of version {version}, but this dbdyno reads version {VERSION}; write it again with this dbdyno"
    )]
    OtherVersion { file: String, version: u32 },
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    pub found: Inventory,
    #[serde(default)]
    pub stated: Stated,
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

#[derive(Serialize)]
struct Whole<'a, F> {
    format: &'static str,
    version: u32,
    #[serde(flatten)]
    document: &'a Document,
    lint: &'a [F],
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<&'a [Changed]>,
}

impl Document {
    /// The document with its findings and, after a comparison, the rows that differ.
    pub fn to_json(&self, lint: &[impl Serialize], changed: Option<&[Changed]>) -> String {
        let whole = Whole {
            format: FORMAT,
            version: VERSION,
            document: self,
            lint,
            changed,
        };
        let mut text =
            serde_json::to_string_pretty(&whole).expect("texts, numbers and lists are always JSON");
        text.push('\n');
        text
    }

    /// Parses the output of [`to_json`](Self::to_json); `file` names it in messages. Fails if it is not such a
    /// document, or of another version.
    pub fn parse(file: &str, text: &str) -> Result<Self, DocumentError> {
        let wrong = |e: serde_json::Error| DocumentError::NotAnInventory {
            file: file.to_owned(),
            what: e.to_string(),
        };
        let head: Head = serde_json::from_str(text).map_err(wrong)?;
        if head.format != FORMAT {
            return Err(DocumentError::NotAnInventory {
                file: file.to_owned(),
                what: format!("its format is \"{}\"", head.format),
            });
        }
        if head.version != VERSION {
            return Err(DocumentError::OtherVersion {
                file: file.to_owned(),
                version: head.version,
            });
        }
        serde_json::from_str(text).map_err(wrong)
    }

    pub fn changed_since(&self, before: &Self) -> Vec<Changed> {
        difference(before, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_survives_the_way_through_json() {
        let mut document = Document::default();
        document.found.machine.host_name = Some("bench".into());
        document.stated = Stated::parse("x", "[cpu]\ncores = 8\n").unwrap();
        let text = document.to_json(&[(); 0], Some(&[]));
        assert_eq!(Document::parse("x", &text).unwrap(), document);
        let rows = document.changed_since(&Document::default());
        let facts: Vec<&str> = rows.iter().map(|row| row.fact.as_str()).collect();
        assert_eq!(facts, ["found.machine.host_name", "stated.cpu.cores"]);
    }

    #[test]
    fn what_is_something_else_is_refused() {
        let refused = |text: &str| Document::parse("a.json", text).unwrap_err().to_string();
        assert!(refused("{").contains("a.json is not an inventory"));
        assert!(refused("{\"format\": \"x\", \"version\": 1}").contains("its format is \"x\""));
        assert!(refused("{\"format\": \"dbdyno-host\", \"version\": 9}").contains("version 9"));
    }
}
