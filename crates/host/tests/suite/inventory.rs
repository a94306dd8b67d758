//! Inventories of made-up machines, whole, compared and damaged.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::machines::{Files, STATED, big, lay, small};
use host::inventory::{
    Document, Inventory, Role, Stated, changed_rows, inventory, sections, stated_section,
};
use host::lint::{Decision, findings, lint};
use proptest::prelude::*;

fn of(files: &Files) -> Inventory {
    let root = tempfile::tempdir().unwrap();
    lay(root.path(), files);
    inventory(root.path()).unwrap()
}

fn page(found: &Inventory, stated: &Stated) -> String {
    let lint = lint(found, stated);
    sections(found) + &stated_section(stated) + &findings(&lint)
}

#[test]
fn golden_page_of_a_big_machine() {
    let stated = Stated::parse("x", STATED).unwrap();
    insta::assert_snapshot!(page(&of(&big(18)), &stated));
}

#[test]
fn golden_page_of_a_big_machine_set_otherwise() {
    let stated = Stated::parse("x", crate::machines::STATED_OTHERWISE).unwrap();
    insta::assert_snapshot!(findings(&lint(&of(&crate::machines::otherwise()), &stated)));
}

#[test]
fn golden_page_of_a_small_virtual_machine() {
    insta::assert_snapshot!(page(&of(&small()), &Stated::default()));
}

#[test]
fn golden_json() {
    let stated = Stated::parse("x", STATED).unwrap();
    for (name, files, stated) in [
        ("big", big(1), stated),
        ("small", small(), Stated::default()),
    ] {
        let found = of(&files);
        let lint = lint(&found, &stated);
        let document = Document { found, stated };
        insta::assert_snapshot!(format!("json_{name}"), document.to_json(&lint, None));
    }
}

#[test]
fn golden_difference() {
    let document = |files: &Files| Document {
        found: of(files),
        stated: Stated::default(),
    };
    let mut changed = big(1);
    changed.insert(
        "sys/block/dm-0/queue/scheduler".into(),
        "noop [deadline] cfq\n".into(),
    );
    changed.insert("proc/sys/fs/aio-max-nr".into(), "65536\n".into());
    changed.remove("sys/class/fc_host/host4/speed");
    let (before, after) = (document(&big(1)), document(&changed));
    insta::assert_snapshot!(changed_rows(&after.changed_since(&before), "before.json"));
    assert_eq!(changed_rows(&[], "x"), "Nothing differs from x.\n");
}

#[test]
fn volumes_stand_on_their_paths() {
    let found = of(&big(1));
    let roles = |role| {
        found
            .block_devices
            .iter()
            .filter(|b| b.role == role)
            .count()
    };
    assert_eq!(
        (roles(Role::Multipath), roles(Role::Path), roles(Role::Disk)),
        (4, 16, 1)
    );
    let data = found
        .block_devices
        .iter()
        .find(|b| b.name == "dm-0")
        .unwrap();
    assert_eq!(data.vendor.as_deref(), Some("3PARdata"));
    assert_eq!(data.slaves, ["sda", "sdb", "sdc", "sdd"]);
}

#[test]
fn a_root_that_is_no_machine_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let refused = inventory(root.path()).unwrap_err().to_string();
    assert!(
        refused.contains("holds none of proc, sys and etc"),
        "{refused}"
    );
    let refused = inventory(&root.path().join("x")).unwrap_err().to_string();
    assert!(refused.contains("cannot be read"), "{refused}");
}

/// What happens to one file of a tree.
#[derive(Debug, Clone)]
enum Damage {
    Gone,
    CutAfter(usize),
    Bytes(Vec<u8>),
    Directory,
    Text(&'static str),
}

fn damage() -> impl Strategy<Value = Damage> {
    let texts = [
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
    prop_oneof![
        Just(Damage::Gone),
        (0usize..200).prop_map(Damage::CutAfter),
        proptest::collection::vec(any::<u8>(), 0..80).prop_map(Damage::Bytes),
        Just(Damage::Directory),
        proptest::sample::select(texts.to_vec()).prop_map(Damage::Text),
    ]
}

fn lay_damaged(root: &std::path::Path, files: &Files, damages: &[(usize, Damage)]) {
    lay(root, files);
    for (at, damage) in damages {
        let (path, text) = files.iter().nth(at % files.len()).unwrap();
        let path = root.join(path);
        if path.is_dir() {
            continue;
        }
        match damage {
            Damage::Gone | Damage::Directory => _ = std::fs::remove_file(&path),
            Damage::CutAfter(length) => {
                std::fs::write(&path, &text.as_bytes()[..(*length).min(text.len())]).unwrap();
            }
            Damage::Bytes(bytes) => std::fs::write(&path, bytes).unwrap(),
            Damage::Text(text) => std::fs::write(&path, text).unwrap(),
        }
        if matches!(damage, Damage::Directory) {
            std::fs::create_dir(&path).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing panics, and what was read can be shown, judged, written and read back.
    #[test]
    fn a_damaged_tree_gives_what_is_left(
        damages in proptest::collection::vec((any::<usize>(), damage()), 1..60)
    ) {
        let root = tempfile::tempdir().unwrap();
        lay_damaged(root.path(), &big(1), &damages);
        let found = inventory(root.path()).unwrap();
        let stated = Stated::parse("x", STATED).unwrap();
        let lint = lint(&found, &stated);
        prop_assert!(page(&found, &stated).contains("Lint:"));
        for finding in &lint {
            let undecided = finding.decision == Decision::CannotBeDecided;
            prop_assert!(undecided || !finding.found.is_empty(), "{}", finding.id);
        }
        let document = Document { found, stated };
        let read = Document::parse("x", &document.to_json(&lint, None)).unwrap();
        prop_assert!(read.changed_since(&document).is_empty());
    }
}
