//! Bars, one column an interval, the newest at the right.

use std::collections::BTreeMap;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use super::paint::{Paint, put};

/// Columns of the scale.
pub const SCALE: u16 = 7;
/// A cell that is filled by eighths.
const EIGHTHS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
/// What the parts of a stack are filled with, so that they are told apart without colours.
const FILLS: [&str; 7] = ["█", "▓", "▒", "░", "#", "+", "o"];
/// A value of 0, where nothing at all would be a value that is not known.
const ZERO: &str = "_";
/// From little to much.
const SHADES: [&str; 4] = ["░", "▒", "▓", "█"];

/// What a part of a stack is filled with.
pub fn fill(part: usize) -> &'static str {
    FILLS[part % FILLS.len()]
}

/// What is drawn into an area whose left columns are the scale.
pub struct Plot<'b> {
    buffer: &'b mut Buffer,
    area: Rect,
    paint: Paint,
}

impl<'b> Plot<'b> {
    pub fn new(buffer: &'b mut Buffer, area: Rect, paint: Paint) -> Self {
        Self {
            buffer,
            area,
            paint,
        }
    }

    /// Intervals that have a column.
    pub fn columns(area: Rect) -> usize {
        usize::from(area.width.saturating_sub(SCALE))
    }

    /// Stands for what cannot be drawn.
    pub fn sentence(&mut self, text: &str) {
        let middle = self.area.height / 2;
        let x = self.area.x + SCALE;
        put(self.buffer, self.area, x, middle, text, self.paint.soft());
    }

    /// Parts upon each other, of each interval that has a column; none where nothing is known.
    pub fn stacks(&mut self, stacks: &[Option<Vec<f64>>], top: f64) {
        for (x, stack) in self.newest(stacks) {
            if let Some(stack) = stack {
                self.stack(x, stack, top);
            }
        }
    }

    fn stack(&mut self, x: u16, parts: &[f64], top: f64) {
        let unit = top / f64::from(self.area.height);
        let all: f64 = parts.iter().sum();
        if all <= 0.0 {
            return self.cell(x, 0, ZERO, self.paint.soft());
        }
        for row in 0..self.area.height {
            let from = f64::from(row) * unit;
            let eighths = ((all - from) / unit * 8.0).ceil().clamp(0.0, 8.0) as usize;
            if eighths == 0 {
                break;
            }
            // What the middle of the filled piece belongs to.
            let middle = from + (all - from).min(unit) / 2.0;
            let mut below = 0.0;
            let part = parts.iter().position(|part| {
                below += part;
                below > middle
            });
            let part = part.unwrap_or(parts.len() - 1);
            let symbol = match eighths {
                8 => fill(part),
                eighths => EIGHTHS[eighths - 1],
            };
            self.cell(x, row, symbol, self.paint.part(part));
        }
    }

    /// Darker where a larger part of the operations is; from the lowest to the highest place of the scale.
    pub fn heat(&mut self, maps: &[&BTreeMap<i32, f64>], (low, high): (i32, i32)) {
        let places = i64::from(high - low).max(1);
        let rows = i64::from(self.area.height);
        for (x, map) in self.newest(maps) {
            let mut parts = vec![0.0; usize::from(self.area.height)];
            for (place, part) in map.iter() {
                // Fewer places than rows are as high as several of them.
                let place = i64::from(place - low);
                let from = place * rows / places;
                let to = ((place + 1) * rows / places).max(from + 1);
                for row in from..to {
                    if let Some(sum) = parts.get_mut(row as usize) {
                        *sum += part;
                    }
                }
            }
            for (row, part) in parts
                .into_iter()
                .enumerate()
                .filter(|(_, part)| *part > 0.0)
            {
                let shade = (part.sqrt() * SHADES.len() as f64) as usize;
                let shade = SHADES[shade.min(SHADES.len() - 1)];
                self.cell(x, row as u16, shade, self.paint.part(0));
            }
        }
    }

    /// Writes what the highest and the lowest row stand for.
    pub fn scale(&mut self, top: &str, bottom: &str) {
        self.label(self.area.height.saturating_sub(1), top);
        if self.area.height > 1 {
            self.label(0, bottom);
        }
    }

    /// A line at a value of the scale, behind the bars.
    pub fn line(&mut self, value: f64, top: f64, label: &str) {
        let rows = f64::from(self.area.height);
        let row = (value / top * rows).ceil() as u16;
        let row = row.clamp(1, self.area.height) - 1;
        for x in self.area.x + SCALE..self.area.right() {
            let y = self.area.bottom() - 1 - row;
            if self.buffer[(x, y)].symbol() == " " {
                self.cell(x, row, "╌", Style::new());
            }
        }
        self.label(row, label);
    }

    fn label(&mut self, row: u16, label: &str) {
        let width = usize::from(SCALE) - 1;
        let label = format!("{label:>width$} ");
        let row = self.area.height - 1 - row;
        let x = self.area.x;
        put(self.buffer, self.area, x, row, &label, self.paint.soft());
    }

    fn newest<'v, T>(&self, all: &'v [T]) -> impl Iterator<Item = (u16, &'v T)> + use<'v, T> {
        let columns = Self::columns(self.area);
        let shown = &all[all.len().saturating_sub(columns)..];
        let first = self.area.right() - shown.len() as u16;
        shown
            .iter()
            .enumerate()
            .map(move |(at, value)| (first + at as u16, value))
    }

    /// Rows count from the bottom.
    fn cell(&mut self, x: u16, row: u16, symbol: &str, style: Style) {
        let y = self.area.bottom() - 1 - row;
        self.buffer[(x, y)].set_symbol(symbol).set_style(style);
    }
}

/// Where scales end, with zeros.
const ENDS: [f64; 8] = [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0];

/// Where a scale ends well for values up to this one.
pub fn nice(highest: f64) -> f64 {
    let power = 10f64.powf(highest.max(1e-3).log10().floor());
    let ends = ENDS.map(|end| end * power);
    let end = ends.into_iter().find(|end| *end >= highest * 0.999);
    end.unwrap_or(highest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_well() {
        let tops = [0.0, 0.7, 1.0, 1.3, 2.001, 7.0, 430.0].map(nice);
        assert_eq!(tops, [0.001, 0.8, 1.0, 1.5, 2.0, 8.0, 600.0]);
    }
}
