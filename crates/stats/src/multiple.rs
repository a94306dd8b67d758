//! Adjustments for many metrics: of twenty that did not change, one appears to have changed by chance.

use crate::warning::Warning;

/// Confidence of each of several intervals that together hold with `confidence`: the chance that *any* of them misses its
/// truth is at most 1 − confidence, and so is the chance of any false better or worse among verdicts drawn from them.
///
/// Formula: 1 − (1 − confidence)/m. Source: Bonferroni; Dunn 1961. Limits: none on dependence, and so cautious where the
/// metrics go together. Golden: five intervals that hold together at 95 % hold at 99 % each.
pub fn confidence_of_each(confidence: f64, metrics: usize) -> f64 {
    1.0 - (1.0 - confidence) / metrics.max(1) as f64
}

/// Holm's adjustment: an adjusted p ≤ α keeps the chance of *any* false alarm in the family below α.
///
/// Formula: with p₍₁₎ ≤ … ≤ p₍ₘ₎, adjusted p₍ᵢ₎ = max over j ≤ i of min(1, (m − j + 1)·p₍ⱼ₎). Source: Holm 1979.
/// Limits: none on dependence; p outside 0 to 1, or NaN, is refused. Results are in the order given.
/// Golden: 0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02.
pub fn holm(p: &[f64]) -> Result<Vec<f64>, Warning> {
    let order = ascending(p)?;
    let mut adjusted = vec![0.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, i) in order.iter().enumerate() {
        largest = largest.max((p.len() - rank) as f64 * p[*i]).min(1.0);
        adjusted[*i] = largest;
    }
    Ok(adjusted)
}

/// Benjamini and Hochberg's adjustment: of all that have an adjusted p ≤ q, at most a share of q is false on average.
///
/// Formula: with p₍₁₎ ≤ … ≤ p₍ₘ₎, adjusted p₍ᵢ₎ = min over j ≥ i of min(1, p₍ⱼ₎·m/j). Source: Benjamini & Hochberg 1995.
/// Limits: tests that are independent or positively dependent; p outside 0 to 1, or NaN, is refused. Results are in
/// the order given.
/// Golden: 0.01, 0.04, 0.03, 0.005 become 0.02, 0.04, 0.04, 0.02.
pub fn benjamini_hochberg(p: &[f64]) -> Result<Vec<f64>, Warning> {
    let order = ascending(p)?;
    let mut adjusted = vec![0.0; p.len()];
    let mut smallest = 1.0_f64;
    for (rank, i) in order.iter().enumerate().rev() {
        smallest = smallest.min(p[*i] * p.len() as f64 / (rank + 1) as f64);
        adjusted[*i] = smallest;
    }
    Ok(adjusted)
}

fn ascending(p: &[f64]) -> Result<Vec<usize>, Warning> {
    if p.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return Err(Warning::NotAShare { name: "p value" });
    }
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|i, j| p[*i].total_cmp(&p[*j]));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: &[f64], golden: &[f64]) {
        assert_eq!(found.len(), golden.len());
        assert!(
            found.iter().zip(golden).all(|(f, g)| (f - g).abs() < 1e-12),
            "{found:?}"
        );
    }

    #[test]
    fn golden_confidence() {
        assert!((confidence_of_each(0.95, 5) - 0.99).abs() < 1e-12);
        assert_eq!(confidence_of_each(0.95, 1), confidence_of_each(0.95, 0));
    }

    #[test]
    fn golden_adjustments() {
        let p = [0.01, 0.04, 0.03, 0.005];
        close(&holm(&p).unwrap(), &[0.03, 0.06, 0.06, 0.02]);
        close(&holm(&[]).unwrap(), &[]);
        close(&benjamini_hochberg(&p).unwrap(), &[0.02, 0.04, 0.04, 0.02]);
        close(&benjamini_hochberg(&[]).unwrap(), &[]);
        assert!(benjamini_hochberg(&[-0.1]).is_err());
        assert!(holm(&[f64::NAN]).is_err() && holm(&[1.1]).is_err());
    }
}
