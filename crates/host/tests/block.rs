//! Requests of the device under this machine's files, timed by the kernel and held against its own counters.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use host::block::{BlockError, BlockWatch, DeviceTimes, Operation, Phase};
use host::counters::{DiskCounters, Reader};

/// A buffer whose address the device takes.
#[repr(align(4096))]
struct Block([u8; 65536]);

fn file() -> (tempfile::TempDir, File) {
    // Beside what is built: a directory for temporary files may lie in memory.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    let file = options.custom_flags(libc::O_DIRECT);
    let file = file.open(directory.path().join("blocks")).unwrap();
    (directory, file)
}

/// 64 writes of 64 KiB, each made to last, then 256 reads of 4 KiB.
fn work(file: &File) {
    let mut block = Box::new(Block([7; 65536]));
    for n in 0..64 {
        file.write_all_at(&block.0, n * 65536).unwrap();
        file.sync_data().unwrap();
    }
    for n in 0..256 {
        file.read_exact_at(&mut block.0[..4096], n * 8192).unwrap();
    }
}

fn counters(reader: &mut Reader) -> DiskCounters {
    reader.snapshot().disk.unwrap()
}

/// Who may not load a program is told so; everything else is a fault.
fn watch(device: &str) -> Option<BlockWatch> {
    match BlockWatch::open(&[device]) {
        Ok(watch) => Some(watch),
        Err(error @ BlockError::NotAllowed) => {
            // SAFETY: geteuid has no preconditions.
            assert_ne!(unsafe { libc::geteuid() }, 0, "{error}");
            assert!(error.to_string().contains("CAP_BPF"));
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn requests_are_those_that_the_kernel_counts() {
    let (directory, file) = file();
    let device = host::device_of(directory.path()).unwrap();
    let Some(watch) = watch(&device) else { return };
    let mut reader = Reader::open(Path::new("/"), Some(&device));
    // The kernel's counters before and after each reading, because others use the device as well.
    let first = counters(&mut reader);
    let begin = watch.read().unwrap().remove(0);
    let second = counters(&mut reader);
    work(&file);
    let third = counters(&mut reader);
    let end = watch.read().unwrap().remove(0);
    let fourth = counters(&mut reader);

    let seen = end.since(&begin);
    let count = |operation| seen.of(operation, Phase::Whole).count();
    // A request that is just being completed may be counted on one side alone.
    let within = |seen: u64, least: u64, most: u64| {
        assert!(
            (least.saturating_sub(4)..=most + 4).contains(&seen),
            "{least} {seen} {most}"
        );
    };
    within(
        count(Operation::Read),
        third.reads - second.reads,
        fourth.reads - first.reads,
    );
    within(
        count(Operation::Write) + count(Operation::Flush),
        third.writes - second.writes,
        fourth.writes - first.writes,
    );
    assert!(
        count(Operation::Read) >= 256
            && count(Operation::Write) >= 64
            && count(Operation::Flush) > 0
    );

    let sum_ms = |operation| seen.of(operation, Phase::Whole).sum_ns() / 1_000_000;
    within(
        sum_ms(Operation::Read),
        third.read_ms - second.read_ms,
        fourth.read_ms - first.read_ms,
    );
    classes_and_phases(&seen);
}

fn classes_and_phases(seen: &DeviceTimes) {
    let sizes: Vec<_> = DeviceTimes::sizes().collect();
    assert_eq!(
        (sizes[0], sizes[3], sizes[5]),
        (Some(4096), Some(131_072), None)
    );
    assert!(seen.of_class(Operation::Read, 0, Phase::Whole).count() >= 256);
    assert!(seen.of_class(Operation::Write, 3, Phase::Whole).count() >= 32);
    for operation in Operation::ALL {
        let [whole, queue, device] =
            [Phase::Whole, Phase::Queue, Phase::Device].map(|phase| seen.of(operation, phase));
        // A device that tells when requests are issued tells it of all, or of none. One that is just being
        // counted may be in some of the three.
        if device.count() > 0 {
            let of_all = queue.count().max(device.count()).max(whole.count());
            assert!(of_all - queue.count().min(device.count()).min(whole.count()) <= 4);
            let parts_ns = (queue.sum_ns() + device.sum_ns()) as f64;
            assert!((parts_ns / whole.sum_ns() as f64 - 1.0).abs() < 0.1);
        }
        if whole.count() > 0 {
            let histogram = whole.histogram();
            assert_eq!(histogram.count(), whole.count());
            let mean_us = whole.mean_us().unwrap();
            let by_buckets: f64 = whole
                .buckets()
                .map(|(ns, n)| ns as f64 * n as f64 / 1e3)
                .sum();
            let by_buckets = by_buckets / whole.count() as f64;
            assert!(
                (by_buckets / mean_us - 1.0).abs() < 0.04,
                "{by_buckets} {mean_us}"
            );
        }
    }
}

#[test]
fn counting_costs_little_and_only_while_it_lasts() {
    let (directory, file) = file();
    let device = host::device_of(directory.path()).unwrap();
    let Some(watch) = watch(&device) else { return };
    let (runs, ns) = watch.cost_ns(|| work(&file)).unwrap();
    println!("{ns:.0} ns for each of {runs} requests");
    assert!(runs >= 320, "{runs}");
    assert!(ns > 0.0);
}

#[test]
fn devices_that_cannot_be_watched_are_named() {
    let error = BlockWatch::open(&["nonesuch"]).unwrap_err().to_string();
    assert_eq!(error, "there is no block device \"nonesuch\" in /sys/block");
    let error = BlockWatch::open(&["../../etc"]).unwrap_err().to_string();
    assert!(error.contains("no block device"), "{error}");
    let error = BlockWatch::open(&[]).unwrap_err().to_string();
    assert!(error.contains("one to 8"), "{error}");
}
