//! The normal and Student's t distribution.

use std::f64::consts::{PI, SQRT_2};

/// Standard normal distribution function Φ(x) = erfc(−x/√2)/2.
///
/// Source: erf by its power series `2/√π · e^{−x²} Σ 2ᵏx^{2k+1}/(2k+1)!!` (Abramowitz & Stegun 7.1.6)
/// below 3, erfc by its continued fraction (7.1.14) above. Limits: relative error about 1e-14 down to
/// Φ(−38), then 0. Golden: Φ(1.96) = 0.975 002 104 851 780.
pub fn normal_cdf(x: f64) -> f64 {
    if x < 0.0 {
        0.5 * erfc_of_positive(-x / SQRT_2)
    } else {
        1.0 - 0.5 * erfc_of_positive(x / SQRT_2)
    }
}

fn erfc_of_positive(x: f64) -> f64 {
    if x < 3.0 {
        let (mut term, mut sum) = (x, x);
        for k in 1..200 {
            term *= 2.0 * x * x / f64::from(2 * k + 1);
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        return 1.0 - 2.0 / PI.sqrt() * (-x * x).exp() * sum;
    }
    let fraction = (1..=60)
        .rev()
        .fold(x, |below, k| x + f64::from(k) / 2.0 / below);
    (-x * x).exp() / PI.sqrt() / fraction
}

/// Standard normal quantile Φ⁻¹(p); −∞ at 0, +∞ at 1, NaN outside.
///
/// Formula: Newton's method on [`normal_cdf`], started from the approximation of Abramowitz & Stegun
/// 26.2.23 (error 4.5e-4). Limits: absolute error about 1e-12 for 1e-300 < p < 1 − 1e-15.
/// Golden: Φ⁻¹(0.975) = 1.959 963 984 540 054.
pub fn normal_quantile(p: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    let t = (-2.0 * p.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = above / below - t;
    for _ in 0..4 {
        let density = (-x * x / 2.0).exp() / (2.0 * PI).sqrt();
        let step = (normal_cdf(x) - p) / density;
        // Halley's correction, because the tail bends quickly.
        x -= step / (1.0 + x * step / 2.0);
    }
    x
}

/// Student's t distribution function with `df` > 0 degrees of freedom; NaN otherwise.
///
/// Formula: 1 − I_{df/(df+t²)}(df/2, 1/2)/2 for t ≥ 0, with the regularised incomplete beta function by
/// Lentz's continued fraction (Abramowitz & Stegun 26.5.8, 26.7.1). Limits: error about 1e-12 for
/// df ≤ 10⁶. Golden: with 5 degrees, F(2.570 581 835 6) = 0.975.
pub fn student_cdf(t: f64, df: f64) -> f64 {
    if df <= 0.0 || df.is_nan() || t.is_nan() {
        return f64::NAN;
    }
    let tail = 0.5 * incomplete_beta(df / (df + t * t), df / 2.0, 0.5);
    if t < 0.0 { tail } else { 1.0 - tail }
}

/// Student's t quantile; NaN outside 0 < p < 1.
///
/// Formula: Newton's method on [`student_cdf`], which halves the interval that the quantile is known to lie in wherever a step would leave
/// it. Limits: those of [`student_cdf`]; |t| ≤ 10⁹. Golden: 2.570 581 835 6 for p = 0.975 and 5 degrees.
pub fn student_quantile(p: f64, df: f64) -> f64 {
    if !(p > 0.0 && p < 1.0 && df > 0.0) {
        return f64::NAN;
    }
    if p < 0.5 {
        return -student_quantile(1.0 - p, df);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while student_cdf(high, df) < p && high < 1e9 {
        low = high;
        high *= 2.0;
    }
    let half = f64::midpoint(df, 1.0);
    let log_peak = ln_gamma(half) - ln_gamma(df / 2.0) - 0.5 * (PI * df).ln();
    let mut t = f64::midpoint(low, high);
    for _ in 0..100 {
        let missing = p - student_cdf(t, df);
        if missing > 0.0 {
            low = t;
        } else {
            high = t;
        }
        let density = (log_peak - half * (t * t / df).ln_1p()).exp();
        let newton = t + missing / density;
        let next = if newton > low && newton < high {
            newton
        } else {
            f64::midpoint(low, high)
        };
        if (next - t).abs() <= 4.0 * f64::EPSILON * t {
            return next;
        }
        t = next;
    }
    t
}

/// Chance that Student's t with `df` > 0 degrees of freedom and noncentrality `shift` exceeds `t` ≥ 0: the power of a test. NaN
/// otherwise.
///
/// Formula: E[Φ(shift − t·v)] over v = √(χ²/df), whose density goes with v^(df − 1)·e^(−df·v²/2), by Simpson's rule. Source: Owen 1968,
/// A Survey of Properties and Applications of the Noncentral t-Distribution. Limits: error below 1e-6 for 1 ≤ df ≤ 10⁴. Golden:
/// t = 2.776 445, 4 degrees and a shift of 3 give 0.619 258.
pub fn student_above(t: f64, df: f64, shift: f64) -> f64 {
    if !(t >= 0.0 && df > 0.0 && shift.is_finite()) {
        return f64::NAN;
    }
    // Beyond twelve standard deviations of v, whose variance is about 1/(2·df), nothing is left.
    let width = 12.0 / (2.0 * df).sqrt();
    let (from, to) = ((1.0 - width).max(0.0), 1.0 + width);
    let step = (to - from) / SIMPSON_STEPS as f64;
    let (mut chance, mut all) = (0.0, 0.0);
    for at in 0..=SIMPSON_STEPS {
        let v = from + step * at as f64;
        let weight = match at {
            0 | SIMPSON_STEPS => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        // Relative to the density at v = 1; at v = 0 it is 0, or with one degree of freedom finite.
        let log_density = (df - 1.0) * v.max(f64::MIN_POSITIVE).ln() - df * (v * v - 1.0) / 2.0;
        let density = weight * log_density.exp();
        all += density;
        chance += density * normal_cdf(shift - t * v);
    }
    chance / all
}

const SIMPSON_STEPS: usize = 2_000;

/// Quantile of the F distribution with `above` and `below` > 0 degrees of freedom, by bisection to the last digits; NaN
/// outside 0 < p < 1.
///
/// Formula: the distribution function is I_x(above/2, below/2) at x = above·f/(above·f + below), the regularised incomplete
/// beta function (Abramowitz & Stegun 26.6.2). Limits: those of [`student_cdf`]. Golden: 39 for p = 0.975 with 2 and 2 degrees.
pub fn fisher_quantile(p: f64, above: f64, below: f64) -> f64 {
    if !(p > 0.0 && p < 1.0 && above > 0.0 && below > 0.0) {
        return f64::NAN;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if incomplete_beta(middle, above / 2.0, below / 2.0) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    let x = f64::midpoint(low, high);
    below * x / (above * (1.0 - x))
}

fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    // The fraction converges quickly on this side of the mean only.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    }
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let away_from_zero = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..2000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            fraction *= d * c;
        }
        if (fraction / before - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    fraction
}

/// ln Γ(x) for x > 0: the recurrence up to 10, then Stirling's series (Abramowitz & Stegun 6.1.41).
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, golden: f64, error: f64) {
        assert!(
            (found - golden).abs() <= error * golden.abs().max(1e-300),
            "{found} {golden}"
        );
    }

    #[test]
    fn golden_normal() {
        close(normal_cdf(1.96), 0.975_002_104_851_780, 1e-13);
        close(normal_cdf(-6.0), 9.865_876_450_376_98e-10, 1e-11);
        close(normal_quantile(0.975), 1.959_963_984_540_054, 1e-12);
        close(normal_quantile(1e-10), -6.361_340_902_404_056, 1e-10);
        assert!(normal_quantile(0.5).abs() < 1e-12);
        assert!(normal_quantile(-0.1).is_nan() && normal_quantile(0.0) == f64::NEG_INFINITY);
    }

    #[test]
    fn golden_student() {
        // Tables of the t distribution, as printed in any textbook.
        close(student_quantile(0.975, 1.0), 12.706_204_736_2, 1e-9);
        close(student_quantile(0.975, 5.0), 2.570_581_835_6, 1e-9);
        close(student_quantile(0.95, 19.0), 1.729_132_811_5, 1e-9);
        close(student_quantile(0.975, 1e6), 1.959_966, 1e-6);
        close(student_cdf(-2.570_581_835_6, 5.0), 0.025, 1e-9);
        assert!(student_quantile(1.0, 5.0).is_nan() && student_cdf(0.0, -1.0).is_nan());
    }

    #[test]
    fn a_quantile_is_where_its_distribution_has_that_chance() {
        for df in [0.3, 1.0, 1.5, 2.0, 7.0, 60.0, 1e4] {
            for p in [0.6, 0.9, 0.975, 0.999] {
                let t = student_quantile(p, df);
                let error = (student_cdf(t, df) - p).abs();
                assert!(error < 1e-11, "{error} for {p} with {df} degrees: {t}");
            }
        }
    }

    #[test]
    fn golden_student_above() {
        // R: pt(t, df, ncp, lower.tail = FALSE).
        for (t, df, shift, golden) in [
            (2.776_445, 4.0, 3.0, 0.619_257_565),
            (3.182_446, 3.0, 5.0, 0.898_605_979),
            (7.648_804, 2.0, 10.0, 0.811_674_771),
            (1.0, 10.0, 0.0, 0.170_446_566),
            (1.0, 10_000.0, 0.0, 1.0 - student_cdf(1.0, 10_000.0)),
            (12.706_205, 1.0, 0.0, 0.025),
        ] {
            close(student_above(t, df, shift), golden, 1e-5);
        }
        assert!(student_above(-1.0, 3.0, 0.0).is_nan());
        assert!(student_above(1.0, 0.0, 0.0).is_nan());
    }

    #[test]
    fn golden_fisher() {
        close(fisher_quantile(0.975, 2.0, 2.0), 39.0, 1e-9);
        // As printed in tables of the 5 % points.
        close(fisher_quantile(0.95, 4.0, 9.0), 3.633_089, 1e-6);
        // With one degree above it is the square of Student's t.
        let t = student_quantile(0.975, 7.0);
        close(fisher_quantile(0.95, 1.0, 7.0), t * t, 1e-9);
        assert!(fisher_quantile(1.0, 2.0, 2.0).is_nan() && fisher_quantile(0.5, 0.0, 2.0).is_nan());
    }
}
