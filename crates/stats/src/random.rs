//! Pseudo-random numbers that are the same on every machine, so that whoever has the seed has the result.

/// xoshiro256++ 1.0, its state filled by SplitMix64.
///
/// Source: Blackman & Vigna 2021, "Scrambled linear pseudorandom number generators", and their reference
/// code (public domain). Limits: period 2²⁵⁶ − 1; not for secrets.
/// Golden: SplitMix64 from seed 0 begins with `0xe220a8397b1dcdaf`.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// A generator that repeats itself for the same seed.
    pub fn new(seed: u64) -> Self {
        let mut mixed = seed;
        let state = [(); 4].map(|()| split_mix(&mut mixed));
        Self { state }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in [0, 1), with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in 0 ≤ i < `count` by multiply and shift; 0 when `count` is 0. The bias is below
    /// `count` / 2⁶⁴.
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.bits()) * count as u128) >> 64) as usize
    }

    /// Standard normal, by the polar method of Marsaglia.
    pub fn normal(&mut self) -> f64 {
        // A pass succeeds with probability π/4, so 256 failures in a row have probability 10⁻¹⁷¹.
        for _ in 0..256 {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
        0.0
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_sequences() {
        let mut state = 0;
        assert_eq!(split_mix(&mut state), 0xe220_a839_7b1d_cdaf);
        let mut counting = Random {
            state: [1, 2, 3, 4],
        };
        // The first two outputs that the reference code gives for the state 1, 2, 3, 4.
        assert_eq!((counting.bits(), counting.bits()), (41_943_041, 58_720_359));
    }

    #[test]
    fn uniform_and_normal_have_their_moments() {
        let mut random = Random::new(7);
        let n = 100_000;
        let uniform: f64 = (0..n).map(|_| random.uniform()).sum::<f64>() / f64::from(n);
        assert!((uniform - 0.5).abs() < 0.004, "{uniform}");
        let normals: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mean = normals.iter().sum::<f64>() / f64::from(n);
        let square = normals.iter().map(|z| z * z).sum::<f64>() / f64::from(n);
        assert!(
            mean.abs() < 0.012 && (square - 1.0).abs() < 0.02,
            "{mean} {square}"
        );
        assert!((0..1000).all(|_| random.below(3) < 3) && random.below(0) == 0);
    }
}
