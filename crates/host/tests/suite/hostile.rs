//! Copied trees of `/proc` and `/sys` that are damaged or malicious.

use std::path::Path;

use host::inventory::{Document, Stated, inventory};
use host::lint::{Decision, lint};
use testing::{Source, each_seed, peak_bytes};

use crate::inventory::page;
use crate::machines::{Files, STATED, big, lay};

/// The damaged trees have only small files.
const MEMORY_BYTES_MAX: usize = 64 << 20;

const TEXTS: &[&str] = &[
    "-1",
    "99999999999999999999999",
    "NaN",
    "1e999",
    "[",
    "\"",
    "}}}{",
    "a b\n\n c",
    "\u{0}",
    "18446744073709551615",
    "[a] [b]",
    "0-4294967295",
    "= = =",
    "\\",
    "devices { device {",
    "ATTR{queue/x}=\"1",
];

fn damage(source: &mut Source, path: &Path, text: &str) {
    match source.below(6) {
        0 => std::fs::remove_file(path).unwrap(),
        1 => {
            let length = source.below(200).min(text.len());
            std::fs::write(path, &text.as_bytes()[..length]).unwrap();
        }
        2 => {
            let length = source.below(80);
            std::fs::write(path, source.bytes(length)).unwrap();
        }
        3 => {
            std::fs::remove_file(path).unwrap();
            std::fs::create_dir(path).unwrap();
        }
        4 => {
            let mut bytes = text.as_bytes().to_vec();
            source.mutate(&mut bytes);
            std::fs::write(path, bytes).unwrap();
        }
        _ => std::fs::write(path, source.pick(TEXTS)).unwrap(),
    }
}

fn lay_damaged(root: &Path, files: &Files, source: &mut Source) {
    lay(root, files);
    for _ in 0..=source.below(60) {
        let (path, text) = files.iter().nth(source.below(files.len())).unwrap();
        let path = root.join(path);
        if path.is_file() {
            damage(source, &path, text);
        }
    }
}

/// Nothing panics, and the facts that were read can be shown, judged, written and read back.
#[test]
fn a_damaged_tree_gives_what_is_left() {
    let stated = Stated::parse("x", STATED).unwrap();
    each_seed(24, |source| {
        let root = tempfile::tempdir().unwrap();
        lay_damaged(root.path(), &big(1), source);
        let (found, taken) = peak_bytes(|| inventory(root.path()).unwrap());
        assert!(taken < MEMORY_BYTES_MAX, "{taken} bytes");
        let (facts, taken) = peak_bytes(|| host::facts(root.path()));
        assert!(taken < MEMORY_BYTES_MAX, "{taken} bytes");
        drop(facts);
        let lint = lint(&found, &stated);
        assert!(page(&found, &stated).contains("Lint:"));
        for finding in &lint {
            let undecided = finding.decision == Decision::CannotBeDecided;
            assert!(undecided || !finding.found.is_empty(), "{}", finding.id);
        }
        let stated = stated.clone();
        let document = Document { found, stated };
        let read = Document::parse("x", &document.to_json(&lint, None)).unwrap();
        assert!(read.changed_since(&document).is_empty());
    });
}
