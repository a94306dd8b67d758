//! A small SVG writer: scales with readable ticks, line charts, bars. Static pictures need no script, print on paper and can be compared in
//! a test.
//!
//! Colours are classes (`s0` … `s7`), so that the page chooses them for light, dark and paper; every
//! series also differs in marker and dash, so that no reader depends on colour.

mod bars;
mod forest;
mod lines;
mod scale;
mod spark;
mod tick;

pub use bars::{Bar, bars};
pub use forest::{Branch, forest};
pub use lines::{Chart, Dash, Mark, Series, Shape, Trace};
pub use scale::{Axis, Scale, Tick};
pub use spark::spark;
pub use tick::{tick, tick_latency};

/// Makes a text safe inside elements and quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML allows no control characters, even escaped.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A coordinate with one decimal, as short as it can be written.
fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Estimated width of a text: letters of a proportional face have about 0.55 em.
fn text_width(text: &str, size_px: f64) -> f64 {
    text.chars().count() as f64 * size_px * 0.55
}

/// Shortens a label to a width in pixels.
fn fit(text: &str, size_px: f64, width_px: f64) -> String {
    if text_width(text, size_px) <= width_px {
        return text.to_owned();
    }
    let letters = (width_px / (size_px * 0.55)) as usize;
    let start: String = text.chars().take(letters.saturating_sub(1)).collect();
    format!("{}…", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        assert_eq!(
            escape("<script>\"&'\u{0}\u{1b}"),
            "&lt;script&gt;&quot;&amp;&#39;\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!((px(12.0), px(12.34)), ("12".to_owned(), "12.3".to_owned()));
        assert_eq!(fit("a rather long label", 10.0, 40.0), "a rath…");
    }
}
