//! Coverage of the 95 % interval over synthetic tables of fifty shapes with many seeds. A table is a row of pieces of
//! known sizes, packed by a model of a store; the estimator sees the sample alone. scripts/columnar-size-coverage.sh
//! does the same with a real store.

use stats::random::Random;

use super::{Evidence, GROUP_ROWS, predict};
use crate::size::sample::{PIECE_ROWS, PIECES_MIN, half_share};

const SHAPES: u64 = 50;
const SEEDS: u64 = 40;
const OF_GROUP: usize = (GROUP_ROWS / PIECE_ROWS) as usize;

/// Variation of piece sizes along a table, and the effect of packing.
struct Shape {
    pieces: usize,
    bytes: f64,
    /// Variation of the pieces: random, as a trend, and in waves.
    noise: f64,
    trend: f64,
    wave: f64,
    /// Share that packing neighbours together saves.
    neighbours: f64,
    /// Random relative variation of a group's size.
    luck: f64,
    grain_bytes: f64,
}

/// Random number in [0, 1).
fn drawn(random: &mut Random) -> f64 {
    random.index(1 << 30) as f64 / (1_u64 << 30) as f64
}

impl Shape {
    fn of(number: u64) -> Self {
        let random = &mut Random::new(number);
        // Only some shapes have each effect.
        let mut some = |most: f64| match random.index(2) {
            0 => 0.0,
            _ => most * drawn(random),
        };
        let (noise, trend, wave) = (some(0.3), some(0.8), some(0.4));
        let (neighbours, luck) = (some(0.4), some(0.12));
        Self {
            pieces: 40 + random.index(600),
            bytes: 10f64.powf(3.0 + 3.0 * drawn(random)),
            noise,
            trend,
            wave,
            neighbours,
            luck,
            grain_bytes: [4096.0, 262_144.0][random.index(2)],
        }
    }

    /// Bytes of each piece, packed separately.
    fn sizes(&self, random: &mut Random) -> Vec<f64> {
        let of = |at: usize| {
            let place = at as f64 / self.pieces as f64;
            let noise = self.noise * (2.0 * drawn(random) - 1.0);
            let wave = self.wave * (place * 40.0).sin();
            self.bytes * (1.0 + noise + self.trend * (place - 0.5) + wave)
        };
        (0..self.pieces).map(of).collect()
    }

    /// Bytes that the store allocates: groups, each with its luck, in whole allocation units.
    fn packed(&self, sizes: &[f64], are_neighbours: bool, random: &mut Random) -> f64 {
        let saved = if are_neighbours { self.neighbours } else { 0.0 };
        let group = |sizes: &[f64]| {
            let luck = 1.0 + self.luck * (2.0 * drawn(random) - 1.0);
            sizes.iter().sum::<f64>() * luck * (1.0 - saved)
        };
        let bytes: f64 = sizes.chunks(OF_GROUP).map(group).sum();
        (bytes / self.grain_bytes).ceil() * self.grain_bytes
    }

    /// True if the interval from one sample contains the size of the whole.
    fn holds(&self, seed: u64) -> bool {
        let random = &mut Random::new(seed);
        let sizes = self.sizes(random);
        let whole = self.packed(&sizes, true, random);
        let stretch = |number: u64| number as usize * self.pieces / PIECES_MIN as usize;
        let sample: Vec<f64> = (0..PIECES_MIN)
            .map(|n| sizes[stretch(n) + random.index(stretch(n + 1) - stretch(n))])
            .collect();
        let once = self.packed(&sample, false, random);
        // A sample of few allocation units is repeated, like a real one.
        let copies = if once < 80.0 * self.grain_bytes {
            (self.pieces / sample.len()).clamp(1, 6)
        } else {
            1
        };
        let again = sample.repeat(copies);
        let bytes = self.packed(&again, false, random);
        let third = |first: usize, random: &mut Random| {
            let third: Vec<f64> = sample.iter().skip(first).step_by(3).copied().collect();
            let luck = 1.0 + self.luck * (2.0 * drawn(random) - 1.0);
            (third.iter().sum::<f64>() * luck / third.len() as f64) / (self.bytes)
        };
        let all = sample.iter().sum::<f64>() / sample.len() as f64 / self.bytes;
        let lucks = [0, 1, 2].map(|first| (third(first, random) / all - 1.0).abs());
        let evidence = Evidence {
            bytes,
            rows: GROUP_ROWS as f64,
            is_whole: false,
            scale: self.pieces as f64 / again.len() as f64,
            grain_bytes: self.grain_bytes,
            sampling_share: half_share(&sample, self.pieces as u64),
            neighbours_share: self.neighbours,
            together_share: 0.0,
            luck_share: lucks.into_iter().fold(0.0, f64::max),
            pieces: sample.len() as f64,
        };
        predict(&evidence).covers(whole)
    }
}

#[test]
fn intervals_hold_as_often_as_they_say() {
    let mut held = 0;
    for number in 0..SHAPES {
        let shape = Shape::of(number);
        let of_shape = (0..SEEDS)
            .filter(|seed| shape.holds(number * SEEDS + seed))
            .count();
        assert!(
            of_shape as u64 * 10 >= SEEDS * 8,
            "shape {number}: {of_shape} of {SEEDS}"
        );
        held += of_shape as u64;
    }
    let all = SHAPES * SEEDS;
    assert!(held * 100 >= all * 95, "{held} of {all}");
}
