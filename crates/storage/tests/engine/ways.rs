//! Rings and threads: the data on the disk are compared with the recording.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use storage::engine::{self, Ended, EngineEvent, MockDevice, Operation, Options, Way};
use storage::run::{Arrivals, DataLimit, Rate, Run, Seek, Sizes, Stop, Stream, WeightedSize};

use super::common::{
    KIB, MIB, checked, fast, file, mocked, of, of_size, one, recorded, run, sd, stream, try_run,
    until,
};
use testing::Says;

/// Every written block carries its address, and every other is still a hole, so the recording shows exactly what was
/// done.
#[test]
fn what_was_recorded_is_what_the_disk_holds() {
    let folder = tempfile::tempdir().unwrap();
    let neighbour = folder.path().join("neighbour");
    std::fs::write(&neighbour, "untouched").unwrap();
    let path = file(folder.path(), "data", 64 * MIB);
    let requested = Run {
        rate: Rate::Fixed { iops: 1000.0 },
        ..one(
            &path,
            Stream {
                read_pct: 50.0,
                sizes: Sizes::Weighted(vec![
                    WeightedSize {
                        bytes: 4 * KIB,
                        pct: 50.0,
                    },
                    WeightedSize {
                        bytes: 16 * KIB,
                        pct: 50.0,
                    },
                ]),
                ..stream("wd1", 0)
            },
        )
    };
    for without_ring in [false, true] {
        file(folder.path(), "data", 64 * MIB);
        let outcome = until(1000, &requested, |options| {
            options.without_ring = without_ring
        });
        assert_eq!(matches!(outcome.way, Way::Threads { .. }), without_ring);
        let mut written: HashMap<u64, ()> = HashMap::new();
        for record in of(&outcome, 0) {
            if record.operation == Operation::Write {
                let blocks = record.size_bytes / (4 * KIB);
                written.extend((0..blocks).map(|b| (record.offset_bytes / (4 * KIB) + b, ())));
            }
        }
        // Half of the I/Os write, and few of 16,384 blocks are drawn twice.
        assert!(written.len() > 400, "{}", written.len());
        let data = std::fs::read(&path).unwrap();
        for (number, block) in data.chunks(4096).enumerate() {
            let address = u64::from_le_bytes(block[..8].try_into().unwrap());
            if written.contains_key(&(number as u64)) {
                assert_eq!(address, number as u64 * 4096);
                assert!(block[8..].iter().any(|byte| *byte != 0));
            } else {
                assert!(block.iter().all(|byte| *byte == 0), "block {number}");
            }
        }
    }
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["data", "neighbour"]);
    assert_eq!(std::fs::read(&neighbour).unwrap(), b"untouched");
}

/// Makes `io_uring_setup` fail with EPERM for this thread and its children, as container runtimes do.
fn forbid_rings() {
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let statement = |code: u32, jt, jf, k| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let mut filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            libc::SYS_io_uring_setup as u32,
        ),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, refuse),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: plain numbers, and a program that lives until the call returns; both affect only this thread.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &program), 0);
    }
}

#[test]
fn where_rings_are_forbidden_threads_do_it_and_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", 16 * MIB);
    let outcome = std::thread::spawn(move || {
        forbid_rings();
        checked(until(1000, &one(&path, stream("wd1", 0)), |_| {}))
    })
    .join()
    .unwrap();
    let Way::Threads { reason } = &outcome.way else {
        panic!("{:?}", outcome.way);
    };
    reason.says_all(&["io_uring", "not permitted"]);
    assert_eq!(outcome.faults, []);
}

/// `threads` limits the I/Os in flight on an SD, shared by its streams, with rings and with threads.
#[test]
fn the_limit_in_flight_is_kept_and_shared() {
    let folder = tempfile::tempdir().unwrap();
    let mut sds = vec![
        sd("sd1", &file(folder.path(), "a", 16 * MIB)),
        sd("sd2", &file(folder.path(), "b", 16 * MIB)),
    ];
    sds[0].threads = 3;
    sds[1].threads = 5;
    let streams = vec![stream("wd1", 0), stream("wd2", 0), stream("wd3", 1)];
    for without_ring in [false, true] {
        let requested = run(sds.clone(), streams.clone());
        let outcome = until(3000, &requested, |options| {
            options.without_ring = without_ring
        });
        let records = &outcome.trace.as_ref().unwrap().records;
        for (storage, limit) in [(0, 3), (1, 5)] {
            let mut events: Vec<(u64, i32)> = Vec::new();
            for record in records.iter().filter(|r| r.storage == storage) {
                events.push((record.issued_ns, 1));
                events.push((record.completed_ns, -1));
            }
            // Ends are sorted before begins of the same time.
            events.sort();
            let mut in_flight = 0;
            let most = events.iter().map(|(_, change)| {
                in_flight += change;
                in_flight
            });
            assert_eq!(most.max(), Some(limit), "SD {storage}");
        }
        let of_sd1 = |stream: usize| of(&outcome, stream).len() as f64;
        let ratio = of_sd1(0) / of_sd1(1);
        assert!((0.9..1.1).contains(&ratio), "streams take turns: {ratio}");
    }
}

/// Addresses continue from one SD to the next, and one limit applies to both.
#[test]
fn sds_that_are_concatenated_are_one_space() {
    let folder = tempfile::tempdir().unwrap();
    let mut sds = vec![
        sd("sd1", &file(folder.path(), "a", MIB)),
        sd("sd2", &file(folder.path(), "b", 2 * MIB)),
    ];
    for sd in &mut sds {
        sd.threads = 1;
    }
    let sequential = Stream {
        storage: vec![0, 1],
        seek: Seek::SequentialToEnd,
        sizes: Sizes::Fixed(64 * KIB),
        ..stream("wd1", 0)
    };
    let outcome = recorded(&Run {
        threads_shared: Some(4),
        elapsed_s: None,
        ..run(sds, vec![sequential])
    });
    assert_eq!(outcome.ended, Ended::StreamsDone);
    let mut seen: Vec<(usize, u64)> = of(&outcome, 0)
        .iter()
        .map(|record| (record.storage, record.offset_bytes / (64 * KIB)))
        .collect();
    seen.sort();
    let expected = (0..16).map(|i| (0, i)).chain((0..32).map(|i| (1, i)));
    assert_eq!(seen, expected.collect::<Vec<_>>());
    let cells: Vec<u64> = outcome
        .all_cells
        .iter()
        .map(|c| c.all().operations)
        .collect();
    assert_eq!(cells, [16, 32], "figures are kept by SD");
}

/// An eof stream reads its range once and ends the run, although the other one would never end.
#[test]
fn a_stream_that_ends_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let sds = ["a", "b"].map(|name| sd(name, &file(folder.path(), name, MIB)));
    let ending = Stream {
        seek: Seek::SequentialToEnd,
        ..stream("ending", 0)
    };
    let outcome = recorded(&Run {
        elapsed_s: None,
        ..run(sds.to_vec(), vec![ending, stream("endless", 1)])
    });
    assert_eq!(outcome.ended, Ended::StreamsDone);
    let mut blocks: Vec<u64> = of(&outcome, 0)
        .iter()
        .map(|r| r.offset_bytes / (4 * KIB))
        .collect();
    blocks.sort_unstable();
    assert_eq!(blocks, (0..256).collect::<Vec<_>>());
    assert_eq!(outcome.all_cells[0].all().operations, 256);
}

/// The run ends with the first interval in which the amount is reached.
#[test]
fn an_amount_of_data_ends_a_run() {
    let limit = 700 * 4 * KIB;
    let requested = Run {
        elapsed_s: Some(30),
        rate: Rate::Fixed { iops: 500.0 },
        arrivals: Arrivals::Deterministic,
        stop: Stop {
            read_max: Some(DataLimit::Bytes(limit)),
            ..Stop::default()
        },
        ..run(vec![of_size("sd1", 16 * MIB)], vec![stream("wd1", 0)])
    };
    let outcome = mocked(&requested, &fast());
    assert_eq!(outcome.ended, Ended::DataLimit);
    // The first second does not count, and the second one is not enough.
    assert_eq!(outcome.elapsed.as_secs(), 3);
    assert!(outcome.total().bytes >= limit);
}

/// A format writes every byte up to the size, keeps existing data, and makes the next run possible.
#[test]
fn files_are_brought_to_their_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new");
    std::fs::write(&path, vec![7; 300 * 1024]).unwrap();
    let missing = folder.path().join("missing");
    let mut sds = vec![sd("sd1", &path), sd("sd2", &missing)];
    sds[0].size_bytes = Some(2 * MIB + 512);
    sds[1].size_bytes = Some(8 * KIB);
    let requested = run(
        sds,
        vec![
            stream("wd1", 0),
            Stream {
                sizes: Sizes::Fixed(512),
                ..stream("wd2", 1)
            },
        ],
    );
    let refused = try_run(&requested, |_| {}).unwrap_err().to_string();
    refused.says_all(&["sd1", "format"]);
    assert!(!missing.exists(), "a refusal makes no file");

    let format = engine::format_run(std::slice::from_ref(&requested), false, None).unwrap();
    let outcome = try_run(&format, |options| options.may_grow = true).unwrap();
    assert_eq!(outcome.ended, Ended::StreamsDone);
    assert_eq!(outcome.faults_count, 0);
    let data = std::fs::read(&path).unwrap();
    assert_eq!(data.len() as u64, 2 * MIB + 512);
    assert!(data[..299 * 1024].iter().all(|byte| *byte == 7), "kept");
    let is_hole = |block: &[u8]| block.iter().all(|byte| *byte == 0);
    assert!(!data.chunks(512).any(is_hole));
    assert_eq!(std::fs::metadata(&missing).unwrap().len(), 8 * KIB);
    assert_eq!(
        engine::format_run(std::slice::from_ref(&requested), false, None),
        None
    );
    assert!(engine::format_run(std::slice::from_ref(&requested), true, None).is_some());
    try_run(&requested, |_| {}).unwrap();
}

#[test]
fn intervals_add_up_to_the_totals() {
    let requested = Run {
        elapsed_s: Some(2),
        warmup_s: 1,
        rate: Rate::Fixed { iops: 800.0 },
        ..run(vec![of_size("sd1", 16 * MIB)], vec![stream("wd1", 0)])
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut intervals = Vec::new();
    let device = MockDevice::of(4, Duration::from_millis(3));
    let options = Options::new(1, &stop);
    let outcome = device
        .run(&requested, &options, &mut |message| {
            if let EngineEvent::Interval(interval) = message {
                intervals.push(interval.clone());
            }
        })
        .unwrap();
    let numbers: Vec<(u32, bool)> = intervals.iter().map(|i| (i.number, i.counted)).collect();
    assert_eq!(numbers, [(1, false), (2, true), (3, true)]);
    assert!(intervals.iter().all(|i| i.length.as_secs() == 1));
    let counted: u64 = intervals[1..]
        .iter()
        .map(|i| i.cells[0].all().operations)
        .sum();
    assert_eq!(counted, outcome.total().operations);
    assert_eq!(outcome.counted.as_secs(), 2);
    let latencies = &outcome.latencies[0][0];
    let counts = [&latencies.service, &latencies.issued, &latencies.response].map(|h| h.count());
    assert_eq!(counts, [counted; 3]);
    let total = outcome.total();
    assert!(total.service_ns <= total.issued_ns && total.issued_ns <= total.response_ns);
    // Little's law must hold for the sum over time and the sum of times; I/Os across an end are few.
    let depth_ns = outcome.cells[0].in_flight_ns as f64;
    assert!((depth_ns / total.issued_ns as f64 - 1.0).abs() < 0.01);
}

/// An `fdatasync` follows each write and belongs to it: `/dev/null`, which takes any write, cannot be synchronized.
#[test]
fn writes_are_synchronized_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", MIB);
    let half = Stream {
        read_pct: 50.0,
        ..stream("wd1", 0)
    };
    for without_ring in [false, true] {
        let synced = |path: &Path, bytes: u64| {
            let mut requested = one(path, half.clone());
            requested.rate = Rate::Fixed { iops: 100.0 };
            requested.storage[0].size_bytes = Some(bytes);
            requested.storage[0].open_flags.sync_each = true;
            requested.errors.count_max = 1_000_000;
            until(200, &requested, |options| {
                options.without_ring = without_ring
            })
        };
        let fine = synced(&path, MIB);
        assert_eq!(fine.faults, []);
        let records = fine.trace.unwrap().records;
        assert!(records.iter().all(|r| r.result == 4096), "each I/O once");
        let cell = fine.all_cells[0];
        let [reads, writes] = cell.tallies.map(|tally| tally.operations);
        // About half of 200, within seven standard deviations.
        assert!(reads > 50 && writes > 50, "{reads} reads, {writes} writes");

        let zero = Path::new("/dev/zero");
        let refused = synced(zero, MIB);
        let [reads, writes] = refused.all_cells[0].tallies;
        assert!(reads.operations > 50 && reads.errors == 0, "{reads:?}");
        // Without a ring the C library synchronizes, and a preloaded library may have disabled that.
        let is_refused = !without_ring || testing::syncs_work();
        let (done, failed) = (writes.operations, writes.errors);
        let (none, some) = if is_refused {
            (done, failed)
        } else {
            (failed, done)
        };
        assert!(none == 0 && some > 50, "{writes:?}");
    }
}
