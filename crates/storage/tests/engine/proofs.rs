//! Data validation and journals find what others change, with its position and difference.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use archive::remark::PendingWrites;
use storage::engine::{Ended, Fault, Operation, Outcome, Proofs, TraceRecord};
use storage::run::{Journal, Rate, Run, Seek, Sizes, Stream, Validation, WeightedSize};

use super::common::{KIB, MIB, file, one, sd, stream, try_run, until};
use testing::Says;

pub const BLOCK: u64 = 4 * KIB;
pub const SIZE: u64 = 2 * MIB;

pub fn validated(path: &Path, stream: Stream, validation: Validation) -> Run {
    let mut run = one(path, stream);
    run.storage[0].content.validation = Some(validation);
    run
}

pub fn writes_all(path: &Path, validation: Validation) -> Run {
    let all = Stream {
        read_pct: 0.0,
        seek: Seek::SequentialToEnd,
        ..stream("writer", 0)
    };
    Run {
        elapsed_s: None,
        ..validated(path, all, validation)
    }
}

pub fn reads_all(path: &Path, validation: Validation) -> Run {
    let mut run = writes_all(path, validation);
    run.streams[0].read_pct = 100.0;
    run
}

pub fn with(run: &Run, proofs: &Proofs) -> Outcome {
    try_run(run, |options| {
        options.trace_max = 1_000_000;
        options.proofs = Some(proofs);
    })
    .unwrap()
}

pub fn change(path: &Path, at: u64, bytes: &[u8]) {
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(bytes, at).unwrap();
}

pub fn block_at(path: &Path, at: u64) -> Vec<u8> {
    let mut block = vec![0; BLOCK as usize];
    std::fs::File::open(path)
        .unwrap()
        .read_exact_at(&mut block, at)
        .unwrap();
    block
}

#[test]
fn a_mixed_load_proves_itself_either_way() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = [(4, 70.0), (8, 30.0)].map(|(kib, pct)| WeightedSize {
        bytes: kib * KIB,
        pct,
    });
    for without_ring in [false, true] {
        let path = file(folder.path(), "data", SIZE);
        let mixed = Stream {
            read_pct: 50.0,
            sizes: Sizes::Weighted(sizes.to_vec()),
            ..stream("wd1", 0)
        };
        let run = Run {
            rate: Rate::Fixed { iops: 2000.0 },
            ..validated(&path, mixed, Validation::default())
        };
        let outcome = until(3000, &run, |options| options.without_ring = without_ring);
        assert_eq!(outcome.faults, []);
        // Most of the 512 blocks are written early, and read or overwritten from then on.
        assert!(outcome.blocks_proven > 1000, "{}", outcome.blocks_proven);
        // Blocks are read before they are overwritten, so there are more reads than requested.
        let records = &outcome.trace.as_ref().unwrap().records;
        assert_one_at_a_time(records);
        let reads = records.iter().filter(|r| r.operation == Operation::Read);
        let requested = outcome.all_cells[0].of(Operation::Read).operations;
        assert!(reads.count() as u64 > requested + 500);
    }
}

/// Asserts that no two I/Os overlap on a block.
pub fn assert_one_at_a_time(records: &[TraceRecord]) {
    let mut last_end: HashMap<(usize, u64), u64> = HashMap::new();
    let mut in_order = records.to_vec();
    in_order.sort_by_key(|r| r.completed_ns);
    for record in &in_order {
        let end = record.offset_bytes + record.size_bytes;
        for block in record.offset_bytes / BLOCK..end / BLOCK {
            let place = (record.storage, block);
            let end = last_end.insert(place, record.completed_ns).unwrap_or(0);
            assert!(record.submitted_ns >= end, "{record:?} overlaps");
        }
    }
}

/// Outcome of a run over a file that was written before and then changed by `damage`.
fn damaged(validation: Validation, damage: impl Fn(&Path)) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", SIZE);
    let proofs = Proofs::default();
    let written = with(&writes_all(&path, validation.clone()), &proofs);
    assert_eq!(written.ended, Ended::StreamsDone);
    assert_eq!(written.faults_count, 0);
    let read = with(&reads_all(&path, validation.clone()), &proofs);
    assert_eq!((read.faults_count, read.blocks_proven), (0, SIZE / BLOCK));
    with(&writes_all(&path, validation.clone()), &proofs);
    damage(&path);
    with(&reads_all(&path, validation), &proofs)
}

#[test]
fn a_changed_byte_is_found_with_its_place() {
    let at = 17 * BLOCK + 512 * 3 + 300;
    let outcome = damaged(Validation::default(), |path| {
        change(path, at, b"\xff\x00\xff")
    });
    assert_eq!(outcome.faults_count, 1);
    assert_eq!(outcome.blocks_proven, SIZE / BLOCK - 1);
    let fault = &outcome.faults[0];
    // The operation is the I/O's, and the position that of a sector in it.
    assert_eq!(fault.operation, Operation::Read);
    assert!((fault.offset_bytes..fault.offset_bytes + fault.size_bytes).contains(&at));
    let message = fault.to_string();
    let where_to_look = format!("corrupted block at offset {}:", 17 * BLOCK + 512 * 3);
    message.says_all(&["SD sd1", &where_to_look, "corrupted block", "byte 30"]);
}

#[test]
fn a_block_in_the_wrong_place_and_a_lost_write_are_named() {
    let outcome = damaged(Validation::default(), |path| {
        change(path, 9 * BLOCK, &block_at(path, 8 * BLOCK));
    });
    let message = outcome.faults[0].to_string();
    message.says(&format!("carries the address {}", 8 * BLOCK));

    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", SIZE);
    let proofs = Proofs::default();
    with(&writes_all(&path, Validation::default()), &proofs);
    let old = block_at(&path, 5 * BLOCK);
    with(&writes_all(&path, Validation::default()), &proofs);
    change(&path, 5 * BLOCK, &old);
    let outcome = with(&writes_all(&path, Validation::default()), &proofs);
    let message = outcome.faults[0].to_string();
    message.says("of generation 1, but 2 was written last");
    assert_eq!(
        outcome.faults[0].operation,
        Operation::Read,
        "found by the read before it was written over"
    );
}

#[test]
fn zeros_may_be_passed_over() {
    let zeros = |path: &Path| change(path, 3 * BLOCK, &[0; BLOCK as usize]);
    let message = damaged(Validation::default(), zeros).faults[0].to_string();
    assert!(message.contains("zeros"), "{message}");
    let ignoring = Validation {
        ignore_zero_reads: true,
        ..Validation::default()
    };
    assert_eq!(damaged(ignoring, zeros).faults_count, 0);
}

/// Order of reads and writes of each block on the disk, as letters.
fn order(validation: Validation) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", SIZE);
    let proofs = Proofs::default();
    with(&writes_all(&path, validation.clone()), &proofs);
    let outcome = with(&writes_all(&path, validation), &proofs);
    assert_eq!(
        outcome.all_cells[0].of(Operation::Write).operations,
        SIZE / BLOCK
    );
    assert_eq!(
        outcome.all_cells[0].of(Operation::Read).operations,
        0,
        "proofs are not counted"
    );
    let mut records = outcome.trace.unwrap().records;
    records.sort_by_key(|r| r.submitted_ns);
    let mut letters: HashMap<u64, String> = HashMap::new();
    for record in records {
        let letter = if record.operation == Operation::Read {
            'r'
        } else {
            'w'
        };
        letters.entry(record.offset_bytes).or_default().push(letter);
    }
    letters.into_values().collect()
}

#[test]
fn writes_are_proven_before_or_after_as_requested() {
    let all_are = |validation: Validation, wanted: &str| {
        let orders = order(validation);
        assert_eq!(orders.len() as u64, SIZE / BLOCK);
        assert!(
            orders.iter().all(|order| order == wanted),
            "{wanted}: {orders:?}"
        );
    };
    all_are(Validation::default(), "rw");
    let no_preread = Validation {
        no_preread: true,
        ..Validation::default()
    };
    all_are(no_preread.clone(), "w");
    all_are(
        Validation {
            read_after_write: true,
            ..no_preread
        },
        "wr",
    );
}

pub fn journaled(folder: &Path, recover: bool) -> Validation {
    Validation {
        no_preread: true,
        journal: Some(Journal {
            directory: Some(folder.to_owned()),
            recover,
            ..Journal::default()
        }),
        ..Validation::default()
    }
}

/// A later execution, without knowledge in memory, proves the journal's blocks before it begins.
#[test]
fn a_journal_proves_what_an_earlier_execution_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", SIZE);
    with(
        &writes_all(&path, journaled(folder.path(), false)),
        &Proofs::default(),
    );
    let mut recovering = journaled(folder.path(), true);
    if let Some(journal) = &mut recovering.journal {
        journal.recover_only = true;
    }
    let proven = with(&reads_all(&path, recovering.clone()), &Proofs::default());
    assert_eq!(proven.blocks_proven, SIZE / BLOCK);
    assert_eq!(proven.faults_count, 0);
    assert_eq!(
        proven.all_cells[0].all().operations,
        0,
        "and does nothing else"
    );

    change(&path, 100 * BLOCK + 77, b"behind the back");
    let outcome = with(
        &reads_all(&path, journaled(folder.path(), true)),
        &Proofs::default(),
    );
    assert_eq!(
        outcome.faults_count, 1,
        "reported once, and then nothing is known of it"
    );
    assert_eq!(outcome.faults[0].offset_bytes, 100 * BLOCK);
    assert!(matches!(outcome.faults[0].what, Fault::Corrupt { .. }));
    assert_eq!(
        outcome.all_cells[0].all().operations,
        SIZE / BLOCK,
        "then the run"
    );
}

const CHILD: &str = "DBDYNO_TEST_JOURNAL_FOLDER";
const ENTRIES: u64 = 400;

/// After a kill during writes, blocks that the journal calls stable are correct, and pending ones are old or new.
#[test]
fn a_killed_execution_is_recovered() {
    if let Some(folder) = std::env::var_os(CHILD) {
        return writes_until_killed(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "data", SIZE);
    let mut child = testing::again!()
        .env(CHILD, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let path = folder.path().join("sd1.jnl");
    let begin = Instant::now();
    let entries = || std::fs::metadata(&path).map_or(0, |m| m.len() / 16);
    while entries() < ENTRIES && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(entries() >= ENTRIES, "the journal was being written");
    let (mut done, mut pending) = (HashSet::new(), HashSet::new());
    for entry in std::fs::read(&path).unwrap().chunks_exact(16) {
        let block = u64::from_le_bytes(entry[..8].try_into().unwrap());
        if entry[9] == 1 {
            pending.remove(&block);
            done.insert(block);
        } else {
            pending.insert(block);
        }
    }
    let run = reads_all(&folder.path().join("data"), journaled(folder.path(), true));
    let outcome = with(&run, &Proofs::default());
    assert_eq!(outcome.faults, []);
    let [found] = &outcome.recovered[..] else {
        panic!("{:?}", outcome.recovered);
    };
    assert_eq!(found.proven, done.difference(&pending).count() as u64);
    assert_eq!(found.corrupted, 0);
    let PendingWrites {
        count,
        new,
        old,
        first,
        ignored,
    } = found.pending;
    assert_eq!((count, ignored), (pending.len() as u64, 0));
    assert_eq!(new + old + first, count);
    let threads = u64::from(run.storage[0].threads);
    assert!(count <= threads, "{count} writes were under way");
}

fn writes_until_killed(folder: &Path) {
    let writes = Stream {
        read_pct: 0.0,
        ..stream("wd1", 0)
    };
    let endless = Run {
        elapsed_s: Some(600),
        ..validated(&folder.join("data"), writes, journaled(folder, false))
    };
    with(&endless, &Proofs::default());
}

#[test]
fn what_cannot_be_validated_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", SIZE);
    let sizes = [(4, 50.0), (6, 50.0)].map(|(kib, pct)| WeightedSize {
        bytes: kib * KIB,
        pct,
    });
    let uneven = Stream {
        sizes: Sizes::Weighted(sizes.to_vec()),
        ..stream("wd1", 0)
    };
    let message = |run: &Run| try_run(run, |_| {}).unwrap_err().to_string();
    let uneven = message(&validated(&path, uneven, Validation::default()));
    assert!(uneven.contains("multiples of the smallest"), "{uneven}");
    let nowhere = folder.path().join("nowhere");
    let no_journal = message(&reads_all(&path, journaled(&nowhere, true)));
    assert!(no_journal.contains("sd1.map"), "{no_journal}");
    // The block size of one SD of a space is that of all of them.
    let mut together = validated(&path, stream("wd1", 0), Validation::default());
    let second = sd("sd2", &file(folder.path(), "more", SIZE));
    together.storage.push(second);
    together.threads_shared = Some(4);
    together.streams.push(Stream {
        sizes: Sizes::Fixed(6 * KIB),
        ..stream("wd2", 1)
    });
    let together = message(&together);
    assert!(together.contains("multiples of the smallest"), "{together}");
    let mut twice = validated(&path, stream("wd1", 0), Validation::default());
    twice.storage.push(sd("sd2", &path));
    twice.streams.push(stream("wd2", 1));
    let refused = message(&twice);
    refused.says("the same file or device as SD sd1");
    twice.storage[0].content.validation = None;
    twice
        .streams
        .iter_mut()
        .for_each(|stream| stream.share = 0.5);
    try_run(&twice, |_| {}).unwrap();
}
