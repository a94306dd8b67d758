//! The server's account of its own I/O: the status of InnoDB.
//!
//! `performance_schema` is not asked: of InnoDB's data files it counts the same requests, of the log nothing from MariaDB 10.8
//! on, and of the files that sorts spill into nothing either, so that its zeros would pass for figures.

use archive::{IoOperation, IoUnknown, Purpose};

use engine::{Counted, FileIo};

const STATUS: &str = "Innodb status";

/// One entry for each purpose and direction. Undo tablespaces and InnoDB's temporary tables are data files to the counters.
pub(super) fn files(of: &dyn Fn(&str) -> Option<u64>) -> Vec<FileIo> {
    let io = |purpose, operation, [count, bytes]: [&str; 2]| {
        let counted = Counted {
            count: of(count),
            time_ns: None,
            bytes: of(bytes),
        };
        FileIo::counted(purpose, operation, STATUS, counted)
    };
    let [read, write] = IoOperation::ALL;
    let [data, log] = [Purpose::Data, Purpose::Log];
    let mut files = vec![
        io(data, read, ["Innodb_data_reads", "Innodb_data_read"]),
        io(data, write, ["Innodb_data_writes", "Innodb_data_written"]),
        FileIo::unknown(log, read, IoUnknown::NotCounted),
        io(log, write, ["Innodb_log_writes", "Innodb_os_log_written"]),
    ];
    for (purpose, why) in [
        (Purpose::Temporary, IoUnknown::NotCounted),
        (Purpose::Undo, IoUnknown::CountedAsData),
    ] {
        let both = IoOperation::ALL.map(|operation| FileIo::unknown(purpose, operation, why));
        files.extend(both);
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_purpose_has_its_counters_or_a_reason() {
        let status = |name: &str| match name {
            "Innodb_data_reads" => Some(10),
            "Innodb_data_read" => Some(163_840),
            "Innodb_data_written" => Some(32_768),
            "Innodb_os_log_written" => Some(1_024),
            _ => None,
        };
        let told = files(&status);
        assert_eq!(told.len(), 8);
        let of = |purpose, operation| {
            let mut found = told.iter();
            let is = |io: &&FileIo| (io.purpose, io.operation) == (purpose, operation);
            found.find(is).unwrap().clone()
        };
        let [read, write] = IoOperation::ALL;
        let reads = of(Purpose::Data, read).counted.unwrap();
        assert_eq!((reads.count, reads.bytes), (Some(10), Some(163_840)));
        let written = of(Purpose::Data, write).counted.unwrap();
        assert_eq!((written.count, written.bytes), (None, Some(32_768)));
        let log = of(Purpose::Log, write);
        assert_eq!(log.source, "Innodb status");
        assert_eq!(log.counted.unwrap().bytes, Some(1_024));
        for operation in IoOperation::ALL {
            let spilled = of(Purpose::Temporary, operation).counted;
            assert_eq!(spilled, Err(IoUnknown::NotCounted));
            let undo = of(Purpose::Undo, operation).counted;
            assert_eq!(undo, Err(IoUnknown::CountedAsData));
        }
    }
}
