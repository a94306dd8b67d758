//! Where the long texts of a chunk lie until DuckDB has copied them.
//!
//! DuckDB's own functions for that take a lock and allocate for each text.

/// Bytes of a block: the texts of a chunk of most tables fit into one.
const BLOCK_BYTES: usize = 256 << 10;
/// Blocks whose memory is kept for the next chunk.
const BLOCKS_KEPT_MAX: usize = 32;

/// Bytes at addresses that stay as they are until [`TextHeap::clear`].
#[derive(Debug, Default)]
pub(super) struct TextHeap {
    /// Each is filled up to its capacity and never grown beyond, which would move it.
    blocks: Vec<Vec<u8>>,
    /// Blocks before this one are full.
    at: usize,
}

impl TextHeap {
    /// Copies bytes, and gives the address at which they are.
    #[inline]
    pub(super) fn keep(&mut self, bytes: &[u8]) -> *const u8 {
        loop {
            match self.blocks.get_mut(self.at) {
                Some(block) if block.capacity() - block.len() >= bytes.len() => {
                    let from = block.len();
                    block.extend_from_slice(bytes);
                    return block.as_ptr().wrapping_add(from);
                }
                Some(_) => self.at += 1,
                None => self.grow(bytes.len()),
            }
        }
    }

    #[cold]
    fn grow(&mut self, bytes: usize) {
        self.blocks.push(Vec::with_capacity(bytes.max(BLOCK_BYTES)));
    }

    /// Forgets everything: no address is good any more.
    pub(super) fn clear(&mut self) {
        self.blocks.truncate(BLOCKS_KEPT_MAX);
        // One long text need not be paid for as long as the load lasts.
        self.blocks
            .retain(|block| block.capacity() <= 2 * BLOCK_BYTES);
        self.blocks.iter_mut().for_each(Vec::clear);
        self.at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_where_they_are() {
        let mut heap = TextHeap::default();
        for _ in 0..2 {
            let texts: Vec<Vec<u8>> = (0..300_usize)
                .map(|n| vec![n as u8; [13, 5000, BLOCK_BYTES + 1][n % 97 % 3]])
                .collect();
            let places: Vec<*const u8> = texts.iter().map(|text| heap.keep(text)).collect();
            for (text, place) in texts.iter().zip(places) {
                // SAFETY: the heap has not been cleared since it gave the address.
                let kept = unsafe { std::slice::from_raw_parts(place, text.len()) };
                assert_eq!(kept, text);
            }
            heap.clear();
            assert!(heap.blocks.len() <= BLOCKS_KEPT_MAX);
            assert!(heap.blocks.iter().all(|block| block.is_empty()));
        }
    }
}
