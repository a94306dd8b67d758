//! A text table that drops columns, least important first, until it fits the terminal.

use super::text::Paint;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

#[derive(Debug, Clone)]
pub struct Column<'a> {
    /// Head of up to three lines; a line that is empty in all remaining columns is omitted.
    pub heads: [&'a str; 3],
    pub align: Align,
    /// Order of removal if space is short: the largest goes first, 0 never.
    pub leave: u8,
}

pub struct Table<'a> {
    columns: Vec<Column<'a>>,
    rows: Vec<(Vec<String>, bool)>,
    has_rule: bool,
}

impl<'a> Table<'a> {
    pub fn new(columns: Vec<Column<'a>>) -> Self {
        Self {
            columns,
            rows: Vec::new(),
            has_rule: true,
        }
    }

    /// A table without a line below its heads.
    pub fn unruled(columns: Vec<Column<'a>>) -> Self {
        Self {
            has_rule: false,
            ..Self::new(columns)
        }
    }

    /// Adds a row, or with a single cell a line of its own; `alarm` paints it.
    pub fn row(&mut self, cells: Vec<String>, alarm: bool) {
        debug_assert!(cells.len() == self.columns.len() || cells.len() == 1);
        self.rows.push((cells, alarm));
    }

    /// The table as lines, each ending in a line feed.
    pub fn render(&self, width: usize, paint: &Paint) -> String {
        let widths: Vec<usize> = (0..self.columns.len()).map(|at| self.width(at)).collect();
        let remaining = self.remaining(&widths, width);
        let line = |cells: &[&str]| -> String {
            let cells: Vec<String> = remaining
                .iter()
                .map(|&at| pad(cells[at], widths[at], self.columns[at].align))
                .collect();
            cells.join(" ").trim_end().to_owned()
        };
        let mut out = String::new();
        for level in 0..3 {
            let heads: Vec<&str> = self.columns.iter().map(|c| c.heads[level]).collect();
            if remaining.iter().any(|&at| !heads[at].is_empty()) {
                out.push_str(&paint.dim(&line(&heads)));
                out.push('\n');
            }
        }
        let rules: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        if self.has_rule {
            out.push_str(&paint.dim(&line(&rules)));
            out.push('\n');
        }
        for (cells, alarm) in &self.rows {
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            let text = match cells[..] {
                [own] if self.columns.len() > 1 => own.to_owned(),
                _ => line(&cells),
            };
            out.push_str(&if *alarm { paint.red(&text) } else { text });
            out.push('\n');
        }
        out
    }

    fn width(&self, at: usize) -> usize {
        let heads = self.columns[at].heads.iter().map(|h| length(h));
        let rows = self
            .rows
            .iter()
            .filter(|(cells, _)| cells.len() == self.columns.len());
        let cells = rows.map(|(cells, _)| length(&cells[at]));
        heads.chain(cells).max().unwrap_or(0)
    }

    /// Indices of the remaining columns, in order.
    fn remaining(&self, widths: &[usize], width: usize) -> Vec<usize> {
        let mut remaining: Vec<usize> = (0..self.columns.len()).collect();
        let total = |remaining: &[usize]| remaining.iter().map(|&at| widths[at] + 1).sum::<usize>();
        while total(&remaining) > width.saturating_add(1) {
            let leave = |at: &usize| self.columns[*at].leave;
            let last = remaining.iter().map(leave).max().unwrap_or(0);
            if last == 0 {
                break;
            }
            // Columns with the same number mean little without each other and go together.
            remaining.retain(|at| self.columns[*at].leave != last);
        }
        remaining
    }
}

/// Length in characters, sufficient because our texts contain no wide ones.
pub fn length(text: &str) -> usize {
    text.chars().count()
}

pub fn pad(text: &str, width: usize, align: Align) -> String {
    let fill = " ".repeat(width.saturating_sub(length(text)));
    match align {
        Align::Left => format!("{text}{fill}"),
        Align::Right => format!("{fill}{text}"),
    }
}

/// Shortens to `width` characters, with an ellipsis after a cut.
pub fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let remaining: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", remaining.trim_end())
}

/// Breaks a paragraph at spaces; following lines are indented. A word longer than a line stays whole.
pub fn wrap(text: &str, width: usize, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let leading: String = text.chars().take_while(|c| *c == ' ').collect();
    let mut line = leading;
    let mut fresh = true;
    for word in text.split(' ').filter(|w| !w.is_empty()) {
        if !fresh && length(&line) + 1 + length(word) > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            fresh = true;
        }
        if !fresh {
            line.push(' ');
        }
        line.push_str(word);
        fresh = false;
    }
    lines.push(line);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_important_column_leaves_first() {
        let column = |head, leave| Column {
            heads: ["", "", head],
            align: Align::Right,
            leave,
        };
        let mut table = Table::new(vec![
            column("keep", 0),
            column("second", 1),
            column("first", 2),
        ]);
        table.row(vec!["1".into(), "2".into(), "3".into()], false);
        let paint = Paint { colour: false };
        assert!(table.render(40, &paint).contains("first"));
        assert!(!table.render(12, &paint).contains("first"));
        assert!(table.render(12, &paint).contains("second"));
        assert!(!table.render(5, &paint).contains("second"));
        assert!(table.render(1, &paint).contains("keep"));
    }

    #[test]
    fn text_is_cut_and_wrapped() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abc", 4), "abc");
        assert_eq!(
            wrap("  1  one two three", 9, 4),
            "  1 one\n    two\n    three"
        );
    }
}
