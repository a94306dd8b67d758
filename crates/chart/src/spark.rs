//! A curve of a row: a line without axes, as high as its text.

use super::{escape, px};

const WIDTH: f64 = 84.0;
const HEIGHT: f64 = 18.0;
const MARGIN: f64 = 3.0;

/// Values over degrees of parallelism (logarithmic), with a dot at one of them; empty for fewer than two.
pub fn spark(points: &[(u32, f64)], dot: u32, label: &str) -> String {
    let x = |degree: u32| f64::from(degree.max(1)).log2();
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return String::new();
    };
    let span = x(last.0) - x(first.0);
    let high = points.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    if points.len() < 2 || span <= 0.0 || high <= 0.0 {
        return String::new();
    }
    let place = |(degree, value): &(u32, f64)| {
        let across = (x(*degree) - x(first.0)) / span * (WIDTH - 2.0 * MARGIN);
        let up = value / high * (HEIGHT - 2.0 * MARGIN);
        (px(MARGIN + across), px(HEIGHT - MARGIN - up))
    };
    let line: Vec<String> = points
        .iter()
        .map(place)
        .map(|(x, y)| format!("{x} {y}"))
        .collect();
    let dot = points.iter().find(|(degree, _)| *degree == dot).map(place);
    let dot = dot.map_or_else(String::new, |(x, y)| {
        format!("<circle class=\"p\" cx=\"{x}\" cy=\"{y}\" r=\"2.6\"/>")
    });
    format!(
        "<svg class=\"spark s0\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\"><path class=\"l\" d=\"M{}\"/>{dot}</svg>",
        escape(label),
        line.join("L")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_begins_at_the_left_and_ends_at_the_right() {
        let drawn = spark(&[(1, 50.0), (2, 100.0), (4, 100.0)], 2, "<rising>");
        assert!(drawn.contains("d=\"M3 9L42 3L81 3\""), "{drawn}");
        assert!(drawn.contains("cx=\"42\" cy=\"3\"") && drawn.contains("&lt;rising&gt;"));
        assert_eq!(spark(&[(1, 50.0)], 1, ""), "");
        assert_eq!(spark(&[(2, 0.0), (4, 0.0)], 2, ""), "");
    }
}
