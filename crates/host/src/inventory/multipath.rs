//! `/etc/multipath.conf`, read tolerantly: unknown syntax is skipped.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::listing::names;
use crate::facts::text;

/// Settings of one section; the last of a repeated one counts.
pub type Section = BTreeMap<String, String>;

const SECTIONS_MAX: usize = 4096;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Multipath {
    pub defaults: Section,
    /// One section per kind of array.
    pub devices: Vec<Section>,
    /// One section per volume, with its alias.
    pub volumes: Vec<Section>,
}

/// Reads the main file and then those of the folder next to it.
pub(super) fn read(root: &Path) -> Option<Multipath> {
    let folder = "etc/multipath/conf.d";
    let others = names(&root.join(folder))
        .into_iter()
        .filter(|name| name.ends_with(".conf"))
        .map(|name| format!("{folder}/{name}"));
    let files: Vec<String> = std::iter::once("etc/multipath.conf".to_owned())
        .chain(others)
        .filter_map(|name| text(root, &name))
        .collect();
    if files.is_empty() {
        return None;
    }
    let mut found = Multipath::default();
    for file in files {
        parse(&file, &mut found);
    }
    Some(found)
}

fn parse(text: &str, into: &mut Multipath) {
    let mut path: Vec<String> = Vec::new();
    let mut section = Section::new();
    // A section's name may be on the line before its brace.
    let mut waiting: Option<String> = None;
    for line in text.lines() {
        let mut words = words(line).into_iter();
        let Some(first) = words.next() else { continue };
        match first.as_str() {
            "}" => {
                close(&path, std::mem::take(&mut section), into);
                path.pop();
            }
            "{" => {
                path.push(waiting.take().unwrap_or_default());
                section.clear();
            }
            name if words.clone().any(|word| word == "{") || name.ends_with('{') => {
                path.push(name.trim_end_matches('{').to_owned());
                // Settings of the enclosing section would be lost, but only `defaults` has its own.
                section.clear();
            }
            key => {
                let value: Vec<String> = words.collect();
                if value.is_empty() {
                    waiting = Some(first);
                } else if !path.is_empty() {
                    section.insert(key.to_owned(), value.join(" "));
                }
            }
        }
    }
}

fn close(path: &[String], section: Section, into: &mut Multipath) {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let list = match path[..] {
        ["defaults"] => return into.defaults.extend(section),
        ["devices", "device"] => &mut into.devices,
        ["multipaths", "multipath"] => &mut into.volumes,
        _ => return,
    };
    if !section.is_empty() && list.len() < SECTIONS_MAX {
        list.push(section);
    }
}

/// Words of a line without comments; a quoted value is one word.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == '#' || first == '!' {
            break;
        }
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word.trim().to_owned());
        rest = after.trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Multipath {
        let mut found = Multipath::default();
        parse(text, &mut found);
        found
    }

    #[test]
    fn sections_are_separate_and_comments_are_no_settings() {
        let found = parsed(
            "defaults {\n polling_interval 10\n}\ndevices {\n device {\n vendor \"3PARdata\"\n\
             path_selector \"round-robin 0\" # of old\n# dev_loss_tmo 14\n }\n}\n\
             blacklist {\n devnode \"^sd\"\n}\nmultipaths {\n multipath {\n wwid 36\n alias data01\n }\n}\n",
        );
        assert_eq!(found.defaults["polling_interval"], "10");
        assert_eq!(found.devices.len(), 1);
        assert_eq!(found.devices[0]["path_selector"], "round-robin 0");
        assert_eq!(found.devices[0].get("dev_loss_tmo"), None);
        assert_eq!(found.volumes[0]["alias"], "data01");
    }

    #[test]
    fn odd_files_give_what_can_be_understood() {
        for odd in [
            "}",
            "}}}\n}",
            "{",
            "devices {\n device {\n vendor",
            "defaults {\n x \"y",
            "\"",
            "a { b { c {",
        ] {
            let found = parsed(odd);
            assert!(
                found.devices.is_empty() && found.volumes.is_empty(),
                "{odd}"
            );
        }
        let brace = "devices\n{\n device{\n vendor X\n }\n}\n";
        assert_eq!(parsed(brace).devices[0]["vendor"], "X");
    }
}
