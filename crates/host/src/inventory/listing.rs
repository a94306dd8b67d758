//! Entries of a directory, bounded and in natural order.

use std::path::Path;

const ENTRIES_MAX: usize = 8192;

/// Names in a directory, `sdb` before `sdaa` and `node2` before `node10`; empty if it cannot be read.
pub(super) fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .into_iter()
        .flatten()
        .take(ENTRIES_MAX)
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_by_key(|name| order(name));
    names
}

/// The stem, then its number, so that names of different kinds stay separate.
fn order(name: &str) -> (String, usize, String) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let family: String = stem.chars().take(2).collect();
    (family, name.len(), name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_people_count() {
        let mut names = ["sdaa", "node10", "sdb", "node2", "nvme0n1", "sda"].map(String::from);
        names.sort_by_key(|name| order(name));
        assert_eq!(names, ["node2", "node10", "nvme0n1", "sda", "sdb", "sdaa"]);
    }
}
