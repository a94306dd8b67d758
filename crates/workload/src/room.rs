//! Detection of a full disk, which may end a server without a message to its clients.

use std::path::Path;

use engine::{ErrorKind, Target, TargetError};

/// Free space below which a file system counts as full: a log segment, without which a server cannot work.
const LITTLE_ROOM_BYTES: u64 = 16 << 20;

/// Sentence about the file system of a target's data, if it is full.
pub(crate) fn shortage(data: Option<&Path>) -> Option<String> {
    let directory = data?;
    sentence(directory, host::room(directory)?.free_bytes)
}

fn sentence(directory: &Path, free_bytes: u64) -> Option<String> {
    (free_bytes < LITTLE_ROOM_BYTES).then(|| {
        format!(
            "the file system of {} is full: only {:.1} MB are free; free some space there",
            directory.display(),
            free_bytes as f64 / 1e6
        )
    })
}

/// Error of a target, explained if the target has gone away because its disk is full.
pub fn explained(error: TargetError, target: &dyn Target) -> TargetError {
    let gone = error.kind == ErrorKind::Unreachable;
    let shortage = shortage(target.data_path().filter(|_| gone));
    match shortage {
        Some(shortage) => {
            TargetError::new(ErrorKind::Full, format!("{}; {shortage}", error.message))
        }
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_room_for_a_log_segment_is_full() {
        let place = Path::new("/data/pg");
        assert_eq!(
            sentence(place, 1_500_000).unwrap(),
            "the file system of /data/pg is full: only 1.5 MB are free; free some space there"
        );
        assert_eq!(sentence(place, LITTLE_ROOM_BYTES), None);
    }
}
