//! The inventory as rows for the archive: section, name and value of every known fact.

use archive::{ControlGroup, Fact};

use super::Document;
use super::difference::flat;

/// Most facts that are archived; more than any machine is expected to have.
const FACTS_MAX: usize = 20_000;

/// Every known fact, the found ones before the stated ones. Caps are rendered as words: their paths would be cut in a
/// comparison.
pub fn rows(document: &Document) -> Vec<Fact> {
    let fact = |(section, name), value, stated| Fact {
        section,
        name,
        value,
        stated,
    };
    let caps = document.found.control_group.iter();
    let caps = caps
        .flat_map(ControlGroup::caps)
        .map(|(name, value)| fact(("caps".to_owned(), name), value, false));
    let found = flat(&document.found)
        .into_iter()
        .filter(|(path, _)| !path.starts_with("control_group."))
        .map(|(path, value)| fact(split(&path), value, false));
    let stated = flat(&document.stated).into_iter();
    let stated = stated.map(|(path, value)| fact(split(&path), value, true));
    caps.chain(found).chain(stated).take(FACTS_MAX).collect()
}

/// Splits `block_devices[sda].scheduler` into the section "block devices" and the name "sda scheduler".
fn split(path: &str) -> (String, String) {
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (section, rest) = path.split_at(end);
    let name = match rest.strip_prefix('[').and_then(|r| r.rsplit_once("].")) {
        Some((item, field)) => format!("{item} {}", words(field)),
        None => {
            let rest = rest.trim_start_matches('.');
            // Names of kernel settings contain dots and underscores themselves.
            if section == "sysctl" {
                rest.to_owned()
            } else {
                words(rest)
            }
        }
    };
    (words(section), name)
}

fn words(name: &str) -> String {
    name.replace(['_', '.'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::{Inventory, Stated};

    #[test]
    fn a_path_becomes_a_section_and_a_name() {
        let cases = [
            ("processor.model", "processor", "model"),
            (
                "block_devices[sda].nr_requests",
                "block devices",
                "sda nr requests",
            ),
            (
                "file_systems[/data.1/x].options",
                "file systems",
                "/data.1/x options",
            ),
            ("sysctl.vm.dirty_ratio", "sysctl", "vm.dirty_ratio"),
            ("memory.huge_pages.total", "memory", "huge pages total"),
        ];
        for (path, section, name) in cases {
            assert_eq!(split(path), (section.to_owned(), name.to_owned()), "{path}");
        }
    }

    #[test]
    fn caps_are_rows_in_words() {
        let mut document = Document::default();
        document.found.control_group = Some(ControlGroup {
            memory_max_bytes: Some(4 << 30),
            devices: vec![archive::DeviceCap {
                name: "vda".into(),
                read_max_iops: Some(3000),
                ..archive::DeviceCap::default()
            }],
            ..ControlGroup::default()
        });
        let rows = rows(&document);
        let shown: Vec<String> = rows
            .iter()
            .map(|row| format!("{} {}: {}", row.section, row.name, row.value))
            .collect();
        assert_eq!(
            shown[..2],
            ["caps memory: 4 GiB", "caps vda reads: 3000 a second"]
        );
        assert!(
            !shown.iter().any(|row| row.contains("control group")),
            "{shown:?}"
        );
    }

    #[test]
    fn what_is_found_stands_before_what_is_stated() {
        let mut found = Inventory::default();
        found.machine.kernel = Some("6.1".into());
        let document = Document {
            found,
            stated: Stated::default(),
        };
        let rows = rows(&document);
        let kernel = rows.iter().find(|r| r.name == "kernel").unwrap();
        assert_eq!(
            (kernel.section.as_str(), kernel.value.as_str()),
            ("machine", "6.1")
        );
        assert!(!kernel.stated);
    }
}
