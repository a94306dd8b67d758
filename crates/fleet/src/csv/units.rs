//! Detection of numbers under the right name that cannot have the right unit.

use verdict::fleet::Mix;

use crate::entry::Bucket;

/// No storage completes all its I/Os faster, µs: such numbers are milliseconds or seconds.
const LONGEST_US_MIN: f64 = 20.0;
/// No storage takes longer for every single I/O, µs: such numbers are nanoseconds.
const SHORTEST_US_MAX: f64 = 50_000.0;

#[derive(Debug, Default)]
pub struct Units {
    longest_us: Option<(f64, u64)>,
    shortest_us: Option<(f64, u64)>,
    read_pct: Option<(f64, u64)>,
    has_part: bool,
}

impl Units {
    pub fn note(&mut self, line: u64, buckets: &[Bucket], mix: &Mix) {
        for bucket in buckets.iter().filter(|bucket| bucket.count > 0) {
            let ends = [Some(bucket.low_us), bucket.high_us];
            for end in ends.into_iter().flatten().filter(|end| *end > 0.0) {
                if self.longest_us.is_none_or(|(longest, _)| end > longest) {
                    self.longest_us = Some((end, line));
                }
                if self.shortest_us.is_none_or(|(shortest, _)| end < shortest) {
                    self.shortest_us = Some((end, line));
                }
            }
        }
        if let Some(read_pct) = mix.read_pct {
            self.has_part |= read_pct > 0.0 && read_pct < 1.0;
            if self.read_pct.is_none_or(|(largest, _)| read_pct > largest) {
                self.read_pct = Some((read_pct, line));
            }
        }
    }

    /// The line and its mistake, at the end of a file.
    pub fn wrong(&self) -> Option<(u64, String)> {
        if let Some((longest, line)) = self.longest_us.filter(|(us, _)| *us < LONGEST_US_MIN) {
            return Some((
                line,
                format!(
                    "no bucket of the file that holds I/Os goes beyond {longest}; these look like milliseconds or seconds, and \
                     low_us and high_us are in µs: multiply them by 1,000 or 1,000,000"
                ),
            ));
        }
        if let Some((shortest, line)) = self.shortest_us.filter(|(us, _)| *us > SHORTEST_US_MAX) {
            return Some((
                line,
                format!(
                    "no bucket of the file that holds I/Os begins or ends below {shortest}; these look like nanoseconds, and \
                     low_us and high_us are in µs: divide them by 1,000"
                ),
            ));
        }
        let (largest, line) = self
            .read_pct
            .filter(|(pct, _)| self.has_part && *pct <= 1.0)?;
        Some((
            line,
            format!(
                "read_pct is at most {largest} in the whole file; these look like shares from 0 to 1, and read_pct is in \
                 percent: multiply it by 100"
            ),
        ))
    }
}
