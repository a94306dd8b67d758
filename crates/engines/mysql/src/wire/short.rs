//! Short texts that are put together without new memory.

use std::fmt;

use engine::plain::{put_date, put_decimal, put_moment};

/// The longest moment and the longest decimal fit.
const BYTES_MAX: usize = 48;

/// A text of a number or a moment.
pub struct Short {
    bytes: [u8; BYTES_MAX],
    length: usize,
}

impl Short {
    pub fn decimal(unscaled: i64, places: u8) -> Self {
        let mut short = Self::new();
        put_decimal(unscaled, places, &mut short);
        short
    }

    pub fn moment(us: i64) -> Self {
        let mut short = Self::new();
        put_moment(us, &mut short);
        short
    }

    pub fn date(days: i32) -> Self {
        let mut short = Self::new();
        put_date(i64::from(days), &mut short);
        short
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn new() -> Self {
        Self {
            bytes: [0; BYTES_MAX],
            length: 0,
        }
    }
}

impl fmt::Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        let room = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_fit() {
        let decimal = Short::decimal(i64::MIN, 4);
        assert_eq!(decimal.bytes(), b"-922337203685477.5808");
        for us in [i64::MIN, i64::MAX] {
            let moment = Short::moment(us);
            assert!(moment.bytes().contains(&b'.'), "cut off");
        }
    }
}
