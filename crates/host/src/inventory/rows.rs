//! The inventory as rows for the archive: section, name and value of every known fact.

use archive::Fact;

use super::Document;
use super::difference::flat;

/// More facts than any machine is expected to have; what lies beyond is left out.
const FACTS_MAX: usize = 20_000;

/// Every known fact, what was found before what was stated.
pub fn rows(document: &Document) -> Vec<Fact> {
    let found = flat(&document.found).into_iter().map(|row| (row, false));
    let stated = flat(&document.stated).into_iter().map(|row| (row, true));
    found
        .chain(stated)
        .take(FACTS_MAX)
        .map(|((path, value), stated)| {
            let (section, name) = place(&path);
            Fact {
                section,
                name,
                value,
                stated,
            }
        })
        .collect()
}

/// `block_devices[sda].scheduler` is the "sda scheduler" of the section "block devices".
fn place(path: &str) -> (String, String) {
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (section, rest) = path.split_at(end);
    let name = match rest.strip_prefix('[').and_then(|r| r.rsplit_once("].")) {
        Some((item, field)) => format!("{item} {}", words(field)),
        None => {
            let rest = rest.trim_start_matches('.');
            // Names of kernel settings hold dots and underscores of their own.
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
        let places = [
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
        for (path, section, name) in places {
            assert_eq!(place(path), (section.to_owned(), name.to_owned()), "{path}");
        }
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
