//! Inventories of made-up machines, whole, compared and damaged.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::machines::{Files, STATED, big, lay, small};
use host::inventory::{
    Document, Inventory, Role, Stated, changed_rows, inventory, sections, stated_section,
};
use host::lint::{findings, lint};
use testing::Says;

fn of(files: &Files) -> Inventory {
    let root = tempfile::tempdir().unwrap();
    lay(root.path(), files);
    inventory(root.path()).unwrap()
}

pub fn page(found: &Inventory, stated: &Stated) -> String {
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
    assert_eq!(changed_rows(&[], "x"), "No differences from x.\n");
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
    assert_eq!(roles(Role::Multipath), 4);
    assert_eq!(roles(Role::Path), 16);
    assert_eq!(roles(Role::Disk), 1);
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
    refused.says("contains none of proc, sys and etc");
    let refused = inventory(&root.path().join("x")).unwrap_err().to_string();
    assert!(refused.contains("cannot be read"), "{refused}");
}
