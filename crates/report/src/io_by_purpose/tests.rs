//! Accounts and devices with each kind of difference.

use archive::{Component, EngineIo, Point, PointKey, Requests};

use super::*;

const READ: IoOperation = IoOperation::Read;
const WRITE: IoOperation = IoOperation::Write;

fn counted(purpose: Purpose, operation: IoOperation, mb: f64) -> EngineIo {
    EngineIo {
        mb: Some(mb),
        source: "counters".into(),
        ..EngineIo::blank(purpose, operation)
    }
}

fn uncounted(purpose: Purpose, operation: IoOperation, why: IoUnknown) -> EngineIo {
    EngineIo {
        unknown: Some(why),
        ..EngineIo::blank(purpose, operation)
    }
}

/// A device counted for two seconds: 10^6 bytes read and written.
fn device(name: &str, holds: &[Purpose], carries: &[&str], [read, written]: [f64; 2]) -> DeviceUse {
    let requests = |mb| {
        Some(Requests {
            count: 1,
            mb,
            await_ms: None,
        })
    };
    DeviceUse {
        name: name.into(),
        holds: holds.to_vec(),
        carries: carries.iter().map(|name| (*name).to_owned()).collect(),
        elapsed_s: Some(2.0),
        reads: requests(read),
        writes: requests(written),
        ..DeviceUse::default()
    }
}

fn point(engine_io: Vec<EngineIo>, devices: Vec<DeviceUse>) -> Point {
    let key = PointKey::of("T611", 1);
    let mut point = Point::blank(key, String::new(), Component::Server);
    point.figures.elapsed_s = Some(2.0);
    (point.engine_io, point.devices) = (engine_io, devices);
    point
}

fn of(points: &[Point]) -> IoByPurpose {
    let level = Level {
        number: 1,
        points: points.iter().collect(),
    };
    of_level(&level).unwrap()
}

fn purposes_of(io: &IoByPurpose) -> Vec<String> {
    io.groups.iter().map(purposes).collect()
}

const ANYBODY: Unaccounted = Unaccounted {
    is_uncounted: false,
    is_of_others: true,
};

#[test]
fn each_purpose_is_held_against_its_device() {
    let io = of(&[point(
        vec![
            counted(Purpose::Data, READ, 200.0),
            counted(Purpose::Data, WRITE, 20.0),
            counted(Purpose::Log, WRITE, 10.0),
            uncounted(Purpose::Log, READ, IoUnknown::NotCounted),
        ],
        vec![
            device("vda", &[Purpose::Data], &[], [20.0, 19.0]),
            device("vdb", &[Purpose::Log], &[], [0.0, 40.0]),
        ],
    )]);
    assert_eq!(purposes_of(&io), ["data", "log"]);
    let [data, log] = &io.groups[..] else {
        panic!("two groups")
    };
    assert_eq!(data.devices, ["vda"]);
    assert_eq!(
        data.held[0],
        Held {
            engine_mb_per_s: Some(100.0),
            device_mb_per_s: Some(10.0),
            difference: Some(Difference::PageCache),
        }
    );
    assert_eq!(data.held[1].difference, Some(Difference::Small));
    // Unknown reads of the log must not become zero.
    assert_eq!(log.held[0].engine_mb_per_s, None);
    assert_eq!(log.held[0].difference, None);
    let difference = Difference::WrittenUnaccounted(ANYBODY);
    assert_eq!(log.held[1].difference, Some(difference));
    assert_eq!(
        sentence(log).unwrap(),
        "vdb (log): wrote 20.0 MB/s, the engine 5.00 MB/s (file-system journal, padding to whole pages or other programs)"
    );
    assert!(sentence(data).unwrap().ends_with("(page cache)"));
}

#[test]
fn files_on_one_device_are_held_together() {
    let io = of(&[point(
        vec![
            counted(Purpose::Data, WRITE, 20.0),
            counted(Purpose::Log, WRITE, 10.0),
            uncounted(Purpose::Temporary, WRITE, IoUnknown::NotCounted),
            uncounted(Purpose::Undo, WRITE, IoUnknown::CountedAsData),
        ],
        vec![
            device("vda", &[Purpose::Data, Purpose::Log], &[], [0.0, 60.0]),
            device("vdb", &[Purpose::Temporary], &[], [0.0, 6.0]),
            device("vdc", &[Purpose::Undo], &[], [0.0, 4.0]),
        ],
    )]);
    // Undo has a separate device, but the engine counts it with the data.
    assert_eq!(purposes_of(&io), ["data, log, undo", "temporary"]);
    let [group, temporary] = &io.groups[..] else {
        panic!("two groups")
    };
    assert_eq!(group.devices, ["vda", "vdc"]);
    assert_eq!(group.held[1].engine_mb_per_s, Some(15.0));
    assert_eq!(group.held[1].device_mb_per_s, Some(32.0));
    let difference = Difference::WrittenUnaccounted(ANYBODY);
    assert_eq!(group.held[1].difference, Some(difference));
    assert_eq!(temporary.held[1].device_mb_per_s, Some(3.0));
    assert_eq!(temporary.held[1].difference, None);
}

#[test]
fn io_counted_by_volume_and_disk_is_taken_once() {
    let io = of(&[point(
        vec![
            counted(Purpose::Data, WRITE, 20.0),
            counted(Purpose::Log, WRITE, 10.0),
        ],
        vec![
            device("loop0", &[Purpose::Data], &[], [0.0, 20.0]),
            device("dm-0", &[], &["loop0"], [0.0, 20.0]),
            device("vda", &[Purpose::Log], &["dm-0"], [0.0, 31.0]),
        ],
    )]);
    assert_eq!(purposes_of(&io), ["data, log"]);
    assert_eq!(io.groups[0].devices, ["vda"]);
    let written = io.groups[0].held[1];
    assert_eq!(written.device_mb_per_s, Some(15.5));
    assert_eq!(written.difference, Some(Difference::Small));

    // A disk without files of its own leaves both devices above it separate.
    let io = of(&[point(
        vec![counted(Purpose::Data, WRITE, 20.0)],
        vec![
            device("loop0", &[Purpose::Data], &[], [0.0, 20.0]),
            device("loop1", &[Purpose::Log], &[], [0.0, 5.0]),
            device("vda", &[], &["loop0", "loop1"], [0.0, 90.0]),
        ],
    )]);
    assert_eq!(purposes_of(&io), ["data", "log"]);
    assert_eq!(io.groups[0].held[1].device_mb_per_s, Some(10.0));
    assert_eq!(io.groups[1].held[1].engine_mb_per_s, None);
}

#[test]
fn devices_that_carry_each_other_still_have_an_answer() {
    let io = of(&[point(
        vec![counted(Purpose::Data, READ, 4.0)],
        vec![
            device("a", &[Purpose::Data], &["b", "a"], [2.0, 0.0]),
            device("b", &[Purpose::Log], &["a"], [2.0, 0.0]),
        ],
    )]);
    assert_eq!(io.groups[0].devices, ["a", "b"]);
    assert_eq!(io.groups[0].held[0].device_mb_per_s, Some(2.0));
}

#[test]
fn a_difference_is_large_from_a_fifth_and_a_megabyte_on() {
    let read = |engine, device| difference(READ, engine, device, false, None);
    assert_eq!(read(100.0, 80.1), Difference::Small);
    assert_eq!(read(100.0, 80.0), Difference::PageCache);
    assert_eq!(read(0.0, 0.99), Difference::Small);
    assert_eq!(read(0.0, 1.0), Difference::ReadUnaccounted(ANYBODY));
    assert_eq!(read(f64::NAN, 50.0), Difference::Small);
    let written = |engine, device| difference(WRITE, engine, device, false, None);
    assert_eq!(written(50.0, 10.0), Difference::NotWrittenBack);
    assert_eq!(written(10.0, 50.0), Difference::WrittenUnaccounted(ANYBODY));
}

#[test]
fn causes_that_are_known_not_to_be_are_left_out() {
    let causes =
        |is_uncounted, others| difference(WRITE, 10.0, 50.0, is_uncounted, others).causes();
    assert_eq!(
        causes(true, None),
        "I/O that the engine does not count, file-system journal, padding to whole pages or other programs"
    );
    assert!(causes(false, Some(4.0)).ends_with("or other programs"));
    assert_eq!(
        causes(false, Some(3.9)),
        "file-system journal or padding to whole pages"
    );
}

#[test]
fn repetitions_are_added_up_over_their_time() {
    let mut points = [10.0, 40.0].map(|mb| {
        let devices = vec![device("vda", &[Purpose::Data], &[], [mb, 0.0])];
        point(vec![counted(Purpose::Data, READ, mb)], devices)
    });
    points[1].figures.elapsed_s = Some(3.0);
    points[1].devices[0].elapsed_s = Some(3.0);
    let held = of(&points).groups[0].held[0];
    assert_eq!(held.engine_mb_per_s, Some(10.0));
    assert_eq!(held.device_mb_per_s, Some(10.0));
    assert_eq!(held.difference, Some(Difference::Small));
}

#[test]
fn uncounted_io_is_no_account() {
    let bare = point(Vec::new(), vec![device("vda", &[], &[], [1.0, 1.0])]);
    let level = Level {
        number: 1,
        points: vec![&bare],
    };
    assert!(of_level(&level).is_none());
    // Undo files without a separate device get no row.
    let io = of(&[point(
        vec![
            counted(Purpose::Data, READ, 4.0),
            uncounted(Purpose::Undo, READ, IoUnknown::CountedAsData),
        ],
        Vec::new(),
    )]);
    assert_eq!(purposes_of(&io), ["data"]);
    assert_eq!(io.groups[0].held[0].device_mb_per_s, None);
}
