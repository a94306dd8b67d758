//! Validation of concatenated SDs and of strides.

use std::collections::BTreeSet;
use std::path::Path;

use storage::engine::{Fault, Operation, Outcome, Proofs};
use storage::run::{Range, Rate, Run, Seek, Sizes, Stream, Stride, Validation, WeightedSize};

use super::common::{KIB, file, of, run, sd, stream, try_run};
use super::proofs::{
    BLOCK, SIZE, assert_one_at_a_time, block_at, change, journaled, reads_all, validated, with,
    writes_all,
};

/// Bytes at the end of the first SD that make no block: if they counted, all blocks of the second would be shifted.
const REST: u64 = 1000;

/// A run of `streams` over two concatenated, validated files of `blocks` blocks each.
fn together(folder: &Path, blocks: [u64; 2], streams: Vec<Stream>, validation: &Validation) -> Run {
    let paths = ["a", "b"].map(|name| folder.join(name));
    if !paths[0].exists() {
        file(folder, "a", blocks[0] * BLOCK + REST);
        file(folder, "b", blocks[1] * BLOCK);
    }
    let mut sds = vec![sd("sd1", &paths[0]), sd("sd2", &paths[1])];
    for sd in &mut sds {
        sd.content.validation = Some(validation.clone());
    }
    let streams = streams.into_iter().map(|stream| Stream {
        storage: vec![0, 1],
        ..stream
    });
    Run {
        threads_shared: Some(4),
        ..run(sds, streams.collect())
    }
}

fn all(folder: &Path, read_pct: f64, validation: &Validation) -> Run {
    let all = Stream {
        read_pct,
        seek: Seek::SequentialToEnd,
        ..stream("wd1", 0)
    };
    Run {
        elapsed_s: None,
        ..together(folder, [65, 64], vec![all], validation)
    }
}

fn places(outcome: &Outcome) -> BTreeSet<(&str, u64)> {
    let faults = outcome.faults.iter();
    faults
        .map(|f| match &f.what {
            Fault::Corrupt { offset_bytes, .. } => (f.sd.as_str(), *offset_bytes),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn a_corrupted_block_of_concatenated_sds_is_found_on_its_sd() {
    let folder = tempfile::tempdir().unwrap();
    let (proofs, plain) = (Proofs::default(), Validation::default());
    let written = with(&all(folder.path(), 0.0, &plain), &proofs);
    assert_eq!(written.faults, []);
    let read = with(&all(folder.path(), 100.0, &plain), &proofs);
    assert_eq!((read.faults_count, read.blocks_proven), (0, 65 + 64));

    let paths = ["a", "b"].map(|name| folder.path().join(name));
    // One block has the address of the other SD, and one byte differs in the last block before the second SD begins.
    change(&paths[1], 7 * BLOCK, &block_at(&paths[0], 7 * BLOCK));
    change(&paths[0], 64 * BLOCK + 600, b"behind the back");
    let read = with(&all(folder.path(), 100.0, &plain), &proofs);
    assert_eq!((read.faults_count, read.blocks_proven), (2, 65 + 64 - 2));
    let expected = BTreeSet::from([("sd1", 64 * BLOCK + 512), ("sd2", 7 * BLOCK)]);
    assert_eq!(places(&read), expected);
    let on_sd2 = read.faults.iter().find(|fault| fault.sd == "sd2").unwrap();
    let message = on_sd2.to_string();
    assert!(message.contains("it belongs to another SD"), "{message}");
}

/// Random and strided transfers of two sizes, some of which would straddle both SDs.
#[test]
fn a_mixed_load_over_concatenated_sds_proves_itself() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = [(4, 50.0), (8, 50.0)].map(|(kib, pct)| WeightedSize {
        bytes: kib * KIB,
        pct,
    });
    let mixed = Stream {
        read_pct: 50.0,
        sizes: Sizes::Weighted(sizes.to_vec()),
        ..stream("wd1", 0)
    };
    let striding = Stream {
        workload: "wd2".to_owned(),
        stride: Some(Stride {
            min_bytes: 1000,
            max_bytes: 30_000,
        }),
        ..mixed.clone()
    };
    let streams = vec![mixed, striding];
    let run = Run {
        rate: Rate::Fixed { iops: 2000.0 },
        ..together(folder.path(), [33, 32], streams, &Validation::default())
    };
    let outcome = with(&run, &Proofs::default());
    assert_eq!(outcome.faults, []);
    assert!(outcome.blocks_proven > 500, "{}", outcome.blocks_proven);
    let records = &outcome.trace.as_ref().unwrap().records;
    assert_one_at_a_time(records);
    for record in records {
        assert_eq!(record.offset_bytes % BLOCK, 0, "{record:?}");
        let end = (record.offset_bytes + record.size_bytes) / BLOCK;
        assert!(end <= [33, 32][record.storage], "{record:?}");
    }
    let lengths = std::fs::metadata(folder.path().join("a")).unwrap().len();
    assert_eq!(lengths, 33 * BLOCK + REST, "nothing grew");
}

#[test]
fn journals_of_concatenated_sds_prove_what_an_earlier_execution_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let journal = journaled(folder.path(), false);
    with(&all(folder.path(), 0.0, &journal), &Proofs::default());
    change(&folder.path().join("b"), 40 * BLOCK, &[0; 512]);
    let mut recovering = journaled(folder.path(), true);
    if let Some(journal) = &mut recovering.journal {
        journal.recover_only = true;
    }
    let proven = with(&all(folder.path(), 100.0, &recovering), &Proofs::default());
    assert_eq!(proven.faults_count, 1);
    assert_eq!(proven.blocks_proven, 65 + 64 - 1);
    assert_eq!(places(&proven), BTreeSet::from([("sd2", 40 * BLOCK)]));
}

#[test]
fn strides_lead_to_blocks_and_what_they_wrote_is_proven() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", SIZE);
    let striding = Stream {
        read_pct: 50.0,
        range: Range::Percent {
            low_pct: 0.0,
            high_pct: 50.0,
        },
        stride: Some(Stride {
            min_bytes: 1000,
            max_bytes: 100_000,
        }),
        ..stream("wd1", 0)
    };
    let run = Run {
        rate: Rate::Fixed { iops: 2000.0 },
        ..validated(&path, striding, Validation::default())
    };
    let proofs = Proofs::default();
    let outcome = with(&run, &proofs);
    assert_eq!(outcome.faults, []);
    assert!(outcome.blocks_proven > 300, "{}", outcome.blocks_proven);
    let writes = of(&outcome, 0).into_iter();
    let writes = writes.filter(|record| record.operation == Operation::Write);
    let written: BTreeSet<u64> = writes.map(|record| record.offset_bytes).collect();
    assert!(written.iter().all(|at| at % BLOCK == 0), "{written:?}");
    assert!(written.len() > 100, "{}", written.len());

    let changed = *written.last().unwrap();
    change(&path, changed + 99, b"behind the back");
    change(&path, SIZE - BLOCK, b"never written by the stream");
    let read = with(&reads_all(&path, Validation::default()), &proofs);
    assert_eq!(places(&read), BTreeSet::from([("sd1", changed)]));
    let proven = written.len() as u64 - 1;
    assert_eq!((read.faults_count, read.blocks_proven), (1, proven));
}

/// After a run that writes without stamps nothing can be proven, and nothing is called corrupted.
#[test]
fn what_is_written_without_validation_is_not_known_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", SIZE);
    let (proofs, plain) = (Proofs::default(), Validation::default());
    with(&writes_all(&path, plain.clone()), &proofs);
    let mut unproven = writes_all(&path, plain.clone());
    unproven.storage[0].content.validation = None;
    with(&unproven, &proofs);
    let read = with(&reads_all(&path, plain), &proofs);
    assert_eq!((read.faults_count, read.blocks_proven), (0, 0));
}

/// Every concatenated device keeps its first block, which has labels and tables, and nothing is written beyond its
/// end.
#[test]
fn the_first_block_of_every_concatenated_device_is_spared() {
    let mut sds = ["sd1", "sd2"].map(|name| sd(name, Path::new("/dev/null")));
    for sd in &mut sds {
        sd.size_bytes = Some(16 * BLOCK);
    }
    let all = Stream {
        storage: vec![0, 1],
        read_pct: 0.0,
        seek: Seek::SequentialToEnd,
        ..stream("wd1", 0)
    };
    let mut devices = Run {
        threads_shared: Some(4),
        elapsed_s: None,
        ..run(sds.to_vec(), vec![all])
    };
    let outcome = try_run(&devices, |options| options.trace_max = 1000).unwrap();
    let done: BTreeSet<(usize, u64)> = of(&outcome, 0)
        .iter()
        .map(|record| (record.storage, record.offset_bytes / BLOCK))
        .collect();
    let expected = (0..2).flat_map(|sd| (1..16).map(move |block| (sd, block)));
    assert_eq!(done, expected.collect());

    devices.storage[1].size_bytes = Some(BLOCK);
    let message = try_run(&devices, |_| {}).unwrap_err().to_string();
    assert!(message.contains("sd1 and sd2"), "{message}");
}
