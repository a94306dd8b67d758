//! Horizontal bars from a common zero.

use super::{escape, fit, px, text_width};

const WIDTH: f64 = 400.0;
const LABEL_MAX: f64 = 197.0;
const ROW: f64 = 24.0;
const FONT: f64 = 11.0;
const TOP: f64 = 6.0;
/// Room beside a label: its distance from the bar, and the excess width of a browser's font.
const LABEL_GAP: f64 = 16.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub label: String,
    /// Length; `None` draws no bar and prints "–".
    pub value: Option<f64>,
    pub text: String,
    /// Colour class, 0–7.
    pub colour: usize,
    /// True for a hatched bar: a reference, or a value that failed a check.
    pub hollow: bool,
}

/// A bar chart as one `svg` element; lengths are relative to the largest value.
pub fn bars(title: &str, rows: &[Bar]) -> String {
    let largest = rows.iter().filter_map(|r| r.value).fold(0.0, f64::max);
    let labels = rows.iter().map(|r| text_width(&r.label, FONT));
    let label_room = labels.fold(0.0, f64::max).min(LABEL_MAX);
    let label_width = label_room + LABEL_GAP;
    let texts = rows.iter().map(|r| text_width(&r.text, FONT));
    let room = WIDTH - label_width - texts.fold(0.0, f64::max) - 12.0;
    let height = TOP * 2.0 + ROW * rows.len() as f64;
    let title = escape(title);
    let mut out = format!(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\"><title>{title}</title>\
         <path class=\"base\" d=\"M{x} {TOP}V{}\"/>",
        px(WIDTH),
        px(height),
        px(height - TOP),
        x = px(label_width),
    );
    for (row, bar) in rows.iter().enumerate() {
        let y = TOP + ROW * row as f64;
        let share =
            bar.value.filter(|_| largest > 0.0).unwrap_or(0.0) / largest.max(f64::MIN_POSITIVE);
        let length = (share.clamp(0.0, 1.0) * room).max(0.0);
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{text_y}\" class=\"ty\">{}</text>\
             <g class=\"s{}\"><rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></g>\
             <text x=\"{}\" y=\"{text_y}\">{}</text>",
            px(label_width - 6.0),
            escape(&fit(&bar.label, FONT, label_room)),
            bar.colour % 8,
            if bar.hollow { "h" } else { "p" },
            px(label_width),
            px(y + 4.0),
            px(length),
            px(ROW - 8.0),
            px(label_width + length + 5.0),
            escape(&bar.text),
            text_y = px(y + ROW / 2.0 + 4.0),
        ));
    }
    out.push_str("</svg>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_relative_to_the_largest() {
        let bar = |value: Option<f64>| Bar {
            label: "<x>".to_owned(),
            value,
            text: "1".to_owned(),
            colour: 9,
            hollow: false,
        };
        let svg = bars("t", &[bar(Some(50.0)), bar(Some(100.0)), bar(None)]);
        let room = WIDTH - (text_width("<x>", FONT) + LABEL_GAP) - text_width("1", FONT) - 12.0;
        assert!(svg.contains(&format!("width=\"{}\"", px(room))));
        assert!(svg.contains(&format!("width=\"{}\"", px(room / 2.0))));
        assert!(svg.contains("width=\"0\"") && svg.contains("&lt;x&gt;"));
        assert!(svg.contains("class=\"s1\""));
        assert!(!bars("t", &[bar(Some(0.0))]).contains("NaN"));
    }
}
