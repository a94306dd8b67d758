//! Servers whose log and other files lie apart from their data.

use std::fs;
use std::path::Path;

use crate::common::{KINDS, Parent, kinds};

/// Names of the files in a directory of a server's own.
fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory.join("data")).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.collect()
}

#[test]
fn a_log_apart_is_written_there_and_stays_with_its_data() {
    for (kind, purposes, file) in [
        (KINDS[0], &["log"][..], "000000010000000000000001"),
        (KINDS[1], &["log", "undo", "temporary"][..], "ib_logfile0"),
        (KINDS[2], &["log", "undo", "temporary"][..], "#innodb_redo"),
    ] {
        if !kinds().any(|there| there.about().name == kind.about().name) {
            continue;
        }
        let parent = Parent::new();
        let at = |name: &str| parent.path().join(name);
        let places = |ending: &str| {
            let places = purposes
                .iter()
                .map(|it| format!("place.{it}={}{ending}", at(it).display()));
            places.collect::<Vec<_>>().join("&")
        };
        let rest = format!("{}?{}", at("server").display(), places(""));
        let server = parent.start(kind, &rest).unwrap();
        let written = files(&at("log"));
        assert!(written.iter().any(|name| name == file), "{written:?}");
        if purposes.contains(&"undo") {
            let is_undo = |name: &String| name.replace('_', "") == "undo001";
            assert!(files(&at("undo")).iter().any(is_undo));
        }
        let beside = files(&at("server"));
        assert!(!beside.iter().any(|name| name == file), "{beside:?}");
        assert!(server.keeps_with_its_data_but(&[]).is_err());
        server.restart().unwrap();
        drop(server);
        // Again on the same data and log.
        drop(parent.start(kind, &rest).unwrap());
        // Without them it would not be whole.
        let bare = at("server").display().to_string();
        let refused = parent.refusal(kind, &bare);
        assert!(refused.contains("was made with place.log="), "{refused}");
        // With a log that is not its own it would not be the same database.
        let other = format!("{}?{}", at("server").display(), places("-new"));
        let refused = parent.refusal(kind, &other);
        assert!(refused.contains("name these places again"), "{refused}");
        assert!(files(&at("log")).iter().any(|name| name == file));
    }
}

#[test]
fn places_that_make_no_sense_are_refused_before_anything_is_made() {
    let parent = Parent::new();
    let refused = |kind, rest: &str| parent.spec(kind, rest).unwrap_err().message;
    for (kind, rest, why) in [
        (
            KINDS[0],
            "/data/pg?place.undo=/undo",
            "place.undo: PostgreSQL keeps apart from its data: indexes, log, temporary, table.NAME",
        ),
        (
            KINDS[1],
            "/data/my?place.table.Stock;=/stock",
            "place.table.Stock;: a table has a name of 1 to 48 lower-case letters, digits and underscores",
        ),
        (
            KINDS[0],
            "/data/pg?place.log=/log&place.temporary=/log",
            "test+local:/data/pg?place.log=/log&place.temporary=/log names /log twice; each place needs a directory of its own",
        ),
        (
            KINDS[1],
            "/data/my?place.log=log",
            "place.log=log is not an absolute path",
        ),
        (
            KINDS[0],
            "?place.log=/log",
            "test+local:?place.log=/log puts files apart from its data; name the directory of the data too, after the colon",
        ),
    ] {
        assert_eq!(refused(kind, rest), why);
    }
}
