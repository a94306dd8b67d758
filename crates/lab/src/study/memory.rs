//! Check of the machine's memory for two instances at once.

use host::memory::available_bytes;

use super::side::Side;
use crate::error::Result;

/// Reason why servers that dbdyno would start together do not fit into the available memory. `None` if they fit, or
/// if it is unknown.
pub(super) fn shortage(sides: &[Side]) -> Result<Option<String>> {
    let mut needed_bytes = 0_u64;
    for url in sides.iter().flat_map(|side| &side.targets) {
        // The least need is that with one session.
        let of_server = engines::find(url)?.memory_need_bytes(url, 1);
        needed_bytes = needed_bytes.saturating_add(of_server.unwrap_or(0));
    }
    let there_bytes = available_bytes();
    Ok(there_bytes.and_then(|there_bytes| words_of_shortage(needed_bytes, there_bytes)))
}

fn words_of_shortage(needed_bytes: u64, there_bytes: u64) -> Option<String> {
    let mib = |bytes: u64| bytes >> 20;
    (needed_bytes > there_bytes).then(|| {
        format!(
            "the servers of both sides need {} MiB of memory at once, but only {} MiB are available",
            mib(needed_bytes),
            mib(there_bytes)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_both_sizes() {
        assert_eq!(words_of_shortage(2 << 30, 2 << 30), None);
        let words = words_of_shortage(3 << 30, 2 << 30).unwrap();
        assert!(
            words.contains("need 3072 MiB") && words.contains("only 2048 MiB"),
            "{words}"
        );
    }
}
