//! Peak memory of a piece of work.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the allocations of each thread. A test program that uses [`peak_bytes`] has it as its allocator: `#[global_allocator] static
/// MEMORY: testing::Counting = testing::Counting;`.
pub struct Counting;

thread_local! {
    static TAKEN: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // The thread's numbers may be gone while it ends.
    let _ = TAKEN.try_with(|taken| {
        let now = taken.get() + bytes;
        taken.set(now);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now)));
    });
}

// SAFETY: every call is passed on to the system's allocator; counting neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(bytes as isize - layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(memory, layout, bytes) }
    }
}

/// Peak memory of this thread during `work`, beyond its earlier use. It panics in a program with another allocator, where the number would
/// be meaningless.
pub fn peak_bytes<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.get();
    let probe = vec![0_u8; 1 << 10];
    assert!(
        TAKEN.get() > before,
        "this program has another allocator than testing::Counting"
    );
    drop(probe);
    PEAK.set(before);
    let result = work();
    (result, PEAK.get().abs_diff(before))
}
