//! Line charts: axes, grid, lines with markers, ranges, rejected points, rings, legend.

use super::{Axis, escape, fit, px, text_width};

/// Drawing width; the page scales the picture to its column.
const WIDTH: f64 = 400.0;
const PLOT_HEIGHT: f64 = 170.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 14.0;
const BOTTOM: f64 = 38.0;
const LEGEND_ROW: f64 = 17.0;
const FONT: f64 = 11.0;
const LEGEND_MAX: f64 = 180.0;
/// Lines with more points than this have no markers.
const MARKERS_MAX: usize = 24;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    Down,
    None,
}

impl Shape {
    /// Marker number `index`; they repeat after five.
    pub fn nth(index: usize) -> Self {
        let shapes = [
            Self::Circle,
            Self::Square,
            Self::Triangle,
            Self::Diamond,
            Self::Down,
        ];
        shapes[index % shapes.len()]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dash {
    Solid,
    Dashed,
    Dotted,
    None,
}

impl Dash {
    /// Line number `index`: neighbours differ, because colours are not enough to distinguish them.
    pub fn nth(index: usize) -> Self {
        [Self::Solid, Self::Dashed, Self::Dotted][index % 3]
    }

    fn classes(self) -> &'static str {
        match self {
            Self::Solid => "l",
            Self::Dashed => "l d",
            Self::Dotted => "l o",
            Self::None => "",
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub label: String,
    /// Colour class, 0–7.
    pub colour: usize,
    pub shape: Shape,
    pub dash: Dash,
    /// Points in ascending x; a `None` breaks the line.
    pub points: Vec<(f64, Option<f64>)>,
    /// Range over the repetitions at some x: (x, low, high).
    pub ranges: Vec<(f64, f64, f64)>,
    /// Points that failed a check: drawn as a cross, joined to nothing.
    pub rejected: Vec<(f64, f64)>,
    /// Labelled extras: drawn as a hollow diamond, joined to nothing.
    pub extras: Vec<(f64, f64)>,
}

impl Series {
    pub fn new(
        label: impl Into<String>,
        colour: usize,
        shape: Shape,
        dash: Dash,
        points: Vec<(f64, Option<f64>)>,
    ) -> Self {
        Self {
            label: label.into(),
            colour,
            shape,
            dash,
            points,
            ranges: Vec::new(),
            rejected: Vec::new(),
            extras: Vec::new(),
        }
    }
}

/// A ring around a point, e.g. the saturation of throughput.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    pub x: f64,
    pub y: f64,
    pub colour: usize,
}

/// A thin, fitted line with the band of its interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    pub colour: usize,
    pub dash: Dash,
    /// Points in ascending x.
    pub points: Vec<(f64, f64)>,
    /// Interval at some x: (x, low, high); drawn up to the ends of the axis. Empty for none.
    pub band: Vec<(f64, f64, f64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// Description for screen readers.
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    pub marks: Vec<Mark>,
    pub traces: Vec<Trace>,
}

impl Chart {
    pub fn new(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self {
            title: title.to_owned(),
            x,
            y,
            series,
            marks: Vec::new(),
            traces: Vec::new(),
        }
    }

    pub fn render(&self) -> String {
        let (legend, top) = self.legend();
        let height = top + PLOT_HEIGHT + BOTTOM;
        let title = escape(&self.title);
        let mut out = format!(
            "<svg viewBox=\"0 0 {} {}\" role=\"img\"><title>{title}</title>",
            px(WIDTH),
            px(height),
        );
        out.push_str(&legend);
        let plot = Plot { chart: self, top };
        out.push_str(&plot.axes());
        for trace in &self.traces {
            out.push_str(&plot.trace(trace));
        }
        for series in &self.series {
            out.push_str(&plot.series(series));
        }
        for mark in &self.marks {
            out.push_str(&plot.mark(mark));
        }
        out.push_str("</svg>");
        out
    }

    /// The legend above the plot, and the top of the plot.
    fn legend(&self) -> (String, f64) {
        let mut out = String::new();
        let (mut x, mut row) = (LEFT, 0.0);
        for series in self.series.iter().filter(|s| !s.label.is_empty()) {
            let label = fit(&series.label, FONT, LEGEND_MAX);
            let width = 30.0 + text_width(&label, FONT) + 10.0;
            if x > LEFT && x + width > WIDTH {
                x = LEFT;
                row += 1.0;
            }
            let y = 10.0 + row * LEGEND_ROW;
            let line = match series.dash {
                Dash::None => String::new(),
                dash => format!(
                    "<path d=\"M{} {}h24\" class=\"{}\"/>",
                    px(x),
                    px(y),
                    dash.classes()
                ),
            };
            out.push_str(&format!(
                "<g class=\"s{}\">{line}{}</g><text x=\"{}\" y=\"{}\">{}</text>",
                series.colour % 8,
                markers(series.shape, &[(x + 12.0, y)]),
                px(x + 29.0),
                px(y + 4.0),
                escape(&label),
            ));
            x += width;
        }
        let rows = if out.is_empty() { 0.0 } else { row + 1.0 };
        (out, 12.0 + rows * LEGEND_ROW)
    }
}

struct Plot<'a> {
    chart: &'a Chart,
    top: f64,
}

impl Plot<'_> {
    fn x(&self, value: f64) -> Option<f64> {
        let position = self.chart.x.position(value)?;
        Some(LEFT + position * (WIDTH - LEFT - RIGHT))
    }

    fn y(&self, value: f64) -> Option<f64> {
        let position = self.chart.y.position(value)?;
        Some(self.top + (1.0 - position) * PLOT_HEIGHT)
    }

    fn axes(&self) -> String {
        let (left, right) = (px(LEFT), px(WIDTH - RIGHT));
        let bottom = self.top + PLOT_HEIGHT;
        let mut out = String::from("<g class=\"axis\">");
        let (mut lines, mut labels) = (String::new(), String::new());
        for tick in &self.chart.y.ticks {
            let Some(y) = self.y(tick.at) else { continue };
            lines.push_str(&format!("M{left} {}H{right}", px(y)));
            labels.push_str(&format!(
                "<text x=\"{}\" y=\"{}\">{}</text>",
                px(LEFT - 5.0),
                px(y + 4.0),
                escape(&tick.label),
            ));
        }
        out.push_str(&format!("<g class=\"ty\">{labels}</g><g class=\"tx\">"));
        for tick in &self.chart.x.ticks {
            let Some(x) = self.x(tick.at) else { continue };
            lines.push_str(&format!("M{} {}v4", px(x), px(bottom)));
            if !tick.label.is_empty() {
                // A centred last label would leave the picture.
                let outside = x + text_width(&tick.label, FONT) / 2.0 > WIDTH - 1.0;
                let (x, anchor) = if outside {
                    (WIDTH, " class=\"ty\"")
                } else {
                    (x, "")
                };
                out.push_str(&format!(
                    "<text x=\"{}\" y=\"{}\"{anchor}>{}</text>",
                    px(x),
                    px(bottom + 16.0),
                    escape(&tick.label),
                ));
            }
        }
        out.push_str(&format!(
            "</g><path d=\"{lines}\"/><path class=\"base\" d=\"M{left} {bottom}H{right}\"/>\
             <text class=\"ty\" x=\"{right}\" y=\"{}\">{}</text>",
            px(bottom + 32.0),
            escape(&self.chart.x.title),
            bottom = px(bottom),
        ));
        if !self.chart.y.title.is_empty() {
            out.push_str(&format!(
                "<text class=\"tx\" transform=\"translate(10 {}) rotate(-90)\">{}</text>",
                px(self.top + PLOT_HEIGHT / 2.0),
                escape(&self.chart.y.title),
            ));
        }
        out.push_str("</g>");
        out
    }

    fn mark(&self, mark: &Mark) -> String {
        let (Some(x), Some(y)) = (self.x(mark.x), self.y(mark.y)) else {
            return String::new();
        };
        format!(
            "<g class=\"s{}\"><circle class=\"m\" cx=\"{}\" cy=\"{}\" r=\"7.5\"/></g>",
            mark.colour % 8,
            px(x),
            px(y),
        )
    }

    fn trace(&self, trace: &Trace) -> String {
        let mut out = String::new();
        let inside = |value: f64| value.clamp(self.chart.y.low, self.chart.y.high);
        let position = |x: f64, y: f64| {
            let (x, y) = (self.x(x)?, self.y(inside(y))?);
            Some(format!("{} {}", px(x), px(y)))
        };
        let up = trace
            .band
            .iter()
            .filter_map(|&(x, _, high)| position(x, high));
        let back = trace.band.iter().rev();
        let back = back.filter_map(|&(x, low, _)| position(x, low));
        let around: Vec<String> = up.chain(back).collect();
        if around.len() > 3 {
            let path = around.join("L");
            out.push_str(&format!("<path class=\"b\" d=\"M{path}z\"/>"));
        }
        let points: Vec<_> = trace.points.iter().map(|&(x, y)| (x, Some(y))).collect();
        let path = self.path(&points);
        if !path.is_empty() {
            let dashed = if trace.dash == Dash::Solid { "" } else { " d" };
            out.push_str(&format!("<path class=\"f{dashed}\" d=\"{path}\"/>"));
        }
        if out.is_empty() {
            out
        } else {
            format!("<g class=\"s{}\">{out}</g>", trace.colour % 8)
        }
    }

    fn series(&self, series: &Series) -> String {
        let mut out = String::new();
        for &(x, low, high) in &series.ranges {
            if let (Some(x), Some(low), Some(high)) = (self.x(x), self.y(low), self.y(high)) {
                out.push_str(&format!(
                    "<path class=\"r\" d=\"M{x} {low}V{high}\"/>",
                    x = px(x),
                    low = px(low),
                    high = px(high),
                ));
            }
        }
        let path = self.path(&series.points);
        if !path.is_empty() && series.dash != Dash::None {
            out.push_str(&format!(
                "<path class=\"{}\" d=\"{path}\"/>",
                series.dash.classes()
            ));
        }
        if series.points.len() <= MARKERS_MAX || series.dash == Dash::None {
            let known = series.points.iter().filter_map(|&(x, y)| Some((x, y?)));
            out.push_str(&markers(series.shape, &self.positions(known)));
        }
        let extras = self.positions(series.extras.iter().copied());
        if !extras.is_empty() {
            let path: String = extras.iter().map(|&(x, y)| diamond(x, y)).collect();
            out.push_str(&format!("<path class=\"e\" d=\"{path}\"/>"));
        }
        for &(x, y) in &series.rejected {
            if let (Some(x), Some(y)) = (self.x(x), self.y(y)) {
                out.push_str(&format!(
                    "<path class=\"x\" d=\"M{} {}l8 8m0 -8l-8 8\"/>",
                    px(x - 4.0),
                    px(y - 4.0)
                ));
            }
        }
        if out.is_empty() {
            out
        } else {
            format!("<g class=\"s{}\">{out}</g>", series.colour % 8)
        }
    }

    /// Positions of values; those outside the axes are omitted.
    fn positions(&self, values: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
        values
            .filter_map(|(x, y)| Some((self.x(x)?, self.y(y)?)))
            .collect()
    }

    /// Path data; a value outside the axes interrupts the line.
    fn path(&self, points: &[(f64, Option<f64>)]) -> String {
        let mut path = String::new();
        let mut pen_down = false;
        let mut drawn = 0;
        for &(x, y) in points {
            match (self.x(x), y.and_then(|y| self.y(y))) {
                (Some(x), Some(y)) => {
                    let command = if pen_down { 'L' } else { 'M' };
                    path.push_str(&format!("{command}{} {}", px(x), px(y)));
                    drawn += usize::from(pen_down);
                    pen_down = true;
                }
                _ => pen_down = false,
            }
        }
        if drawn == 0 { String::new() } else { path }
    }
}

/// The same marker at several points, as one element.
fn markers(shape: Shape, positions: &[(f64, f64)]) -> String {
    let one = |&(x, y): &(f64, f64)| match shape {
        // A stroke of length zero: its round ends make the circle.
        Shape::Circle => format!("M{} {}h.01", px(x), px(y)),
        Shape::Square => format!("M{} {}h6.4v6.4h-6.4z", px(x - 3.2), px(y - 3.2)),
        Shape::Triangle => format!("M{} {}l4 7.2h-8z", px(x), px(y - 4.4)),
        Shape::Diamond => diamond(x, y),
        Shape::Down => format!("M{} {}l4 -7.2h-8z", px(x), px(y + 4.4)),
        Shape::None => String::new(),
    };
    let path: String = positions.iter().map(one).collect();
    match (path.is_empty(), shape) {
        (true, _) => path,
        (false, Shape::Circle) => format!("<path class=\"c\" d=\"{path}\"/>"),
        (false, _) => format!("<path class=\"p\" d=\"{path}\"/>"),
    }
}

fn diamond(x: f64, y: f64) -> String {
    format!("M{} {}l4.2 4.2l-4.2 4.2l-4.2 -4.2z", px(x), px(y - 4.2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tick;

    fn chart(points: Vec<(f64, Option<f64>)>) -> Chart {
        Chart {
            title: "<b>throughput</b>".to_owned(),
            x: Axis::dops("DOP", &[1, 2, 4]),
            y: Axis::linear("ops/s", 100.0, tick),
            series: vec![Series {
                label: "sqlite & co".to_owned(),
                colour: 0,
                shape: Shape::Circle,
                dash: Dash::Solid,
                points,
                ranges: vec![(1.0, 40.0, 60.0)],
                rejected: vec![(4.0, 10.0)],
                extras: vec![(2.0, 20.0), (8.0, 20.0)],
            }],
            marks: vec![Mark {
                x: 4.0,
                y: 90.0,
                colour: 0,
            }],
            traces: Vec::new(),
        }
    }

    #[test]
    fn a_fitted_line_is_thin_and_its_band_ends_at_the_axis() {
        let mut chart = chart(vec![(1.0, Some(50.0)), (2.0, Some(100.0))]);
        chart.traces = vec![Trace {
            colour: 1,
            dash: Dash::Dashed,
            points: vec![(2.0, 90.0), (4.0, 95.0)],
            band: vec![(2.0, 80.0, 100.0), (4.0, 70.0, 900.0)],
        }];
        let svg = chart.render();
        assert!(
            svg.contains("<path class=\"f d\" d=\"M217 46L386 37.5\"/>"),
            "{svg}"
        );
        let band = "<path class=\"b\" d=\"M217 29L386 29L386 80L217 63z\"/>";
        assert!(svg.contains(band), "{svg}");
    }

    #[test]
    fn a_gap_breaks_the_line_and_text_is_escaped() {
        let svg = chart(vec![(1.0, Some(50.0)), (2.0, None), (4.0, Some(90.0))]).render();
        assert!(svg.contains("&lt;b&gt;throughput") && !svg.contains("<b>"));
        assert!(svg.contains("sqlite &amp; co"));
        assert!(
            !svg.contains("class=\"l\" d=\""),
            "one point on each side is no line"
        );
        let circles = svg.matches("h.01").count();
        assert_eq!(circles, 3, "two points and the legend");
        let extras = svg
            .split("class=\"e\" d=\"")
            .nth(1)
            .and_then(|d| d.split('"').next());
        assert_eq!(
            extras,
            Some("M217 160.8l4.2 4.2l-4.2 4.2l-4.2 -4.2z"),
            "8 is not on the axis"
        );
        assert_eq!(svg.matches("<circle class=\"m\"").count(), 1);
        assert_eq!(svg.matches("class=\"x\"").count(), 1);
    }

    #[test]
    fn markers_alone_are_joined_by_no_line_and_never_left_out() {
        let mut chart = chart((0..40).map(|i| (1.0, Some(f64::from(i)))).collect());
        chart.series[0].dash = Dash::None;
        let svg = chart.render();
        assert_eq!(svg.matches("h.01").count(), 41, "and the legend");
        assert!(
            !svg.contains("h24") && !svg.contains("class=\"l\""),
            "{svg}"
        );
    }

    #[test]
    fn lines_join_neighbours() {
        let svg = chart(vec![(1.0, Some(0.0)), (2.0, Some(100.0))]).render();
        assert!(svg.contains("d=\"M48 199L217 29\""), "{svg}");
    }
}
