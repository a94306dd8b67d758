//! Facts that a host cannot discover and its owner states in a file: array, RAID, cache, licences, options.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

const FIELDS: &str = include_str!("../../rules/stated.toml");

const FILE_BYTES_MAX: u64 = 1 << 20;

/// Statements by section and field, in the order of the declared fields.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stated {
    sections: serde_json::Map<String, serde_json::Value>,
}

#[derive(Debug, thiserror::Error)]
pub enum StatedError {
    #[error("the platform file {} cannot be read: {reason}", path.display())]
    Unreadable {
        path: PathBuf,
        reason: std::io::Error,
    },
    #[error("the platform file {file} is not TOML: {what}")]
    NotToml { file: String, what: String },
    #[error(
        "the platform file {file} has the unknown {kind} \"{name}\"{hint}; docs/HOST.md lists them all"
    )]
    Unknown {
        file: String,
        kind: &'static str,
        name: String,
        /// ` (did you mean "…"?)` or empty.
        hint: String,
    },
    #[error("the platform file {file}: \"{name}\" must be {wanted}")]
    WrongKind {
        file: String,
        name: String,
        wanted: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    section: Vec<Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    name: String,
    title: String,
    fields: Vec<Field>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Field {
    key: String,
    kind: Kind,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Text,
    Number,
    YesNo,
    List,
    Parts,
}

impl Kind {
    fn wanted(self) -> &'static str {
        match self {
            Self::Text => "a quoted string",
            Self::Number => "a non-negative number",
            Self::YesNo => "true or false",
            Self::List => "a list of strings",
            Self::Parts => {
                "a list of { quantity = 2, part = \"…\", description = \"…\" }, the description optional"
            }
        }
    }

    fn take(self, value: &toml::Value) -> Option<serde_json::Value> {
        match (self, value) {
            (Self::Text, toml::Value::String(text)) => Some(text.as_str().into()),
            (Self::Number, toml::Value::Integer(n)) if *n >= 0 => Some((*n).into()),
            (Self::Number, toml::Value::Float(n)) if n.is_finite() && *n >= 0.0 => {
                Some((*n).into())
            }
            (Self::YesNo, toml::Value::Boolean(flag)) => Some((*flag).into()),
            (Self::List, toml::Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().map(Into::into))
                .collect::<Option<Vec<serde_json::Value>>>()
                .map(Into::into),
            (Self::Parts, toml::Value::Array(items)) => items
                .iter()
                .map(|item| part(item).map(Into::into))
                .collect::<Option<Vec<serde_json::Value>>>()
                .map(Into::into),
            _ => None,
        }
    }
}

/// A part of a bill of materials as one text: "2 × 728551-B21: HPE DL580 Gen9".
fn part(value: &toml::Value) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Part {
        quantity: u32,
        part: String,
        description: Option<String>,
    }
    let part: Part = value.clone().try_into().ok()?;
    let described = part.description.map(|words| format!(": {words}"));
    Some(format!(
        "{} × {}{}",
        part.quantity,
        part.part,
        described.unwrap_or_default()
    ))
}

fn declared() -> Vec<Section> {
    let declared: Declared = toml::from_str(FIELDS).expect("the tests parse the embedded fields");
    declared.section
}

impl Stated {
    /// Reads a platform file. Fails if it cannot be read, is not TOML, or states an undeclared fact.
    pub fn load(path: &Path) -> Result<Self, StatedError> {
        let unreadable = |reason| StatedError::Unreadable {
            path: path.to_owned(),
            reason,
        };
        let text = archive::read_text(path, FILE_BYTES_MAX).map_err(unreadable)?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Parses the text of a platform file; `file` names it in messages. Fails if it is not TOML, or states an
    /// undeclared fact.
    pub fn parse(file: &str, text: &str) -> Result<Self, StatedError> {
        let table: toml::Table = toml::from_str(text).map_err(|e| StatedError::NotToml {
            file: file.to_owned(),
            what: e
                .to_string()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
        })?;
        let declared = declared();
        let names = declared.iter().map(|section| section.name.as_str());
        refuse_unknown(file, "section", "", &table, names)?;
        let mut sections = serde_json::Map::new();
        for section in &declared {
            let Some(value) = table.get(&section.name) else {
                continue;
            };
            let wrong = || StatedError::WrongKind {
                file: file.to_owned(),
                name: section.name.clone(),
                wanted: "a section, in brackets on a line of its own",
            };
            let fields = value.as_table().ok_or_else(wrong)?;
            sections.insert(
                section.name.clone(),
                parse_section(file, section, fields)?.into(),
            );
        }
        Ok(Self { sections })
    }

    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// The block device of the server's data (`storage.device`), where dbdyno cannot find it.
    pub fn device(&self) -> Option<&str> {
        self.sections.get("storage")?.get("device")?.as_str()
    }

    /// Titles of the sections, each with its fields and their values.
    pub(super) fn rows(&self) -> Vec<(String, Vec<(String, serde_json::Value)>)> {
        let fields = |name: &str| match self.sections.get(name) {
            Some(serde_json::Value::Object(fields)) => fields.clone().into_iter().collect(),
            _ => Vec::new(),
        };
        declared()
            .into_iter()
            .map(|section| (section.title, fields(&section.name)))
            .filter(|(_, fields)| !fields.is_empty())
            .collect()
    }
}

type Object = serde_json::Map<String, serde_json::Value>;

fn parse_section(
    file: &str,
    section: &Section,
    given: &toml::Table,
) -> Result<Object, StatedError> {
    let names = section.fields.iter().map(|field| field.key.as_str());
    refuse_unknown(file, "field", &format!("{}.", section.name), given, names)?;
    let mut object = Object::new();
    for field in &section.fields {
        let Some(value) = given.get(&field.key) else {
            continue;
        };
        let taken = field
            .kind
            .take(value)
            .ok_or_else(|| StatedError::WrongKind {
                file: file.to_owned(),
                name: format!("{}.{}", section.name, field.key),
                wanted: field.kind.wanted(),
            })?;
        object.insert(field.key.clone(), taken);
    }
    Ok(object)
}

fn refuse_unknown<'a>(
    file: &str,
    kind: &'static str,
    before: &str,
    given: &toml::Table,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), StatedError> {
    match given
        .keys()
        .find(|key| !known.clone().any(|name| name == key.as_str()))
    {
        None => Ok(()),
        Some(key) => Err(StatedError::Unknown {
            file: file.to_owned(),
            kind,
            name: format!("{before}{key}"),
            hint: nearest(key, known),
        }),
    }
}

/// ` (did you mean "…"?)`: a field is long and half remembered, so the nearest is always named.
fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    known
        .min_by_key(|name| strsim::damerau_levenshtein(name, word))
        .map_or(String::new(), |name| format!(" (did you mean \"{name}\"?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Stated::parse("mine.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_declared_is_taken_as_it_is() {
        let stated = Stated::parse(
            "x",
            "[storage]\nraid_level = \"RAID-3 (4+1)\"\nusable_flash_tb = 10.5\n\
             [database]\noptions = [\"partitioning\"]\ndiagnostic_pack = true\n",
        )
        .unwrap();
        let rows = stated.rows();
        assert_eq!(rows[0].0, "Storage");
        assert_eq!(rows[0].1[0], ("raid_level".into(), "RAID-3 (4+1)".into()));
        assert_eq!(rows[1].1.len(), 2);
        assert!(Stated::parse("x", "").unwrap().is_empty());
    }

    #[test]
    fn a_bill_of_materials_is_a_list_of_parts() {
        let text = "[bill_of_materials]\nparts = [\n  { quantity = 4, part = \"728965-B21\", description = \"processor kit\" },\n  \
                    { quantity = 96, part = \"726722-B21\" },\n]\n";
        let stated = Stated::parse("x", text).unwrap();
        let parts = serde_json::json!(["4 × 728965-B21: processor kit", "96 × 726722-B21"]);
        assert_eq!(stated.rows()[0].1, [("parts".to_owned(), parts)]);
        let wrong = [
            "parts = [\"4 x\"]",
            "parts = [{ part = \"x\" }]",
            "parts = [{ quantity = -1, part = \"x\" }]",
            "parts = [{ quantity = 1, part = \"x\", descr = \"y\" }]",
        ];
        for parts in wrong {
            let error = refused(&format!("[bill_of_materials]\n{parts}\n"));
            assert!(
                error.contains("bill_of_materials.parts\" must be a list of { quantity"),
                "{error}"
            );
        }
    }

    #[test]
    fn what_is_not_declared_is_refused_with_the_nearest() {
        assert_eq!(
            refused("[storage]\nraid_lvl = \"1\"\n"),
            "the platform file mine.toml has the unknown field \"storage.raid_lvl\" (did you mean \
             \"raid_level\"?); docs/HOST.md lists them all"
        );
        assert!(refused("[storge]\n").contains("section \"storge\" (did you mean \"storage\"?)"));
        assert!(refused("storage = 1\n").contains("must be a section"));
        assert!(refused("[storage]\nraid_level = 5\n").contains("must be a quoted string"));
        assert!(refused("[storage]\nhdd_disks = -1\n").contains("must be a non-negative number"));
        assert!(refused("[storage]\nhdd_disks = nan\n").contains("must be a non-negative number"));
        assert!(refused("[database]\noptions = [1]\n").contains("must be a list of strings"));
        assert!(refused("[database]\ncluster = \"Y\"\n").contains("must be true or false"));
        assert!(refused("[storage\n").contains("is not TOML"));
    }
}
