//! Memory at this moment: what the machine has left, and what this process takes.

use crate::counters::parse;

/// Bytes that programs may still take without anything being swapped out; `None` where the kernel does not tell.
pub fn available_bytes() -> Option<u64> {
    Some(parse::memory(&std::fs::read("/proc/meminfo").ok()?)?.available)
}

/// Bytes of this process that are in memory.
pub fn resident_bytes() -> Option<u64> {
    // SAFETY: the function takes a number and touches no memory of ours.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let page_bytes = u64::try_from(page_bytes).ok()?;
    parse::resident_bytes(&std::fs::read("/proc/self/statm").ok()?, page_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_in_memory_that_is_there() {
        let before = resident_bytes().unwrap();
        let block = vec![1_u8; 64 << 20];
        let after = resident_bytes().unwrap();
        assert_eq!(
            block.iter().map(|b| usize::from(*b)).sum::<usize>(),
            block.len()
        );
        assert!(after > before + (32 << 20), "{before} {after}");
        assert!(available_bytes().unwrap() > 0);
    }
}
