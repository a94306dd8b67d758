//! Requests of a device, timed by the kernel and checked against its own counters.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::Command;

use host::block::{BlockError, BlockWatch, DeviceTimes, Operation, Phase};
use host::counters::{DiskCounters, Reader};

#[repr(align(4096))]
struct Block([u8; 65536]);

/// A loop device over a file next to the build output, which nobody else uses; removed when dropped.
struct Device {
    path: String,
    _directory: tempfile::TempDir,
}

impl Device {
    fn new() -> Result<Self, String> {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let backing = directory.path().join("device");
        File::create(&backing).unwrap().set_len(8 << 20).unwrap();
        let made = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(&backing)
            .output()
            .map_err(|e| format!("losetup: {e}"))?;
        if !made.status.success() {
            let said = String::from_utf8_lossy(&made.stderr);
            return Err(format!("no loop device can be made here: {said}"));
        }
        Ok(Self {
            path: String::from_utf8(made.stdout).unwrap().trim().to_owned(),
            _directory: directory,
        })
    }

    fn name(&self) -> &str {
        self.path.trim_start_matches("/dev/")
    }

    fn open(&self) -> File {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_DIRECT);
        options.open(&self.path).unwrap()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.path]).status();
    }
}

fn work(file: &File) {
    let mut block = Box::new(Block([7; 65536]));
    for n in 0..64 {
        file.write_all_at(&block.0, n * 65536).unwrap();
        testing::sync_data(file);
    }
    for n in 0..256 {
        file.read_exact_at(&mut block.0[..4096], n * 8192).unwrap();
    }
}

fn counters(reader: &mut Reader) -> DiskCounters {
    *reader.snapshot().disks.get(0).unwrap()
}

/// A user without the right to load a program gets an error that says so; everything else is a fault.
fn watch(device: &str) -> Result<BlockWatch, String> {
    match BlockWatch::open(&[device]) {
        Ok(watch) => Ok(watch),
        Err(error @ BlockError::NotAllowed) => {
            assert!(error.to_string().contains("CAP_BPF"));
            Err(error.to_string())
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn requests_are_those_that_the_kernel_counts() {
    let device = match Device::new() {
        Ok(device) => device,
        Err(reason) => testing::skip!("{reason}"),
    };
    let watch = match watch(device.name()) {
        Ok(watch) => watch,
        Err(reason) => testing::skip!("{reason}"),
    };
    let file = device.open();
    let mut reader = Reader::open(Path::new("/"), Some(device.name()));
    let (counted, begin) = (counters(&mut reader), watch.read().unwrap().remove(0));
    work(&file);
    let (end, now_counted) = (watch.read().unwrap().remove(0), counters(&mut reader));

    let times = end.since(&begin);
    let count = |operation| times.of(operation, Phase::Whole).count();
    assert_eq!(count(Operation::Read), now_counted.reads - counted.reads);
    assert_eq!(
        count(Operation::Write) + count(Operation::Flush),
        now_counted.writes - counted.writes
    );
    assert!(
        count(Operation::Read) >= 256
            && count(Operation::Write) >= 64
            && count(Operation::Flush) > 0
    );

    let sum_ms = |operation| times.of(operation, Phase::Whole).sum_ns() / 1_000_000;
    // The kernel's own account begins before and ends after the times here, and is longer if it is interrupted
    // between. It rounds down.
    let counted_ms = now_counted.read_ms - counted.read_ms;
    let timed_ms = sum_ms(Operation::Read);
    assert!(timed_ms <= counted_ms + 1, "{timed_ms} {counted_ms}");
    assert!(times.of(Operation::Read, Phase::Whole).sum_ns() > 0);
    classes_and_phases(&times);
}

fn classes_and_phases(times: &DeviceTimes) {
    let sizes: Vec<_> = DeviceTimes::sizes().collect();
    assert_eq!(sizes[0], Some(4096));
    assert_eq!(sizes[3], Some(131_072));
    assert_eq!(sizes[5], None);
    assert!(times.of_class(Operation::Read, 0, Phase::Whole).count() >= 256);
    assert!(times.of_class(Operation::Write, 3, Phase::Whole).count() >= 32);
    for operation in Operation::ALL {
        let [whole, queue, device] =
            [Phase::Whole, Phase::Queue, Phase::Device].map(|phase| times.of(operation, phase));
        // A device reports the time of issue for all requests, or for none. A request that is just being counted may
        // be in some of the three.
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
    let device = match Device::new() {
        Ok(device) => device,
        Err(reason) => testing::skip!("{reason}"),
    };
    let watch = match watch(device.name()) {
        Ok(watch) => watch,
        Err(reason) => testing::skip!("{reason}"),
    };
    let file = device.open();
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
