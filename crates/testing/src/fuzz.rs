//! Hostile input: fixed cases in the suite, new ones for a given time with `make fuzz`.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Seconds for which each test with hostile input continues with new cases.
const SECONDS: &str = "DBDYNO_FUZZ_SECONDS";
/// The seed of a single case.
const SEED: &str = "DBDYNO_FUZZ_SEED";

/// Calls `check` with successive seeds: `usual` fixed ones in the suite; with `DBDYNO_FUZZ_SECONDS`, new ones until that time is over. A
/// failed case is named, and can be repeated with `DBDYNO_FUZZ_SEED`.
pub fn each_seed(usual: u64, mut check: impl FnMut(&mut Source)) {
    let variable = |name| std::env::var(name).ok();
    let number = |name| {
        let text: String = variable(name)?;
        Some(
            text.parse::<u64>()
                .unwrap_or_else(|_| panic!("{name} is no number: {text}")),
        )
    };
    if let Some(seed) = number(SEED) {
        return check(&mut Source::new(seed));
    }
    let Some(seconds) = number(SECONDS) else {
        (0..usual).for_each(|seed| one(seed, &mut check));
        return;
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let (begin, mut seed) = (Instant::now(), now.as_nanos() as u64);
    let mut cases = 0_u64;
    while begin.elapsed() < Duration::from_secs(seconds) {
        one(seed, &mut check);
        seed = seed.wrapping_add(1);
        cases += 1;
    }
    println!("{cases} cases");
}

fn one(seed: u64, check: &mut impl FnMut(&mut Source)) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(&mut Source::new(seed)))) {
        eprintln!("this case again: {SEED}={seed}");
        resume_unwind(panic);
    }
}

/// Random choices that a seed repeats (SplitMix64).
#[derive(Debug)]
pub struct Source(u64);

impl Source {
    pub fn new(seed: u64) -> Self {
        // Neighbouring seeds give unrelated streams.
        Self(seed.wrapping_mul(0xd6e8_feb8_6659_fd93))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of 0 … `count` − 1; 0 if there is none.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count.max(1) as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len())]
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.bits() as u8).collect()
    }

    /// Makes one to eight changes: bits, bytes, numbers at their limits, parts removed, doubled or copied from elsewhere in the same bytes,
    /// the end cut off.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(8) {
            self.mutate_once(bytes);
        }
    }

    fn mutate_once(&mut self, bytes: &mut Vec<u8>) {
        const LIMITS: [u64; 10] = [
            0,
            1,
            0x7f,
            0x80,
            0xff,
            0x7fff,
            0xffff,
            0x7fff_ffff,
            0xffff_ffff,
            u64::MAX,
        ];
        let at = self.below(bytes.len() + 1);
        let some = self.below((bytes.len() - at).min(64) + 1);
        match self.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 if at < bytes.len() => bytes[at] = self.bits() as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..at + some)),
            4 => {
                let again = bytes[at..at + some].to_vec();
                let to = self.below(bytes.len() + 1);
                bytes.splice(to..to, again);
            }
            5 => {
                let count = self.below(16);
                let new = self.bytes(count);
                bytes.splice(at..at, new);
            }
            _ => {
                let limit = *self.pick(&LIMITS);
                let width = 1 << self.below(4);
                let number = match self.below(2) {
                    0 => limit.to_be_bytes()[8 - width..].to_vec(),
                    _ => limit.to_le_bytes()[..width].to_vec(),
                };
                let end = (at + width).min(bytes.len());
                bytes.splice(at..end, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_case_and_others_differ() {
        let case = |seed| {
            let mut bytes = b"a conversation with a server".to_vec();
            Source::new(seed).mutate(&mut bytes);
            bytes
        };
        assert_eq!(case(7), case(7));
        let different: std::collections::BTreeSet<_> = (0..1000).map(case).collect();
        assert!(different.len() > 900, "{}", different.len());
    }

    #[test]
    fn empty_input_can_be_changed() {
        (0..1000).for_each(|seed| Source::new(seed).mutate(&mut Vec::new()));
    }
}
