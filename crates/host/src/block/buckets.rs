//! The buckets of a time: 16 in every doubling, so that none is wider than a sixteenth of its values.
//!
//! Index of v ns: v itself below 16; else with m = floor(log2 v): 16 (m - 3) + (floor(v / 2^(m - 4)) mod 16).
//! Times from 2^40 ns (18 minutes) on are in the last one.

/// Parts of a doubling, as a power of two.
pub(super) const PARTS_BITS: u32 = 4;
pub(super) const TIME_BITS: u32 = 40;
pub(super) const BUCKETS: usize =
    (((TIME_BITS - PARTS_BITS) << PARTS_BITS) + (1 << PARTS_BITS)) as usize;

pub(super) fn low_ns(bucket: usize) -> u64 {
    let parts = 1_u64 << PARTS_BITS;
    let (doubling, part) = (bucket as u64 >> PARTS_BITS, bucket as u64 & (parts - 1));
    match doubling {
        0 => part,
        doubling => (parts + part) << (doubling - 1),
    }
}

pub(super) fn middle_ns(bucket: usize) -> u64 {
    low_ns(bucket).midpoint(low_ns(bucket + 1).saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket_of(ns: u64) -> usize {
        let doubling = 63_u32.saturating_sub((ns | 1).leading_zeros());
        if doubling < PARTS_BITS {
            ns as usize
        } else {
            let part = (ns >> (doubling - PARTS_BITS)) & 15;
            (((doubling - 3) << PARTS_BITS) as u64 | part) as usize
        }
    }

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        assert_eq!(BUCKETS, 592);
        for bucket in 0..BUCKETS {
            assert_eq!(bucket_of(low_ns(bucket)), bucket);
            assert_eq!(bucket_of(low_ns(bucket + 1) - 1), bucket);
            assert_eq!(bucket_of(middle_ns(bucket)), bucket);
        }
        assert_eq!(low_ns(BUCKETS), 1 << TIME_BITS);
    }
}
