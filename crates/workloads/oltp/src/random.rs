//! Random inputs of the specification (clauses 2.1.6 and 4.3.2).

use stats::random::Random;

/// Letters and digits. Six random bits select one; 62 is not a power of two, so the last two positions repeat letters,
/// which come up twice as often.
const ALPHANUMERIC: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789en";
const LETTERS_PER_WORD: usize = 10;
/// Syllables of last names, by digit (clause 4.3.2.3).
const SYLLABLES: [&str; 10] = [
    "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING",
];
pub const LAST_NAME_MAX: usize = 15;
pub const LAST_NAMES: u64 = 1000;

/// A non-uniform choice: some values are drawn far more often than others (clause 2.1.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nurand {
    /// 255 for last names, 1023 for customers, 8191 for items.
    pub a: u64,
    /// Run-time constant that decides which values are the frequent ones.
    pub c: u64,
}

impl Nurand {
    /// Value in `low..=high`.
    #[inline]
    pub fn draw(self, random: &mut Random, low: u64, high: u64) -> u64 {
        let value = random.range(0, self.a) | random.range(low, high);
        (value + self.c) % (high - low + 1) + low
    }
}

/// Choice of last names during the load; its constant follows from the seed.
pub fn last_names_of_load(seed: u64) -> Nurand {
    const STREAM: u64 = u64::MAX;
    let c = Random::stream(seed, STREAM).range(0, 255);
    Nurand { a: 255, c }
}

/// Writes last name number `number` (0–999), three syllables, and returns its length.
pub fn put_last_name(number: u64, into: &mut [u8; LAST_NAME_MAX]) -> usize {
    let digits = [number / 100, number / 10, number];
    let mut length = 0;
    for digit in digits {
        let syllable = SYLLABLES[(digit % 10) as usize].as_bytes();
        into[length..length + syllable.len()].copy_from_slice(syllable);
        length += syllable.len();
    }
    length
}

/// Fills `into` with random letters and digits. A load waits for this, so one random word makes ten.
#[inline]
pub fn fill_alphanumeric(random: &mut Random, into: &mut [u8]) {
    for chunk in into.chunks_mut(LETTERS_PER_WORD) {
        let mut bits = random.next_u64();
        for letter in chunk {
            *letter = ALPHANUMERIC[(bits & 63) as usize];
            bits >>= 6;
        }
    }
}

#[inline]
pub fn fill_digits(random: &mut Random, into: &mut [u8]) {
    into.iter_mut()
        .for_each(|digit| *digit = b'0' + random.below(10) as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: u64) -> String {
        let mut text = [0; LAST_NAME_MAX];
        let length = put_last_name(number, &mut text);
        String::from_utf8(text[..length].to_vec()).unwrap()
    }

    /// The first is the specification's own example.
    #[test]
    fn last_names_are_syllables_of_their_digits() {
        assert_eq!(name(371), "PRICALLYOUGHT");
        assert_eq!(
            (name(0), name(999)),
            ("BARBARBAR".into(), "EINGEINGEING".into())
        );
        let longest = (0..LAST_NAMES).map(|n| name(n).len()).max();
        assert_eq!(longest, Some(LAST_NAME_MAX));
        let names: std::collections::HashSet<String> = (0..LAST_NAMES).map(name).collect();
        assert_eq!(names.len(), 1000);
    }

    /// The number of one bits of `rand(0,255) | rand(0,999)` decides how often a value comes: 255 | x has eight low
    /// bits set far more often than none. The constant rotates the frequent values, nothing else.
    #[test]
    fn some_values_are_drawn_far_more_often() {
        let draws = |c| {
            let mut counts = vec![0_u32; 1000];
            let mut random = Random::new(1);
            let choice = Nurand { a: 255, c };
            (0..200_000).for_each(|_| counts[choice.draw(&mut random, 0, 999) as usize] += 1);
            counts
        };
        let (plain, turned) = (draws(0), draws(100));
        let (most, least) = (plain.iter().max(), plain.iter().min());
        assert!(
            most.unwrap() > &2000 && least.unwrap() < &20,
            "{most:?} {least:?}"
        );
        assert!((0..1000).all(|v| plain[v] == turned[(v + 100) % 1000]));
        let mut random = Random::new(2);
        let items = Nurand { a: 8191, c: 77 };
        assert!((0..10_000).all(|_| (1..=100_000).contains(&items.draw(&mut random, 1, 100_000))));
    }

    #[test]
    fn texts_are_letters_and_digits_of_all_kinds() {
        let mut random = Random::new(3);
        let mut text = [0; 5003];
        fill_alphanumeric(&mut random, &mut text);
        let kinds: std::collections::HashSet<u8> = text.into_iter().collect();
        assert_eq!(kinds.len(), 62);
        assert!(text.iter().all(u8::is_ascii_alphanumeric));
        fill_digits(&mut random, &mut text);
        assert!(text.iter().all(u8::is_ascii_digit));
    }
}
