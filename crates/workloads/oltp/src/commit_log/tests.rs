//! Round trips of the log, torn at any byte.

use super::*;

const HEADER: Header = Header {
    run: 7,
    warehouses: 3,
    next_orders: 90_030,
    new_orders: 27_000,
};
const ORDERS: [u32; 10] = [3001, 0, 3003, 3004, 3005, 3006, 3007, 3008, 3009, u32::MAX];

fn records() -> [Record; 3] {
    [
        Record::NewOrder {
            w: 70_000,
            d: 10,
            c_id: 3000,
            o_id: 3001,
        },
        Record::Payment {
            c_w: 2,
            c_d: 1,
            c_id: 77,
            amount_cents: 500_000,
            user: 4999,
            sequence: 12,
        },
        Record::Delivery {
            w: 3,
            carrier: 9,
            orders: ORDERS,
        },
    ]
}

/// Writes so many records, every third one of unknown outcome.
fn written(directory: &Path, count: usize) -> PathBuf {
    let path = directory.join("journal");
    let commit_log = CommitLog::create(&path, &HEADER).unwrap();
    for (number, record) in records().iter().cycle().take(count).enumerate() {
        commit_log.append(record, number % 3 != 2).unwrap();
    }
    path
}

fn read(path: &Path) -> (Vec<Entry>, bool) {
    let (header, mut entries) = Entries::open(path).unwrap();
    assert_eq!(header, HEADER);
    let mut all = Vec::new();
    while let Some(entry) = entries.read().unwrap() {
        all.push(entry);
    }
    (all, entries.torn())
}

#[test]
fn golden_checksum() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
}

/// More than fits into the reader's buffer, so that records span its ends.
#[test]
fn what_is_written_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let (all, torn) = read(&written(directory.path(), 6000));
    assert_eq!((all.len(), torn), (6000, false));
    let unknown = all.iter().filter(|entry| !entry.acknowledged).count();
    assert_eq!(unknown, 2000);
    let change = Record::Payment {
        c_w: 2,
        c_d: 1,
        c_id: 77,
        amount_cents: 500_000,
        user: 4999,
        sequence: 12,
    };
    assert_eq!(all[5998].change, change);
    let change = Record::Delivery {
        w: 3,
        carrier: 9,
        orders: ORDERS,
    };
    assert_eq!(all[5999].change, change);
}

/// Cut at every byte of its last record, a log has all records but that one.
#[test]
fn a_torn_record_is_none() {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), 3);
    let whole = std::fs::read(&path).unwrap();
    let last = RECORD_BYTES_MAX;
    for cut in 1..last {
        std::fs::write(&path, &whole[..whole.len() - cut]).unwrap();
        let (all, torn) = read(&path);
        assert_eq!((all.len(), torn), (2, true), "{cut}");
    }
    std::fs::write(&path, &whole[..whole.len() - last]).unwrap();
    assert_eq!(read(&path).0.len(), 2);
    assert!(!read(&path).1);
}

#[test]
fn a_changed_byte_is_damage() {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), 3);
    let whole = std::fs::read(&path).unwrap();
    for at in [HEADER_BYTES, HEADER_BYTES + 5, whole.len() - 1] {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        std::fs::write(&path, &changed).unwrap();
        let (_, mut entries) = Entries::open(&path).unwrap();
        let error = (0..3).find_map(|_| entries.read().err()).unwrap();
        assert!(error.to_string().contains("damaged at byte"), "{error}");
    }
    std::fs::write(
        &path,
        b"something else, long enough to be a header of a log",
    )
    .unwrap();
    let error = Entries::open(&path).unwrap_err();
    assert!(error.to_string().contains("is not a log"), "{error}");
}

#[test]
fn a_log_is_never_written_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = written(directory.path(), 1);
    let error = CommitLog::create(&path, &HEADER).unwrap_err();
    assert!(error.to_string().contains("cannot be created"), "{error}");
}
