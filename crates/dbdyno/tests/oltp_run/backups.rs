//! Backups of local servers: restored elsewhere and proven, beside users at work, and to a point in time.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::common::{Place, faults, points};

/// Carries the methods out on a server, each of which has this proof; the points.
fn proven_backups(target: &str, methods: &str, more: &[&str], proof: &str) -> Vec<Value> {
    let place = Place::new();
    let repository = place.path("backups");
    std::fs::create_dir(&repository).unwrap();
    // The server has a user of its own where this is root.
    for directory in [repository.as_path(), repository.parent().unwrap()] {
        std::fs::set_permissions(directory, PermissionsExt::from_mode(0o711)).unwrap();
    }
    let repository_text = repository.to_str().unwrap();
    let backup = ["backup", "run", "--target", target, "--methods", methods];
    let usual = ["--work-seconds", "0.3", "--repository", repository_text];
    let ended = place.dbdyno(&[&backup[..], &usual[..], more].concat());
    assert_eq!(ended.status, 0, "{} {}", ended.stdout, ended.stderr);
    let exported = place.export("last");
    for point in points(&exported) {
        assert_eq!(faults(point), [""; 0]);
        let notes = point["notes"].as_array().unwrap();
        let proven = notes.iter().find(|note| note["code"] == proof).unwrap();
        let acknowledged = proven.get("acknowledged").or(proven.get("before"));
        assert!(acknowledged.unwrap().as_u64().unwrap() > 0, "{proven}");
    }
    assert_eq!(std::fs::read_dir(&repository).unwrap().count(), 0);
    points(&exported).to_vec()
}

/// A base backup starts as a server of its own and holds what was acknowledged.
#[test]
fn base_backups_of_a_server_are_restored_and_proven() {
    let points = proven_backups("postgres+local:", "basebackup-tar", &[], "restore_proven");
    assert_eq!(points.len(), 1);
}

/// What was acknowledged before a point in time is there, and nothing of what came after it.
#[test]
fn a_backup_is_restored_to_a_point_in_time() {
    let target = "postgres+local:?version=15";
    let asked = ["--point-in-time", "--channels", "2"];
    let points = proven_backups(target, "pgbackrest-lz4", &asked, "restored_to_point");
    let [point] = points.as_slice() else {
        panic!("one point")
    };
    let notes = point["notes"].as_array().unwrap();
    let told = notes
        .iter()
        .find(|note| note["code"] == "restored_to_point");
    assert!(told.unwrap()["after"].as_u64().unwrap() > 0);
    // The tool's own clock runs within that of dbdyno.
    let seconds = |name: &str| point[name].as_f64().unwrap();
    assert!(seconds("backup_tool_s") > 0.0 && seconds("backup_tool_s") <= seconds("elapsed_s"));
}

/// The tool's files become a server once its log is replayed, with as many channels as asked, and users at work.
#[test]
fn backups_of_mariadb_are_restored_and_proven() {
    let asked = ["--channels", "1,2", "--beside", "50", "--users", "2"];
    let points = proven_backups(
        "mysql+local:",
        "mariadb-backup",
        &asked,
        "restore_proven_beside",
    );
    let channels: Vec<&Value> = points.iter().map(|point| &point["threads"]).collect();
    assert_eq!(channels, [1, 2]);
    for point in &points {
        for figure in [
            "alone_per_s",
            "beside_per_s",
            "alone_us_p95",
            "beside_us_p95",
        ] {
            assert!(point[format!("foreground_{figure}")].as_f64().unwrap() > 0.0);
        }
    }
}
