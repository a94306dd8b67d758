//! The least-squares fit of [`crate::usl`]: Levenberg and Marquardt's method within bounds.

use crate::law::Law;

const STEPS_MAX: usize = 500;
const DAMPING_MAX: f64 = 1e16;

/// The law within λ, σ, κ ≥ 0 that lies closest to the rates; with `is_amdahl`, κ stays 0.
///
/// Formula: (JᵀJ + μ·diag JᵀJ)·δ = Jᵀr, the step cut at the bounds; μ falls by 3 when the sum of squares falls, else rises by 4.
/// A parameter on its bound that wants to go beyond is held there. Source: Marquardt 1963, with the
/// active set of projected methods (Nocedal & Wright, 16.7). Limits: positive finite rates; it ends at a
/// local minimum, of which these laws have shown one.
pub(crate) fn fit(dops: &[f64], rates: &[f64], is_amdahl: bool) -> Law {
    // In units of the largest rate per job, so that the three parameters are of like size.
    let unit = dops
        .iter()
        .zip(rates)
        .map(|(n, x)| x / n)
        .fold(f64::MIN_POSITIVE, f64::max);
    let scaled: Vec<f64> = rates.iter().map(|x| x / unit).collect();
    let mut at = [1.0, 0.1, if is_amdahl { 0.0 } else { 0.01 }];
    let mut error = squares(&at, dops, &scaled);
    let mut damping = 1e-3;
    for _ in 0..STEPS_MAX {
        let Some(next) = step(&at, dops, &scaled, damping, is_amdahl) else {
            break;
        };
        let next_error = squares(&next, dops, &scaled);
        if next_error < error {
            let is_done = error - next_error <= 1e-14 * error;
            (at, error) = (next, next_error);
            damping = (damping / 3.0).max(1e-12);
            if is_done {
                break;
            }
        } else {
            damping *= 4.0;
            if damping > DAMPING_MAX {
                break;
            }
        }
    }
    Law {
        rate_of_one: at[0] * unit,
        contention: at[1],
        coherency: at[2],
    }
}

fn squares(at: &[f64; 3], dops: &[f64], rates: &[f64]) -> f64 {
    let law = Law {
        rate_of_one: at[0],
        contention: at[1],
        coherency: at[2],
    };
    dops.iter()
        .zip(rates)
        .map(|(n, x)| (x - law.rate(*n)).powi(2))
        .sum()
}

fn step(
    at: &[f64; 3],
    dops: &[f64],
    rates: &[f64],
    damping: f64,
    is_amdahl: bool,
) -> Option<[f64; 3]> {
    let (mut matrix, mut right) = ([[0.0; 3]; 3], [0.0; 3]);
    for (n, x) in dops.iter().zip(rates) {
        let below = 1.0 + at[1] * (n - 1.0) + at[2] * n * (n - 1.0);
        let rate = at[0] * n / below;
        let slopes = [
            n / below,
            -rate * (n - 1.0) / below,
            -rate * n * (n - 1.0) / below,
        ];
        for i in 0..3 {
            right[i] += slopes[i] * (x - rate);
            for j in 0..3 {
                matrix[i][j] += slopes[i] * slopes[j];
            }
        }
    }
    let held = [
        false,
        at[1] == 0.0 && right[1] <= 0.0,
        is_amdahl || (at[2] == 0.0 && right[2] <= 0.0),
    ];
    for i in 0..3 {
        matrix[i][i] *= 1.0 + damping;
        if held[i] {
            right[i] = 0.0;
            matrix[i] = [0.0; 3];
            for row in &mut matrix {
                row[i] = 0.0;
            }
            matrix[i][i] = 1.0;
        }
    }
    let by = solve(matrix, right)?;
    Some([0, 1, 2].map(|i| (at[i] + by[i]).max(0.0)))
}

fn solve(m: [[f64; 3]; 3], right: [f64; 3]) -> Option<[f64; 3]> {
    let determinant = |m: &[[f64; 3]; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
            - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let all = determinant(&m);
    let solution = [0, 1, 2].map(|column| {
        let mut replaced = m;
        for row in 0..3 {
            replaced[row][column] = right[row];
        }
        determinant(&replaced) / all
    });
    solution.iter().all(|v| v.is_finite()).then_some(solution)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_solution() {
        let m = [[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]];
        let found = solve(m, [4.0, 10.0, 14.0]).unwrap();
        assert!(
            found
                .iter()
                .zip([1.0, 2.0, 3.0])
                .all(|(f, g)| (f - g).abs() < 1e-12)
        );
        assert_eq!(solve([[1.0; 3]; 3], [1.0; 3]), None);
    }

    #[test]
    fn a_law_is_found_again_from_its_own_rates() {
        let dops = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        for (contention, coherency) in [
            (0.0, 0.0),
            (0.05, 0.0),
            (0.0, 1e-3),
            (0.02, 5e-4),
            (0.5, 0.01),
            (0.9, 0.1),
        ] {
            let law = Law {
                rate_of_one: 1e5,
                contention,
                coherency,
            };
            let rates = dops.map(|n| law.rate(n));
            let found = fit(&dops, &rates, false);
            assert!((found.rate_of_one / 1e5 - 1.0).abs() < 1e-4, "{found:?}");
            assert!((found.contention - contention).abs() < 1e-4, "{found:?}");
            assert!((found.coherency - coherency).abs() < 1e-5, "{found:?}");
        }
    }
}
