//! Points, verdicts and remarks as lines.

use archive::stream::PointResult;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use report::{number, parallelism};

use super::paint::{Paint, put};
use super::state::State;

/// A line of a list.
pub struct Line {
    pub text: String,
    style: Style,
}

impl Line {
    fn plain(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            style: Style::new(),
        }
    }
}

/// Draws lines from one of them and from a column on.
pub fn draw(buffer: &mut Buffer, area: Rect, lines: &[Line], (down, right): (usize, usize)) {
    for (row, line) in lines.iter().skip(down).take(area.height.into()).enumerate() {
        let text: String = line.text.chars().skip(right).collect();
        put(buffer, area, area.x, row as u16, &text, line.style);
    }
}

type Cell = fn(&PointResult) -> String;

/// Columns of figures with their widths, in the order in which they find room. The first one's title is what is counted.
const COLUMNS: [(&str, usize, Cell); 7] = [
    ("", 15, |p| number::figure_or_unknown(p.operations_per_s)),
    ("p99", 10, |p| number::latency(p.response_us_p99)),
    ("p50", 10, |p| number::latency(p.response_us_p50)),
    ("CPU %", 7, |p| number::one_decimal(p.cpu_pct_avg)),
    ("errors", 8, |p| number::whole(p.errors)),
    ("p95", 10, |p| number::latency(p.response_us_p95)),
    ("log MB/s", 10, |p| {
        number::figure_or_unknown(p.redo_mb_per_s)
    }),
];
/// Columns that the name of a point has at least.
const NAME_MIN: usize = 28;

/// The points that are measured, the newest first.
pub fn points(state: &State, width: usize, paint: Paint) -> Vec<Line> {
    if state.points.is_empty() {
        return vec![Line {
            text: "No point is measured yet".to_owned(),
            style: paint.soft(),
        }];
    }
    let mut room = width.saturating_sub(NAME_MIN);
    let fits = |(_, width, _): &&(&str, usize, Cell)| {
        let fits = *width <= room;
        room = room.saturating_sub(*width);
        fits
    };
    let columns: Vec<_> = COLUMNS.iter().take_while(fits).collect();
    let name = width.saturating_sub(columns.iter().map(|(_, width, _)| width).sum());
    let row = |text: &str, cell: &dyn Fn(&str, Cell) -> String| {
        let mut row: String = text.chars().take(name.saturating_sub(1)).collect();
        row.push_str(&" ".repeat(name.saturating_sub(row.chars().count())));
        for (title, width, of) in &columns {
            row.push_str(&format!("{:>width$}", cell(title, *of), width = *width));
        }
        row
    };
    let head = Line {
        text: row("Points measured", &|title, _| {
            let title = if title.is_empty() {
                state.work()
            } else {
                title
            };
            title.to_owned()
        }),
        style: paint.strong(),
    };
    let points = state.points.iter().rev().map(|(point, target)| {
        let key = &point.key;
        let mark = if point.valid { "" } else { "! " };
        let parallel = match key.is_observation() {
            true => String::new(),
            false => parallelism(key) + " ",
        };
        let text = format!("{mark}{target} {} {parallel}{}", key.test, point.title);
        Line {
            text: row(&text, &|_, of| of(point)),
            style: if point.valid {
                Style::new()
            } else {
                paint.bad()
            },
        }
    });
    std::iter::once(head).chain(points).collect()
}

/// The verdicts as they stand, the newest first.
pub fn verdicts(state: &State) -> Vec<Line> {
    if state.verdicts.is_empty() {
        return vec![Line::plain(
            "No verdict yet: ab and study give them at their end",
        )];
    }
    let lines = state.verdicts.iter().rev().flat_map(|text| text.lines());
    lines.map(Line::plain).collect()
}

/// The remarks, the newest first, in lines of this width.
pub fn remarks(state: &State, width: usize, paint: Paint) -> Vec<Line> {
    let head = Line {
        text: "Remarks".to_owned(),
        style: paint.strong(),
    };
    if state.remarks.is_empty() {
        return vec![head, Line::plain(number::UNKNOWN)];
    }
    let mut lines = vec![head];
    for told in state.remarks.iter().rev() {
        let (mark, style) = match told.is_bad {
            true => ("! ", paint.bad()),
            false => ("· ", Style::new()),
        };
        for (number, text) in wrapped(&told.text, width.saturating_sub(2))
            .into_iter()
            .enumerate()
        {
            let text = format!("{}{text}", if number == 0 { mark } else { "  " });
            lines.push(Line { text, style });
        }
    }
    lines
}

/// A sentence in lines; a word that is longer than a line is cut by it.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().filter(|line| {
            line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width
        });
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_wrapped_between_words() {
        assert_eq!(wrapped("a bc  def g", 6), ["a bc", "def g"]);
        assert_eq!(wrapped("longer than", 4), ["longer", "than"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
