//! The forest: a ratio per row with its interval, on one logarithmic scale around "no difference".

use super::{escape, fit, px, text_width};

const WIDTH: f64 = 720.0;
const LABEL_MAX: f64 = 230.0;
const TEXT_WIDTH: f64 = 190.0;
const ROW: f64 = 26.0;
const FONT: f64 = 11.0;
/// Excess width of wide fonts over the estimate.
const WIDE: f64 = 1.15;
const TOP: f64 = 8.0;
const AXIS: f64 = 34.0;
/// Narrowest half range, so that tiny effects look tiny.
const HALF_MIN: f64 = 0.05;
/// Widest half range; intervals beyond it end in an arrow.
const HALF_MAX: f64 = 1.0;
const LABEL_ROOM: f64 = 54.0;
/// Candidates for labels of the axis.
const TICKS: [f64; 13] = [
    0.4, 0.5, 0.65, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.25, 1.5, 2.0, 2.5,
];

#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// Name of the metric or of the compared side.
    pub label: String,
    /// Ratio, low and high end of its interval; `None` draws nothing.
    pub ratio: Option<[f64; 3]>,
    /// Practical band, as a share.
    pub band: f64,
    pub text: String,
    /// CSS class of the verdict: "better", "worse", "equivalent" or "inconclusive".
    pub class: &'static str,
}

/// A forest as one `svg` element; `axis` names the ratio.
pub fn forest(title: &str, axis_title: &str, branches: &[Branch]) -> String {
    // Fonts differ; the widest of the usual ones must fit too.
    let labels = branches
        .iter()
        .map(|b| text_width(&b.label, FONT) * WIDE + 12.0);
    let left = labels.fold(0.0, f64::max).min(LABEL_MAX);
    let scale = Scale {
        half: half(branches),
        left,
        right: WIDTH - TEXT_WIDTH,
    };
    let bottom = TOP + ROW * branches.len() as f64;
    let mut out = format!(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" class=\"forest\"><title>{}</title>",
        px(WIDTH),
        px(bottom + AXIS),
        escape(title)
    );
    for (at, branch) in branches.iter().enumerate() {
        band(&mut out, branch, &scale, TOP + ROW * at as f64);
    }
    axis(&mut out, &scale, bottom, axis_title);
    for (at, branch) in branches.iter().enumerate() {
        row(&mut out, branch, &scale, TOP + ROW * (at as f64 + 0.5));
    }
    out.push_str("</svg>");
    out
}

struct Scale {
    half: f64,
    left: f64,
    right: f64,
}

impl Scale {
    /// Position of a ratio, clipped to the drawing, and whether it was clipped.
    fn position(&self, ratio: f64) -> (f64, bool) {
        let share = (ratio.ln() + self.half) / (2.0 * self.half);
        let inside = (0.0..=1.0).contains(&share);
        let x = self.left + share.clamp(0.0, 1.0) * (self.right - self.left);
        (x, inside)
    }
}

fn half(branches: &[Branch]) -> f64 {
    let ends = branches.iter().filter_map(|b| b.ratio).flatten();
    let logs = ends
        .filter(|v| v.is_finite() && *v > 0.0)
        .map(|v| v.ln().abs());
    logs.fold(HALF_MIN, f64::max).min(HALF_MAX) * 1.08
}

fn band(out: &mut String, branch: &Branch, scale: &Scale, y: f64) {
    let (low, _) = scale.position(1.0 / (1.0 + branch.band));
    let (high, _) = scale.position(1.0 + branch.band);
    out.push_str(&format!(
        "<rect class=\"band\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        px(low),
        px(y),
        px(high - low),
        px(ROW)
    ));
}

/// Ticks at familiar ratios, as many as fit; the line of no difference is drawn through.
fn axis(out: &mut String, scale: &Scale, bottom: f64, title: &str) {
    let (one, _) = scale.position(1.0);
    out.push_str(&format!(
        "<path class=\"base\" d=\"M{} {}V{}\"/>",
        px(one),
        px(TOP),
        px(bottom + 5.0)
    ));
    let mut taken: Vec<f64> = Vec::new();
    // Ticks go from the middle outwards, so that 1 always has its label.
    let mut ticks = TICKS;
    ticks.sort_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs()));
    for tick in ticks {
        let (x, inside) = scale.position(tick);
        if !inside || taken.iter().any(|t| (t - x).abs() < LABEL_ROOM) {
            continue;
        }
        taken.push(x);
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{}\" class=\"tx\">{}</text>",
            px(x),
            px(bottom + 17.0),
            tick_text(tick)
        ));
    }
    out.push_str(&format!(
        "<text x=\"{}\" y=\"{}\" class=\"tx\">{}</text>",
        px(f64::midpoint(scale.left, scale.right)),
        px(bottom + 31.0),
        escape(title)
    ));
}

/// "−10 %", "1" or "+25 %", the usual form of a ratio.
fn tick_text(ratio: f64) -> String {
    match ((ratio - 1.0) * 100.0).round() {
        0.0 => "1".to_owned(),
        pct if pct < 0.0 => format!("−{:.0} %", -pct),
        pct => format!("+{pct:.0} %"),
    }
}

fn row(out: &mut String, branch: &Branch, scale: &Scale, y: f64) {
    let text_y = px(y + 4.0);
    out.push_str(&format!(
        "<text x=\"{}\" y=\"{text_y}\" class=\"ty\">{}</text><text x=\"{}\" y=\"{text_y}\">{}</text>",
        px(scale.left - 8.0),
        escape(&fit(&branch.label, FONT, scale.left - 10.0)),
        px(scale.right + 10.0),
        escape(&fit(&branch.text, FONT, TEXT_WIDTH - 12.0)),
    ));
    let Some([ratio, low, high]) = branch
        .ratio
        .filter(|r| r.iter().all(|v| v.is_finite() && *v > 0.0))
    else {
        return;
    };
    let ((from, from_inside), (to, to_inside)) = (scale.position(low), scale.position(high));
    out.push_str(&format!(
        "<g class=\"{}\"><path class=\"interval\" d=\"M{} {y}H{}\"/>",
        branch.class,
        px(from),
        px(to),
        y = px(y)
    ));
    for (x, inside, outwards) in [(from, from_inside, -1.0), (to, to_inside, 1.0)] {
        // A bar marks the end of an interval, an arrow its continuation beyond the drawing.
        let back = if inside { 0.0 } else { -6.0 * outwards };
        out.push_str(&format!(
            "<path class=\"interval\" d=\"M{} {}L{} {}L{} {}\"/>",
            px(x + back),
            px(y - 5.0),
            px(x),
            px(y),
            px(x + back),
            px(y + 5.0)
        ));
    }
    let (x, inside) = scale.position(ratio);
    if inside {
        out.push_str(&format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"4.5\"/>",
            px(x),
            px(y)
        ));
    }
    out.push_str("</g>");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch(ratio: Option<[f64; 3]>) -> Branch {
        Branch {
            label: "<T611>".to_owned(),
            ratio,
            band: 0.02,
            text: "1.05".to_owned(),
            class: "better",
        }
    }

    #[test]
    fn no_difference_lies_in_the_middle_and_text_stays_text() {
        let svg = forest("t", "ratio B / A", &[branch(Some([1.0, 0.95, 1.0 / 0.95]))]);
        let left = text_width("<T611>", FONT) * WIDE + 12.0;
        let middle = px(f64::midpoint(left, WIDTH - TEXT_WIDTH));
        assert!(svg.contains(&format!("cx=\"{middle}\"")), "{svg}");
        assert!(svg.contains("&lt;T611&gt;") && svg.contains("class=\"better\""));
        assert!(svg.contains(">1</text>") && svg.contains(">+5 %</text>"));
    }

    #[test]
    fn intervals_beyond_the_drawing_end_in_an_arrow() {
        let svg = forest("t", "ratio B / A", &[branch(Some([1.0, 0.01, 50.0]))]);
        assert!(svg.matches("interval").count() == 3 && svg.contains("circle"));
        for odd in [None, Some([f64::NAN; 3]), Some([1.0, 0.0, 2.0])] {
            let svg = forest("t", "ratio B / A", &[branch(odd)]);
            assert!(!svg.contains("NaN") && !svg.contains("interval"), "{svg}");
        }
        assert!(!forest("t", "ratio B / A", &[]).contains("NaN"));
    }
}
