//! Colours, and where a text goes on the screen.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

/// Colours where they are wanted; without them patterns and bold letters tell the same.
#[derive(Debug, Clone, Copy, Default)]
pub struct Paint {
    pub has_colour: bool,
}

/// Of the parts of a chart, in their order.
const COLOURS: [Color; 7] = [
    Color::Cyan,
    Color::Yellow,
    Color::Green,
    Color::Magenta,
    Color::Blue,
    Color::Red,
    Color::Gray,
];

impl Paint {
    pub fn part(self, number: usize) -> Style {
        self.coloured(COLOURS[number % COLOURS.len()])
    }

    pub fn bad(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub fn soft(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn coloured(self, colour: Color) -> Style {
        match self.has_colour {
            true => Style::new().fg(colour),
            false => Style::new(),
        }
    }
}

/// So many rows of an area, from one on, as far as it has them.
pub fn rows_of(area: Rect, from: u16, height: u16) -> Rect {
    let from = from.min(area.height);
    Rect {
        y: area.y + from,
        height: height.min(area.height - from),
        ..area
    }
}

/// Writes at a column of the screen into a row of an area, which nothing leaves; gives the column behind it.
pub fn put(buffer: &mut Buffer, area: Rect, x: u16, row: u16, text: &str, style: Style) -> u16 {
    if row >= area.height || x >= area.right() {
        return x;
    }
    let room = usize::from(area.right() - x);
    buffer.set_stringn(x, area.y + row, text, room, style).0
}
