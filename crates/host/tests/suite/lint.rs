//! Every rule can have all three decisions.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::machines::{Files, STATED, STATED_OTHERWISE, big, lay, otherwise, small};
use host::inventory::{Inventory, Stated, inventory};
use host::lint::{Decision, Finding, lint, lint_for};

fn judged(files: &Files, stated: &str) -> Vec<Finding> {
    let root = tempfile::tempdir().unwrap();
    lay(root.path(), files);
    let found = inventory(root.path()).unwrap();
    lint(&found, &Stated::parse("x", stated).unwrap())
}

fn not(findings: Vec<Finding>, decision: Decision) -> Vec<String> {
    let others = findings
        .into_iter()
        .filter(|finding| finding.decision != decision);
    others
        .map(|f| format!("{}: {:?}, {}", f.id, f.decision, f.found))
        .collect()
}

#[test]
fn every_rule_is_content_with_a_machine_as_advised() {
    assert_eq!(not(judged(&big(2), STATED), Decision::Ok), [""; 0]);
}

#[test]
fn every_rule_objects_to_a_machine_set_otherwise() {
    let findings = judged(&otherwise(), STATED_OTHERWISE);
    assert_eq!(not(findings, Decision::AdvisedOtherwise), [""; 0]);
}

#[test]
fn no_rule_decides_about_a_machine_without_facts() {
    let findings = lint(&Inventory::default(), &Stated::default());
    assert!(findings.len() > 50);
    for finding in &findings {
        assert_eq!(
            finding.decision,
            Decision::CannotBeDecided,
            "{}",
            finding.id
        );
        assert!(finding.why.ends_with('.'), "{}", finding.id);
    }
}

fn decision(findings: &[Finding], id: &str) -> (Decision, String) {
    let finding = findings.iter().find(|finding| finding.id == id).unwrap();
    (finding.decision, finding.found.clone())
}

#[test]
fn one_volume_that_differs_is_named() {
    let mut files = big(1);
    files.insert("sys/block/dm-2/queue/rq_affinity".into(), "1\n".into());
    let findings = judged(&files, STATED);
    let (outcome, found) = decision(&findings, "rq-affinity");
    assert_eq!(outcome, Decision::AdvisedOtherwise);
    assert_eq!(found.as_str(), "1 (redo01)");
    files.insert("sys/block/dm-2/queue/rq_affinity".into(), "odd\n".into());
    let findings = judged(&files, STATED);
    assert_eq!(
        decision(&findings, "rq-affinity").0,
        Decision::CannotBeDecided
    );
}

#[test]
fn redo_on_another_partition_of_the_same_disk_is_not_apart() {
    let devices = |data: &str, redo: &str| {
        let stated =
            format!("[database]\ndata_devices = [\"{data}\"]\nredo_devices = [\"{redo}\"]\n");
        decision(&judged(&small(), &stated), "redo-own-device").0
    };
    assert_eq!(devices("vda1", "/dev/vda2"), Decision::AdvisedOtherwise);
    assert_eq!(devices("vda1", "vdb1"), Decision::CannotBeDecided);
}

#[test]
fn settings_for_another_array_are_not_judged() {
    let mut files = big(1);
    let conf = files["etc/multipath.conf"].replace("3PARdata", "NETAPP");
    files.insert("etc/multipath.conf".into(), conf);
    let findings = judged(&files, STATED);
    assert_eq!(
        decision(&findings, "multipath-prio").0,
        Decision::CannotBeDecided
    );
    assert_eq!(
        decision(&findings, "multipath-polling-interval").0,
        Decision::Ok
    );
}

/// Practice of a database that is not measured is not listed first, nor is that of a cluster without one.
#[test]
fn practice_of_another_database_is_not_decided() {
    let root = tempfile::tempdir().unwrap();
    lay(root.path(), &otherwise());
    let found = inventory(root.path()).unwrap();
    let stated = |text: &str| Stated::parse("x", text).unwrap();
    let of = |make: &str| lint_for(&found, &stated(STATED_OTHERWISE), Some(&[make]));
    let mine = of("PostgreSQL");
    assert_eq!(
        decision(&mine, "sysctl-fs-aio-max-nr").0,
        Decision::CannotBeDecided
    );
    let aio = mine
        .iter()
        .find(|f| f.id == "sysctl-fs-aio-max-nr")
        .unwrap();
    assert!(aio.why.contains("applies only to Oracle"), "{}", aio.why);
    let governor = decision(&mine, "power-profile").0;
    assert_eq!(governor, Decision::AdvisedOtherwise, "for any database");
    assert_eq!(of("Oracle"), lint(&found, &stated(STATED_OTHERWISE)));
    let alone = lint(&found, &stated("[storage]\nflash_only = true\n"));
    for id in [
        "sysctl-kernel-panic-on-oops",
        "sysctl-net-core-rmem-default",
    ] {
        assert_eq!(decision(&alone, id).0, Decision::CannotBeDecided, "{id}");
    }
}
