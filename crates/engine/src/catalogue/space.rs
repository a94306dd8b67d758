//! Addresses by which a sample of a table can be read.

use std::ops::Range;

/// Addresses of the rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// Their name in the plural: blocks, row numbers, values of a key.
    pub unit: String,
    /// From the first to behind the last.
    pub range: Range<u64>,
    /// True if rows may be missing between them, as between keys.
    pub has_gaps: bool,
}

impl Space {
    /// Addresses of a kind; `None` when there are none.
    pub fn of(unit: impl Into<String>, range: Range<u64>) -> Option<Self> {
        let unit = unit.into();
        (!range.is_empty()).then_some(Self {
            unit,
            range,
            has_gaps: false,
        })
    }

    pub fn with_gaps(self) -> Self {
        Self {
            has_gaps: true,
            ..self
        }
    }

    /// How many addresses there are.
    pub fn extent(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Pieces of so many addresses that cover all.
    pub fn pieces(&self, width: u64) -> u64 {
        self.extent().div_ceil(width.max(1))
    }

    /// One of them, from 0; the last may be narrower.
    pub fn piece(&self, number: u64, width: u64) -> Range<u64> {
        let start = self
            .range
            .start
            .saturating_add(number.saturating_mul(width));
        start.min(self.range.end)..start.saturating_add(width).min(self.range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_every_address_once() {
        let space = Space::of("blocks", 5..105).unwrap();
        for width in [1, 7, 99, 100, 1000] {
            let all: Vec<u64> = (0..space.pieces(width))
                .flat_map(|number| space.piece(number, width))
                .collect();
            assert_eq!(all, (5..105).collect::<Vec<u64>>());
        }
        assert_eq!(Space::of("blocks", 3..3), None);
    }
}
