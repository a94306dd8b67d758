//! A power failure at any moment of a run: synced data survive, of the rest any part may survive. Every archive opens, every reported point
//! is stored, and the resumed run is complete.
//!
//! A run is executed once while `power_log.c` logs its file operations. The log gives the state of the disk at any moment: everything up to
//! the last sync of each file, and any sectors of later writes. A new file exists once it was synced, as on the file systems of Linux.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::*;

const CUTS_DEFAULT: u32 = 12;
const CUTS_OF_A_RUN: u32 = 12;
/// Atomic unit of a disk's writes.
const SECTOR_BYTES: usize = 512;

enum Deed {
    Wrote { at: u64, bytes: Vec<u8> },
    Truncated(u64),
    Synced,
    Named,
    Removed,
    Said(String),
}

struct Record {
    /// Identifies a file under any name.
    inode: u64,
    path: PathBuf,
    deed: Deed,
}

/// A file: its durable state, and the later operations.
#[derive(Default)]
struct Durable<'r> {
    paths: Vec<&'r PathBuf>,
    content: Option<Vec<u8>>,
    pending: Vec<&'r Deed>,
}

#[derive(Default, Debug)]
struct Losses {
    /// Cuts after the entry of the run.
    during_the_run: u32,
    sectors: u64,
}

#[test]
fn a_run_whose_disk_loses_power_at_any_moment_is_resumed_to_its_end() {
    let cuts = std::env::var("DBDYNO_CUTS").map_or(CUTS_DEFAULT, |n| n.parse().unwrap());
    let tools = tempfile::tempdir().unwrap();
    let library = preloaded(tools.path());
    let mut losses = Losses::default();
    for run in 0..cuts.div_ceil(CUTS_OF_A_RUN) {
        let numbers = run * CUTS_OF_A_RUN..cuts.min((run + 1) * CUTS_OF_A_RUN);
        cut_and_resume(numbers, &library, &mut losses);
    }
    println!(
        "{cuts} power cuts: {} behind the entry of the run, {} sectors lost",
        losses.during_the_run, losses.sectors
    );
    assert!(losses.during_the_run * 4 >= cuts, "{losses:?}");
    assert!(losses.sectors > 0, "{losses:?}");
}

/// Compiles the library that logs a command's file operations.
fn preloaded(directory: &Path) -> PathBuf {
    let library = directory.join("power_log.so");
    let source = PathBuf::from("tests/kill/power_log.c");
    let compiled = Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-Wall", "-Werror", "-o"])
        .args([&library, &source])
        .args(["-ldl", "-lpthread"])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{errors}");
    library
}

fn cut_and_resume(numbers: std::ops::Range<u32>, preloaded: &Path, losses: &mut Losses) {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", PLAN);
    let url = workspace.url("sqlite", "bench.db");
    let run = ["run", &plan, "--target", &url];
    let resume = ["run", "--resume", "last"];
    let log = tempfile::NamedTempFile::new().unwrap();
    let root = workspace.archive().parent().unwrap().to_owned();
    let mut command = workspace.command(&run);
    command
        .env("LD_PRELOAD", preloaded)
        .env("POWER_LOG", log.path())
        .env("POWER_LOG_OF", &root)
        .stdout(Stdio::null());
    let ended = Ended::of(command.output().unwrap());
    assert_done(&ended, "the run that is written down");
    let records = read_log(&std::fs::read(log.path()).unwrap());
    assert!(records.len() > 100, "{} records", records.len());
    let of_archive: Vec<usize> = (0..records.len())
        .filter(|at| is_of_archive(&records[*at].path))
        .collect();
    for number in numbers {
        let mut random = Random::stream(SEED, u64::from(number) + (1 << 32));
        // Every other cut falls on a write to the archive, which is a small part of the log.
        let cut = if number.is_multiple_of(2) {
            random.below(records.len() as u64 + 1) as usize
        } else {
            of_archive[random.below(of_archive.len() as u64) as usize] + 1
        };
        let context = format!("cut {number} behind {cut} of {} records", records.len());
        remove_all(&records);
        let said = restore(&records[..cut], &mut random, losses);
        let Some(before) = finished(&workspace) else {
            assert_eq!(reported(&said), 0, "{context}: {said}");
            assert_done(&workspace.dbdyno(&run), &context);
            assert_whole(&workspace, &[], &context);
            continue;
        };
        losses.during_the_run += 1;
        assert_kept(&before, reported(&said), &context);
        if before["run"]["state"] != "complete" {
            assert_done(&workspace.dbdyno(&resume), &context);
        }
        assert_whole(&workspace, points(&before), &context);
    }
}

/// True for the archive, its journals, and its temporary file.
fn is_of_archive(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("archive") || name.ends_with(".new")
}

fn read_log(mut log: &[u8]) -> Vec<Record> {
    const HEAD_BYTES: usize = 25;
    let mut records = Vec::new();
    while let Some((head, rest)) = log.split_at_checked(HEAD_BYTES) {
        let number = |at: usize, bytes: usize| {
            let mut le = [0; 8];
            le[..bytes].copy_from_slice(&head[at..at + bytes]);
            u64::from_le_bytes(le)
        };
        let (path, rest) = rest.split_at(number(17, 4) as usize);
        let (data, rest) = rest.split_at(number(21, 4) as usize);
        log = rest;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let deed = match head[0] {
            b'w' => Deed::Wrote {
                at: number(1, 8),
                bytes: data.to_vec(),
            },
            b't' => Deed::Truncated(number(1, 8)),
            b's' => Deed::Synced,
            b'n' => Deed::Named,
            b'r' => Deed::Removed,
            b'e' => Deed::Said(text(data)),
            other => panic!("an unknown deed {other}"),
        };
        records.push(Record {
            inode: number(9, 8),
            path: PathBuf::from(text(path)),
            deed,
        });
    }
    assert!(log.is_empty(), "the log is torn");
    records
}

/// Removes all files of a run, and shared memory of database sessions.
fn remove_all(records: &[Record]) {
    let writes = |record: &&Record| !matches!(record.deed, Deed::Named);
    let written: HashSet<u64> = records
        .iter()
        .filter(writes)
        .map(|record| record.inode)
        .collect();
    let paths = records
        .iter()
        .filter(|record| written.contains(&record.inode));
    let paths: HashSet<&PathBuf> = paths.map(|record| &record.path).collect();
    for path in paths {
        for path in [path.clone(), format!("{}-shm", path.display()).into()] {
            let is_away = std::fs::remove_file(&path).is_ok() || !path.is_file();
            assert!(is_away, "{}", path.display());
        }
    }
}

/// Creates the files in the state after these records and a loss of power; returns the output up to then.
fn restore(records: &[Record], random: &mut Random, losses: &mut Losses) -> String {
    // Files are in order of appearance; the inode of a removed file may be reused.
    let mut files: Vec<Durable> = Vec::new();
    let mut newest: HashMap<u64, usize> = HashMap::new();
    let mut said = String::new();
    for Record { inode, path, deed } in records {
        if let Deed::Said(text) = deed {
            said.push_str(text);
            continue;
        }
        let index = *newest.entry(*inode).or_insert_with(|| {
            files.push(Durable::default());
            files.len() - 1
        });
        let file = &mut files[index];
        if file.paths.last() != Some(&path) {
            file.paths.push(path);
        }
        match deed {
            Deed::Synced => {
                for deed in std::mem::take(&mut file.pending) {
                    apply(&mut file.content, deed);
                }
                file.content.get_or_insert_default();
            }
            Deed::Named => {}
            deed => file.pending.push(deed),
        }
        if let Deed::Removed = deed {
            newest.remove(inode);
        }
    }
    // All, some or none of the other data may have reached the disk.
    let share = [0.0, 0.5, 1.0][random.below(3) as usize];
    for mut file in files {
        for deed in file.pending {
            survive(&mut file.content, deed, share, random, losses);
        }
        if let (Some(content), Some(path)) = (file.content, file.paths.last())
            && !path.is_dir()
            && !path.to_string_lossy().ends_with("-shm")
        {
            std::fs::write(path, content).unwrap();
        }
    }
    said
}

fn apply(content: &mut Option<Vec<u8>>, deed: &Deed) {
    match deed {
        Deed::Wrote { at, bytes } => write(content, *at as usize, bytes),
        Deed::Truncated(bytes) => content.get_or_insert_default().resize(*bytes as usize, 0),
        _ => *content = None,
    }
}

fn write(content: &mut Option<Vec<u8>>, at: usize, bytes: &[u8]) {
    let content = content.get_or_insert_default();
    if content.len() < at + bytes.len() {
        content.resize(at + bytes.len(), 0);
    }
    content[at..at + bytes.len()].copy_from_slice(bytes);
}

/// The part of an operation that reaches the disk without a sync.
fn survive(
    content: &mut Option<Vec<u8>>,
    deed: &Deed,
    share: f64,
    random: &mut Random,
    losses: &mut Losses,
) {
    let mut reaches = || (random.below(1 << 20) as f64) < share * f64::from(1 << 20);
    let Deed::Wrote { at, bytes } = deed else {
        if reaches() {
            apply(content, deed);
        }
        return;
    };
    let mut begin = 0;
    while begin < bytes.len() {
        let to_boundary = SECTOR_BYTES - (*at as usize + begin) % SECTOR_BYTES;
        let end = bytes.len().min(begin + to_boundary);
        if reaches() {
            write(content, *at as usize + begin, &bytes[begin..end])
        } else {
            losses.sectors += 1
        }
        begin = end;
    }
}
