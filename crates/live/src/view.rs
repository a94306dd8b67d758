//! A run in a terminal: its state is a fold over the events, and a screen is drawn from it alone.
//!
//! * [`state`]: what is known of the run.
//! * [`keys`]: what was pressed.
//! * `panels`, `chart`, `lists`: what is drawn, with the means of `paint`.

mod chart;
pub mod keys;
mod lists;
mod paint;
mod panels;
pub mod state;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};
use report::number;

use archive::stream::StreamEvent;
use keys::Key;
use paint::{Paint, put, rows_of};
use state::State;

/// From this height on, points and remarks stand below the charts.
const ROOMY: u16 = 34;
/// Below this width the other sections are not named.
const NARROW: u16 = 64;
/// Rows above the section: point at work, progress, figures.
const HEAD: u16 = 3;

/// What fills the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Section {
    #[default]
    Charts,
    Points,
    Verdicts,
    Remarks,
}

impl Section {
    const ALL: [Self; 4] = [Self::Charts, Self::Points, Self::Verdicts, Self::Remarks];

    fn name(self) -> &'static str {
        match self {
            Self::Charts => "Charts",
            Self::Points => "Points",
            Self::Verdicts => "Verdicts",
            Self::Remarks => "Remarks",
        }
    }

    fn beside(self, step: usize) -> Self {
        let at = Self::ALL.iter().position(|section| *section == self);
        Self::ALL[(at.unwrap_or_default() + step) % Self::ALL.len()]
    }
}

/// How far a section is scrolled.
#[derive(Debug, Clone, Copy, Default)]
struct Scrolled {
    down: usize,
    right: usize,
}

/// A run as it is shown in a terminal.
#[derive(Debug, Default)]
pub struct View {
    state: State,
    section: Section,
    scrolled: Scrolled,
    paint: Paint,
}

impl View {
    /// With colours or, at first, without them.
    pub fn colour(&mut self, has_colour: bool) {
        self.paint = Paint { has_colour };
    }

    /// Takes an event, so many seconds after the view began.
    pub fn take(&mut self, event: &StreamEvent, at_s: f64) {
        self.state.take(event, at_s);
    }

    /// Goes to another section, or scrolls.
    pub fn press(&mut self, key: Key) {
        let Scrolled { down, right } = &mut self.scrolled;
        match key {
            Key::Up => *down = down.saturating_sub(1),
            Key::Down => *down += 1,
            Key::PageUp => *down = down.saturating_sub(10),
            Key::PageDown => *down += 10,
            Key::Left => *right = right.saturating_sub(8),
            Key::Right => *right += 8,
            Key::Next => self.go(self.section.beside(1)),
            Key::Previous => self.go(self.section.beside(Section::ALL.len() - 1)),
            Key::Quit => {}
        }
    }

    fn go(&mut self, section: Section) {
        self.section = section;
        self.scrolled = Scrolled::default();
    }

    /// Draws it, so many seconds after the view began.
    pub fn draw(&mut self, buffer: &mut Buffer, now_s: f64) {
        let area = buffer.area;
        let rows = area.height.saturating_sub(1);
        let head = HEAD.min(rows);
        panels::head(
            buffer,
            rows_of(area, 0, head),
            &self.state,
            now_s,
            self.paint,
        );
        let body = rows_of(area, head, rows - head);
        match self.section {
            Section::Charts if body.height >= ROOMY - HEAD => {
                let charts = body.height * 3 / 5;
                self.charts(buffer, rows_of(body, 0, charts));
                self.summary(buffer, rows_of(body, charts + 1, body.height - charts - 1));
            }
            Section::Charts => self.charts(buffer, body),
            Section::Points => {
                let table = lists::points(&self.state, usize::from(area.width), self.paint);
                self.list(buffer, body, &table);
            }
            Section::Verdicts => {
                let lines = lists::verdicts(&self.state);
                self.list(buffer, body, &lines);
            }
            Section::Remarks => {
                let lines = lists::remarks(&self.state, usize::from(area.width), self.paint);
                self.list(buffer, body, &lines);
            }
        }
        self.foot(buffer, rows_of(area, rows, area.height - rows));
    }

    fn charts(&mut self, buffer: &mut Buffer, area: Rect) {
        let hidden = panels::charts(buffer, area, &self.state, self.scrolled.down, self.paint);
        self.scrolled.down = self.scrolled.down.min(hidden);
    }

    /// Points beside verdicts and remarks; their newest lines.
    fn summary(&self, buffer: &mut Buffer, area: Rect) {
        let left = area.width * 3 / 5;
        let columns = [
            Rect {
                width: left,
                ..area
            },
            Rect {
                x: area.x + left + 2,
                width: area.width.saturating_sub(left + 2),
                ..area
            },
        ];
        let points = lists::points(&self.state, usize::from(left), self.paint);
        lists::draw(buffer, columns[0], &points, (0, 0));
        let said = lists::remarks(&self.state, usize::from(columns[1].width), self.paint);
        lists::draw(buffer, columns[1], &said, (0, 0));
    }

    fn list(&mut self, buffer: &mut Buffer, area: Rect, lines: &[lists::Line]) {
        let widest = lines.iter().map(|line| line.text.chars().count()).max();
        let hidden = widest
            .unwrap_or_default()
            .saturating_sub(usize::from(area.width));
        let below = lines.len().saturating_sub(usize::from(area.height));
        self.scrolled.down = self.scrolled.down.min(below);
        self.scrolled.right = self.scrolled.right.min(hidden);
        lists::draw(
            buffer,
            area,
            lines,
            (self.scrolled.down, self.scrolled.right),
        );
    }

    /// The sections, and what can be pressed.
    fn foot(&self, buffer: &mut Buffer, area: Rect) {
        let mut x = area.x;
        // On a narrow terminal the keys are worth more than the other sections.
        let is_shown = |section: &Section| area.width >= NARROW || *section == self.section;
        for section in Section::ALL.into_iter().filter(is_shown) {
            let count = match section {
                Section::Charts => 0,
                Section::Points => self.state.done,
                Section::Verdicts => self.state.verdicts.len(),
                Section::Remarks => self.state.remarks.len(),
            };
            let mut name = section.name().to_owned();
            if count > 0 {
                name.push_str(&format!(" {}", number::count(count as u64)));
            }
            let style = match section == self.section {
                true => self.paint.strong().add_modifier(Modifier::REVERSED),
                false => Style::new(),
            };
            x = put(buffer, area, x, 0, &format!(" {name} "), style);
        }
        let keys = " Tab ↑↓ · q: stop watching · Ctrl-C: end the run";
        let short = " Tab ↑↓ · q · Ctrl-C";
        let room = usize::from(area.right().saturating_sub(x));
        let keys = [keys, short]
            .into_iter()
            .find(|keys| keys.chars().count() <= room);
        put(
            buffer,
            area,
            x,
            0,
            keys.unwrap_or_default(),
            self.paint.soft(),
        );
    }
}

#[cfg(test)]
mod tests;
