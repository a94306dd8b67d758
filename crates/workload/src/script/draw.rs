//! Generators of parameter values.

use stats::random::{Random, mix};

/// Generator, checked so that drawing cannot fail.
#[derive(Debug, Clone, PartialEq)]
pub enum Draw {
    /// Every number of a range with equal chance.
    Uniform {
        low: i64,
        high: i64,
    },
    /// Number *k* of the range with a chance in proportion to 1/k^exponent.
    Zipf(Zipf, i64),
    /// Non-uniform random number of TPC-C: some numbers of the range are more likely than others, spread over all of
    /// it.
    NuRand {
        low: i64,
        high: i64,
        /// Width of the bit pattern that makes it uneven.
        a: i64,
    },
    /// Consecutive numbers, none twice over all jobs since the data were set up.
    Sequence {
        start: i64,
    },
    Numbers(Vec<i64>),
    Texts(Vec<String>),
    /// Text of so many lower-case letters.
    Letters(usize),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Drawn {
    #[default]
    Nothing,
    Int(i64),
    Text(String),
}

/// Identity of a job among the jobs of a point, which separates their sequences.
#[derive(Debug, Clone, Copy)]
pub struct JobSlot {
    /// From 0.
    pub job: u64,
    pub jobs: u64,
    /// Seed of the point, which determines constants that all jobs share.
    pub seed: u64,
    /// Value that sequences had reached when the point began.
    pub base: u64,
}

impl Draw {
    /// Draws the next value; `drawn` counts the values that this job drew here before.
    #[inline]
    pub fn draw(&self, random: &mut Random, slot: &JobSlot, drawn: u64, into: &mut Drawn) {
        let number = match self {
            Draw::Uniform { low, high } => in_range(random, *low, *high),
            Draw::Zipf(zipf, low) => low.wrapping_add(zipf.draw(random) as i64 - 1),
            Draw::NuRand { low, high, a } => {
                let c = (mix(slot.seed) % (*a as u64 + 1)) as i64;
                nurand(random, *low, *high, *a, c)
            }
            Draw::Sequence { start } => {
                start.wrapping_add((slot.base + drawn * slot.jobs + slot.job) as i64)
            }
            Draw::Numbers(list) => list[random.below(list.len() as u64) as usize],
            Draw::Texts(list) => {
                let chosen = &list[random.below(list.len() as u64) as usize];
                let text = text_of(into);
                text.push_str(chosen);
                return;
            }
            Draw::Letters(length) => {
                let text = text_of(into);
                for _ in 0..*length {
                    text.push(char::from(b'a' + random.below(26) as u8));
                }
                return;
            }
        };
        *into = Drawn::Int(number);
    }
}

/// Emptied text of a value, with its memory.
fn text_of(drawn: &mut Drawn) -> &mut String {
    if !matches!(drawn, Drawn::Text(_)) {
        *drawn = Drawn::Text(String::new());
    }
    match drawn {
        Drawn::Text(text) => {
            text.clear();
            text
        }
        Drawn::Nothing | Drawn::Int(_) => unreachable!("the line above has made it a text"),
    }
}

#[inline]
fn in_range(random: &mut Random, low: i64, high: i64) -> i64 {
    let span = high.wrapping_sub(low) as u64;
    low.wrapping_add(random.range(0, span) as i64)
}

/// TPC-C clause 2.1.6: `(((random(0, A) | random(x, y)) + C) % (y − x + 1)) + x`.
fn nurand(random: &mut Random, low: i64, high: i64, a: i64, c: i64) -> i64 {
    let bits = in_range(random, 0, a) | in_range(random, low, high);
    (bits + c).rem_euclid(high - low + 1) + low
}

/// Ranks 1 … n with chances in proportion to 1/k^s, drawn without a table by rejection-inversion (Hörmann & Derflinger
/// 1996): the chance is bounded by a continuous curve whose integral can be inverted, and nearly every draw is
/// accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Zipf {
    n: f64,
    s: f64,
    /// The integral from the left edge of rank 1, and at the right edge of rank n.
    area_first: f64,
    area_last: f64,
    /// Draws within this distance right of their rank are accepted without a test.
    sure: f64,
}

impl Zipf {
    /// Ranks 1 … `n` (at least 1) with exponent `s` (above 0).
    pub fn new(n: u64, s: f64) -> Self {
        let mut zipf = Self {
            n: n as f64,
            s,
            area_first: 0.0,
            area_last: 0.0,
            sure: 0.0,
        };
        zipf.area_first = zipf.area(1.5) - 1.0;
        zipf.area_last = zipf.area(zipf.n + 0.5);
        zipf.sure = 2.0 - zipf.area_inverse(zipf.area(2.5) - zipf.height(2.0));
        zipf
    }

    #[inline]
    pub fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let area = self.area_last + random.unit() * (self.area_first - self.area_last);
            let x = self.area_inverse(area);
            let rank = x.round().clamp(1.0, self.n);
            if rank - x <= self.sure || area >= self.area(rank + 0.5) - self.height(rank) {
                return rank as u64;
            }
        }
    }

    fn height(&self, x: f64) -> f64 {
        (-self.s * x.ln()).exp()
    }

    /// ∫ x^−s = (x^(1−s) − 1)/(1 − s), which converges to ln x at s = 1.
    fn area(&self, x: f64) -> f64 {
        let log = x.ln();
        log * ratio(f64::exp_m1, (1.0 - self.s) * log)
    }

    fn area_inverse(&self, area: f64) -> f64 {
        // Rounding may lead below the smallest argument that has a logarithm.
        let t = (area * (1.0 - self.s)).max(-1.0);
        (area * ratio(f64::ln_1p, t)).exp()
    }
}

/// `f(x)/x` for the two functions that are x itself to first order.
fn ratio(f: fn(f64) -> f64, x: f64) -> f64 {
    if x.abs() > 1e-12 { f(x) / x } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: JobSlot = JobSlot {
        job: 2,
        jobs: 5,
        seed: 7,
        base: 0,
    };

    fn draws(draw: &Draw, count: u64) -> Vec<i64> {
        let mut random = Random::new(11);
        let mut into = Drawn::default();
        (0..count)
            .map(|drawn| {
                draw.draw(&mut random, &PLACE, drawn, &mut into);
                match &into {
                    Drawn::Int(n) => *n,
                    other => panic!("{other:?} is no number"),
                }
            })
            .collect()
    }

    /// χ² of 100 000 draws against the exact chances of ten ranks: with 9 degrees of freedom above 33.7 once in 10 000
    /// seeds; the seed is fixed.
    #[test]
    fn zipf_has_the_exact_chances() {
        for s in [0.3, 0.99, 1.0, 1.0 + 1e-9, 1.3, 2.5] {
            let zipf = Zipf::new(10, s);
            let mut random = Random::new(5);
            let mut seen = [0f64; 10];
            (0..100_000).for_each(|_| seen[zipf.draw(&mut random) as usize - 1] += 1.0);
            let total: f64 = (1..=10).map(|k| f64::from(k).powf(-s)).sum();
            let chi2: f64 = (1..=10)
                .zip(seen)
                .map(|(k, seen)| {
                    let expected = 1e5 * f64::from(k).powf(-s) / total;
                    (seen - expected).powi(2) / expected
                })
                .sum();
            assert!(chi2 < 33.7, "exponent {s}: {chi2} {seen:?}");
        }
    }

    #[test]
    fn zipf_keeps_its_range() {
        let mut random = Random::new(6);
        let one = Zipf::new(1, 1.1);
        assert!((0..1000).all(|_| one.draw(&mut random) == 1));
        let many = Zipf::new(1_000_000_000, 1.01);
        let drawn: Vec<u64> = (0..10_000).map(|_| many.draw(&mut random)).collect();
        assert!(drawn.iter().all(|k| (1..=1_000_000_000).contains(k)));
        assert!(drawn.iter().any(|k| *k > 1_000_000) && drawn.contains(&1));
        let draw = Draw::Zipf(Zipf::new(3, 1.0), 100);
        assert!(draws(&draw, 1000).iter().all(|n| (100..=102).contains(n)));
    }

    #[test]
    fn uniform_and_lists_reach_everything() {
        let draw = Draw::Uniform { low: -2, high: 2 };
        let seen: std::collections::BTreeSet<i64> = draws(&draw, 200).into_iter().collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [-2, -1, 0, 1, 2]);
        let whole = Draw::Uniform {
            low: i64::MIN,
            high: i64::MAX,
        };
        assert!(draws(&whole, 100).iter().any(|n| *n < 0));
        let draw = Draw::Numbers(vec![4, 8]);
        let seen = draws(&draw, 100);
        assert!(seen.contains(&4) && seen.contains(&8));
    }

    #[test]
    fn sequences_of_jobs_are_apart() {
        assert_eq!(draws(&Draw::Sequence { start: 100 }, 3), [102, 107, 112]);
    }

    /// With A = 255 over 1..=1000 the chances differ: the most frequent value comes far more often than 1/1000.
    #[test]
    fn nurand_is_uneven_and_keeps_its_range() {
        let draw = Draw::NuRand {
            low: 1,
            high: 1000,
            a: 255,
        };
        let all = draws(&draw, 100_000);
        assert!(all.iter().all(|n| (1..=1000).contains(n)));
        let mut counts = vec![0; 1001];
        all.iter().for_each(|n| counts[*n as usize] += 1);
        assert!(counts.iter().max().unwrap() > &300, "uniform has about 100");
        assert_eq!(draws(&draw, 10), draws(&draw, 10));
    }

    #[test]
    fn texts_use_their_memory_again() {
        let (mut random, mut into) = (Random::new(1), Drawn::default());
        Draw::Letters(5).draw(&mut random, &PLACE, 0, &mut into);
        assert!(matches!(&into, Drawn::Text(t) if t.len() == 5 && t.is_ascii()));
        Draw::Texts(vec!["red".into()]).draw(&mut random, &PLACE, 0, &mut into);
        assert_eq!(into, Drawn::Text("red".into()));
    }
}
