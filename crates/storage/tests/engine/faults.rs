//! Errors name the SD, the offset and the cause, and figures survive them.

use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use storage::engine::{
    self, Ended, EngineError, EngineEvent, Fault, Obstacle, Operation, Options, Outcome, Proofs,
    Tally,
};
use storage::run::{ErrorLimit, Rate, Run, Seek, Sizes, Stream, Validation};

use super::common::{KIB, MIB, file, one, recorded, sd, stream, try_run};
use super::loop_device::LoopDevice;
use testing::Says;

fn patient(run: Run) -> Run {
    Run {
        errors: ErrorLimit {
            count_max: u32::MAX,
            after_first_s: None,
        },
        ..run
    }
}

fn writes(name: &str) -> Stream {
    Stream {
        read_pct: 0.0,
        ..stream(name, 0)
    }
}

#[test]
fn a_file_cut_off_meanwhile_reads_short() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", 16 * MIB);
    let requested = patient(Run {
        rate: Rate::Fixed { iops: 1000.0 },
        ..one(&path, stream("wd1", 0))
    });
    let requested = Run {
        elapsed_s: Some(3600),
        ..requested
    };
    let stop = AtomicBool::new(false);
    let mut behind = Tally::default();
    let outcome = engine::run(&requested, &Options::new(42, &stop), &mut |message| {
        let EngineEvent::Interval(interval) = message else {
            return;
        };
        if interval.number == 1 {
            let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_len(4 * MIB + 1000).unwrap();
        } else {
            behind.merge(&interval.cells[0].all());
            stop.store(behind.errors >= 300, Ordering::Relaxed);
        }
    })
    .unwrap();
    assert_eq!(outcome.ended, Ended::Stopped);
    let message = outcome.all_cells[0].all();
    assert!(message.errors >= 300 && outcome.faults_count >= message.errors);
    // A quarter of the file is left, so a quarter of the reads succeeds: a third of the number that fail.
    let share = behind.operations as f64 / behind.errors as f64;
    assert!((0.15..0.6).contains(&share), "{behind:?}");
    let fault = outcome.faults.first().unwrap();
    assert!(fault.offset_bytes >= 4 * MIB, "{fault:?}");
    assert!(matches!(fault.what, Fault::Short { done_bytes } if done_bytes < 4096));
    let message = fault.to_string();
    let offset = format!("offset {}", fault.offset_bytes);
    message.says_all(&["SD sd1", &offset, "short"]);
}

#[test]
fn fifty_errors_end_a_run() {
    let outcome = recorded(&Run {
        storage: vec![engine_sd("/dev/full")],
        elapsed_s: Some(60),
        ..one(Path::new("/dev/full"), writes("wd1"))
    });
    assert_eq!(outcome.ended, Ended::Errors);
    assert!(outcome.faults_count >= 50 && outcome.elapsed < Duration::from_secs(60));
    assert_eq!(outcome.faults[0].what, Fault::System(libc::ENOSPC));
    let message = outcome.faults[0].to_string();
    assert!(message.contains("No space left"), "{message}");
    assert_eq!(outcome.total().operations, 0, "a failure is no operation");
}

fn engine_sd(path: &str) -> storage::run::StorageDefinition {
    let mut sd = sd("sd1", Path::new(path));
    sd.size_bytes = Some(16 * MIB);
    sd
}

/// A running executable cannot be opened for writing even by root; a sealed file opens and refuses each write.
#[test]
fn a_file_that_must_not_be_written_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    std::fs::copy("/bin/sleep", &program).unwrap();
    // Another thread may be starting a program and hold a copy of the descriptor that `copy` wrote through.
    let mut child = loop {
        match std::process::Command::new(&program).arg("60").spawn() {
            Ok(child) => break child,
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::ETXTBSY)),
        }
    };
    let refused = try_run(&one(&program, writes("wd1")), |_| {});
    child.kill().unwrap();
    child.wait().unwrap();
    let refused = refused.unwrap_err().to_string();
    refused.says_all(&["SD sd1", "reading and writing"]);

    // SAFETY: the name is a C string; the flag allows seals.
    let sealed = unsafe { libc::memfd_create(c"sealed".as_ptr(), libc::MFD_ALLOW_SEALING) };
    assert!(sealed >= 0);
    // SAFETY: the descriptor was just created; both calls take plain numbers.
    unsafe {
        assert_eq!(libc::ftruncate(sealed, 16 * MIB as i64), 0);
        assert_eq!(
            libc::fcntl(sealed, libc::F_ADD_SEALS, libc::F_SEAL_WRITE),
            0
        );
    }
    let path = format!("/proc/self/fd/{sealed}");
    let outcome = recorded(&one(Path::new(&path), writes("wd1")));
    assert_eq!(outcome.faults[0].what, Fault::System(libc::EPERM));
    assert_eq!(outcome.faults[0].operation, Operation::Write);
    // SAFETY: nothing uses the descriptor any more.
    unsafe { libc::close(sealed) };
}

struct Tmpfs(std::path::PathBuf);

impl Tmpfs {
    fn mount(at: &Path) -> std::io::Result<Self> {
        std::fs::create_dir_all(at).unwrap();
        let point = std::ffi::CString::new(at.to_str().unwrap()).unwrap();
        // SAFETY: all four are C strings that outlive the call.
        let result = unsafe {
            libc::mount(
                c"tmpfs".as_ptr(),
                point.as_ptr(),
                c"tmpfs".as_ptr(),
                0,
                c"size=2m".as_ptr().cast(),
            )
        };
        if result != 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Self(at.to_owned()))
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let point = std::ffi::CString::new(self.0.to_str().unwrap()).unwrap();
        // SAFETY: a C string that outlives the call.
        unsafe { libc::umount2(point.as_ptr(), libc::MNT_DETACH) };
    }
}

#[test]
fn a_full_file_system_ends_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let _mounted = match Tmpfs::mount(&folder.path().join("small")) {
        Ok(mounted) => mounted,
        Err(error) => testing::skip!("no tmpfs can be mounted: {error}"),
    };
    let path = folder.path().join("small/data");
    let mut requested = one(&path, stream("wd1", 0));
    requested.storage[0].size_bytes = Some(8 * MIB);
    let format = engine::format_run(std::slice::from_ref(&requested), false, None).unwrap();
    let outcome = try_run(&format, |options| options.may_grow = true).unwrap();
    assert_eq!(outcome.ended, Ended::Errors);
    assert_full(&outcome);
    let message = outcome.faults[0].to_string();
    assert!(
        message.starts_with("SD sd1: write of 131072 bytes"),
        "{message}"
    );
}

fn assert_full(outcome: &Outcome) {
    assert!(outcome.faults_count > 0);
    for fault in &outcome.faults {
        assert_eq!(fault.operation, Operation::Write, "{fault}");
        fault.to_string().says_all(&["the file system", "is full"]);
    }
}

/// Blocks that could not be written are not reported as corrupted, neither at once nor later.
#[test]
fn a_full_file_system_is_no_corruption() {
    let folder = tempfile::tempdir().unwrap();
    let _mounted = match Tmpfs::mount(&folder.path().join("small")) {
        Ok(mounted) => mounted,
        Err(error) => testing::skip!("no tmpfs can be mounted: {error}"),
    };
    for (without_ring, read_after_write, transfer) in [
        (false, false, 4 * KIB),
        (true, false, 64 * KIB),
        (false, true, 64 * KIB),
    ] {
        // Holes take no space until they are written.
        let path = file(&folder.path().join("small"), "data", 8 * MIB);
        let all = |read_pct| {
            let sequential = Stream {
                read_pct,
                seek: Seek::SequentialToEnd,
                sizes: Sizes::Fixed(transfer),
                ..stream("wd1", 0)
            };
            let mut run = patient(Run {
                elapsed_s: None,
                ..one(&path, sequential)
            });
            run.storage[0].content.validation = Some(Validation {
                read_after_write,
                ..Validation::default()
            });
            run
        };
        let proofs = Proofs::default();
        let carry_out = |run: &Run| {
            try_run(run, |options| {
                options.without_ring = without_ring;
                options.proofs = Some(&proofs);
            })
            .unwrap()
        };
        for _ in 0..2 {
            let written = carry_out(&all(0.0));
            assert_eq!(written.ended, Ended::StreamsDone);
            assert_full(&written);
        }
        let read = carry_out(&all(100.0));
        assert_eq!(read.faults, []);
        // A tmpfs of 2 MiB holds this much, less its metadata.
        let proven = read.blocks_proven * transfer;
        assert!((MIB..=2 * MIB).contains(&proven), "{proven}");
    }
}

#[test]
fn what_the_device_does_not_take_is_said_before_anything_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", 16 * MIB);
    let mut requested = one(
        &path,
        Stream {
            sizes: Sizes::Fixed(1000),
            ..stream("wd1", 0)
        },
    );
    requested.storage[0].open_flags.direct = true;
    let message = try_run(&requested, |_| {}).unwrap_err().to_string();
    message.says_all(&["1000", "multiple"]);
    requested.streams[0].sizes = Sizes::Fixed(4096);
    requested.storage[0].offset_bytes = 100;
    let message = try_run(&requested, |_| {}).unwrap_err().to_string();
    message.says_all(&["offset=", "100"]);
}

#[test]
fn what_cannot_be_carried_out_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", 16 * MIB);
    let small = file(folder.path(), "small", 6 * KIB);
    let empty = file(folder.path(), "empty", 0);
    let missing = folder.path().join("missing");
    let message = |run: &Run| try_run(run, |_| {}).unwrap_err().to_string();
    let cases = [
        (message(&one(&missing, stream("wd1", 0))), "does not exist"),
        (
            message(&one(
                &missing,
                Stream {
                    read_pct: 0.0,
                    ..stream("wd1", 0)
                },
            )),
            "give size= to create the file",
        ),
        (
            message(&one(folder.path(), stream("wd1", 0))),
            "a directory",
        ),
        (
            message(&one(&small, stream("wd1", 0))),
            "less than two transfers",
        ),
        (message(&one(&empty, stream("wd1", 0))), "size="),
        (
            message(&one(Path::new("/dev/null"), stream("wd1", 0))),
            "size=",
        ),
        (
            message(&Run {
                streams: Vec::new(),
                ..one(&path, stream("wd1", 0))
            }),
            "no streams",
        ),
        (
            message(&Run {
                elapsed_s: None,
                ..one(&path, stream("wd1", 0))
            }),
            "neither an elapsed time",
        ),
    ];
    for (message, wanted) in &cases {
        assert!(
            message.contains(wanted),
            "{message:?} does not say {wanted:?}"
        );
    }
    let mut greedy = one(&path, stream("wd1", 0));
    greedy.storage[0].threads = 1_000_000;
    let refused = try_run(&greedy, |_| {}).unwrap_err();
    assert!(matches!(refused, EngineError::TooMany { .. }), "{refused}");
    assert!(!missing.exists());
}

/// Ctrl-C ends the run within a moment, and the figures until then remain.
#[test]
fn a_stop_keeps_what_was_measured() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", 16 * MIB);
    let requested = Run {
        elapsed_s: Some(600),
        rate: Rate::Fixed { iops: 500.0 },
        ..one(&path, stream("wd1", 0))
    };
    let stop = AtomicBool::new(false);
    let (mut message, mut at) = (0, Duration::ZERO);
    let outcome = engine::run(&requested, &Options::new(1, &stop), &mut |seen| {
        if let EngineEvent::Interval(interval) = seen {
            message += interval.cells[0].all().operations * u64::from(interval.counted);
            if message >= 300 && !stop.swap(true, Ordering::Relaxed) {
                at = interval.end;
            }
        }
    })
    .unwrap();
    assert_eq!(outcome.ended, Ended::Stopped);
    assert_eq!(
        outcome.total().operations,
        message,
        "what is reported is what is stored"
    );
    assert!(message >= 300 && outcome.elapsed >= at && outcome.elapsed < Duration::from_secs(600));
    assert_eq!(
        outcome.total().operations,
        outcome.latencies[0][0].response.count()
    );
}

/// The first block of a device is never touched, and nothing is written to a mounted device.
#[test]
fn devices_keep_their_first_block_and_their_file_systems() {
    let folder = tempfile::tempdir().unwrap();
    let backing = file(folder.path(), "backing", 32 * MIB);
    let device = match LoopDevice::over(&backing) {
        Ok(device) => device,
        Err(reason) => testing::skip!("{reason}"),
    };
    let device_path = device.path();
    let mut requested = one(
        device_path,
        Stream {
            seek: Seek::Sequential,
            ..writes("wd1")
        },
    );
    let message = try_run(&requested, |_| {}).unwrap_err().to_string();
    assert!(message.contains("o_direct"), "{message}");
    requested.storage[0].open_flags.direct = true;
    requested.rate = Rate::Fixed { iops: 2000.0 };
    requested.streams[0].range = storage::run::Range::Bytes {
        low: 0,
        high: 4 * MIB,
    };
    let outcome = recorded(&requested);
    assert_eq!(outcome.faults, []);
    let data = std::fs::read(&backing).unwrap();
    assert!(
        data[..4096].iter().all(|byte| *byte == 0),
        "the first block"
    );
    assert!(data[4096..4 * MIB as usize].iter().any(|byte| *byte != 0));
    assert!(
        data[4 * MIB as usize..].iter().all(|byte| *byte == 0),
        "outside the range"
    );

    command("mkfs.ext4", &[Path::new("-qF"), device_path]);
    let point = folder.path().join("mounted");
    std::fs::create_dir(&point).unwrap();
    command("mount", &[device_path, &point]);
    let before = std::fs::read(&backing).unwrap();
    let refused = try_run(&requested, |_| {});
    let after = std::fs::read(&backing).unwrap();
    command("umount", &[&point]);
    let refused = refused.unwrap_err();
    assert!(
        matches!(
            refused,
            EngineError::Sd {
                obstacle: Obstacle::InUse,
                ..
            }
        ),
        "{refused}"
    );
    assert!(after == before, "nothing was written");
}

/// A device with a signature is written to only by name, whatever its path; a list that has written to it continues.
#[test]
fn devices_that_hold_something_are_not_written_to_unless_they_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let backing = file(folder.path(), "backing", 32 * MIB);
    let device = match LoopDevice::over(&backing) {
        Ok(device) => device,
        Err(reason) => testing::skip!("{reason}"),
    };
    let device_path = device.path();
    let mut requested = one(device_path, writes("wd1"));
    requested.storage[0].open_flags.direct = true;
    requested.rate = Rate::Fixed { iops: 500.0 };
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(device_path, &link).unwrap();
    let named = [link];
    let other = [folder.path().join("backing"), "/dev/null".into()];
    let ext4: fn(&Path) = |device| command("mkfs.ext4", &[Path::new("-qF"), device]);
    let swap: fn(&Path) = |device| command("mkswap", &[Path::new("-q"), device]);
    let lvm: fn(&Path) = |device| {
        let device = std::fs::File::options().write(true).open(device).unwrap();
        device.write_all_at(&[0; 1 << 20], 0).unwrap();
        device.write_all_at(b"LABELONE", 512).unwrap();
        device.sync_all().unwrap();
    };
    let bears = |error: &EngineError| {
        matches!(
            error,
            EngineError::Sd {
                obstacle: Obstacle::Bears(_),
                ..
            }
        )
    };
    for (make, what) in [(ext4, "ext4"), (swap, "swap space"), (lvm, "LVM")] {
        make(device_path);
        let before = std::fs::read(&backing).unwrap();
        for may_destroy in [&[][..], &other] {
            let refused =
                try_run(&requested, |options| options.may_destroy = may_destroy).unwrap_err();
            assert!(bears(&refused), "{refused}");
            assert!(refused.to_string().contains(what), "{refused}");
        }
        let never = AtomicBool::new(false);
        let checked = engine::check_list(
            None,
            std::slice::from_ref(&requested),
            &Options::new(1, &never),
        );
        assert!(checked.is_err_and(|error| bears(&error)));
        assert!(
            std::fs::read(&backing).unwrap() == before,
            "nothing was written"
        );
        // Reading is allowed.
        let reads = Run {
            streams: vec![stream("wd1", 0)],
            ..requested.clone()
        };
        assert_eq!(try_run(&reads, |_| {}).unwrap().faults, []);
    }
    let outcome = try_run(&requested, |options| options.may_destroy = &named).unwrap();
    assert_eq!(outcome.faults, []);
    assert!(outcome.total().operations > 0);
}

fn command(program: &str, arguments: &[&Path]) {
    let ended = std::process::Command::new(program).args(arguments).status();
    assert!(ended.unwrap().success(), "{program} {arguments:?}");
}

/// Files are opened by path, so descriptors that other threads close or hold do not matter.
#[test]
fn a_run_leaves_no_descriptor_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", MIB);
    let kept = std::fs::File::open(&path).unwrap();
    let of_path = || {
        let all = std::fs::read_dir("/proc/self/fd").unwrap();
        all.flatten()
            .filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|link| link == path))
            .count()
    };
    assert_eq!(of_path(), 1);
    try_run(&one(&path, stream("wd1", 0)), |_| {}).unwrap();
    assert_eq!(of_path(), 1, "only descriptor {}", kept.as_raw_fd());
}
