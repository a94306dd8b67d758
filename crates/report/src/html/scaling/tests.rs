//! Scaling laws as lines and sentences.

use super::*;

const RESAMPLING: Resampling = Resampling {
    confidence: CONFIDENCE,
    resamples: 200,
    seed: 1,
};

/// A sweep over `dops` whose rates follow X(N) = N / (1 + σ(N − 1) + κN(N − 1)), times `noise`.
fn swept(dops: &[u32], (contention, coherency): (f64, f64), noise: &[f64]) -> Law<'static> {
    let loads: Vec<Load> = dops
        .iter()
        .zip(noise.iter().cycle())
        .map(|(&dop, noise)| {
            let n = f64::from(dop);
            let slower = 1.0 + contention * (n - 1.0) + coherency * n * (n - 1.0);
            Load {
                dop,
                rate: 1000.0 * n / slower * noise,
            }
        })
        .collect();
    Law {
        label: "sqlite",
        colour: 0,
        measured: (dops[0], dops[dops.len() - 1]),
        outcome: outcome(&loads, &RESAMPLING),
    }
}

const DOPS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
const NOISE: [f64; 7] = [1.004, 0.997, 1.002, 0.996, 1.003, 0.999, 1.001];

#[test]
fn a_maximum_is_named_only_where_it_was_observed() {
    let observed = swept(&DOPS, (0.03, 0.001), &NOISE).sentence();
    assert!(
        observed.starts_with("sqlite: contention 2.99 % (95 %: 2.83 to 3.14), coherency 0.100 %"),
        "{observed}"
    );
    assert!(observed.contains("Throughput peaks at DOP 3"), "{observed}");
    let beyond = swept(&DOPS[..6], (0.03, 0.0001), &NOISE).sentence();
    assert!(!beyond.contains("peaks at"), "{beyond}");
    let advice =
        " The maximum was not observed; measure at higher parallelism until throughput falls.";
    assert!(beyond.ends_with(advice), "{beyond}");
}

#[test]
fn a_maximum_at_the_last_level_is_not_confirmed() {
    // √(0.97 / 0.0145) is 8.2: the law turns down just after the last of four levels.
    let last = swept(&DOPS[..4], (0.03, 0.0145), &[1.0]).sentence();
    assert!(last.contains("maximum was not observed"), "{last}");
    assert!(!last.contains("peaks at"), "{last}");
}

#[test]
fn without_coherency_it_is_amdahls_law() {
    let sentence = swept(&DOPS, (0.1, 0.0), &[1.0]).sentence();
    let start = "sqlite: 10.0 % (95 %: 10.0 to 10.0) of the work is serial (Amdahl's law), no coherency cost detected; ";
    assert!(sentence.starts_with(start), "{sentence}");
    let four = swept(&DOPS[..4], (0.0, 0.0), &[1.0]).sentence();
    assert!(
        four.starts_with("sqlite: no contention detected, no coherency cost detected; "),
        "{four}"
    );
}

#[test]
fn more_contention_than_work_is_said_in_words() {
    let slower = swept(&DOPS, (1.5, 0.0), &[1.0]).sentence();
    let start = "sqlite: several sessions together are slower than one (contention 150 % (95 %: 150 to 150)), ";
    assert!(slower.starts_with(start), "{slower}");
}

#[test]
fn an_impossible_fit_has_a_reason() {
    let few = swept(&DOPS[..3], (0.1, 0.0), &[1.0]);
    let want = "sqlite: no scaling law: a fit needs 4 degrees of parallelism, 3 were measured.";
    assert_eq!(few.sentence(), want);
    let wild = swept(&DOPS, (0.1, 0.0), &[1.0, 2.0, 0.3]);
    assert!(
        wild.sentence()
            .starts_with("sqlite: no scaling law: the best fit misses")
    );
    let zero = swept(&DOPS, (0.1, 0.0), &[0.0]);
    assert!(
        zero.sentence().contains("zero or negative"),
        "{}",
        zero.sentence()
    );
    let laws = Laws {
        laws: vec![few, wild, zero],
        threads: Some(2),
        unit: "ops/s",
    };
    assert!(laws.traces().is_empty() && laws.table().is_none() && laws.how().is_empty());
    assert_eq!(laws.sentences().len(), 3);
}

#[test]
fn four_levels_have_a_line_and_no_interval() {
    let law = swept(&DOPS[..4], (0.1, 0.01), &NOISE);
    assert!(
        law.sentence()
            .contains(" Confidence intervals need 6 degrees of parallelism."),
        "{}",
        law.sentence()
    );
    let laws = Laws {
        laws: vec![law],
        threads: Some(4),
        unit: "ops/s",
    };
    let traces = laws.traces();
    assert_eq!(traces.len(), 2);
    assert!(traces.iter().all(|t| t.band.is_empty()));
    assert_eq!(
        (traces[0].dash, traces[1].dash),
        (Dash::Solid, Dash::Dashed)
    );
    let ends = |t: &Trace| {
        (
            t.points[0].0.round(),
            t.points[t.points.len() - 1].0.round(),
        )
    };
    assert_eq!(
        (ends(&traces[0]), ends(&traces[1])),
        ((1.0, 8.0), (8.0, 16.0))
    );
    assert_eq!(laws.dops(), [16]);
    assert!(laws.how().ends_with(
        "Beyond DOP 4 (the host's hardware threads), waiting for a processor counts as contention."
    ));
    let rows = laws.table().unwrap().rows.into_iter().skip(1);
    let text = |cell: &archive::Cell| crate::section::text(cell, "");
    let cells: Vec<Vec<String>> = rows.map(|row| row.iter().map(text).collect()).collect();
    assert_eq!(cells[2][2..], ["–", "–"], "no interval of κ");
}

#[test]
fn a_band_needs_six_levels() {
    let laws = Laws {
        laws: vec![swept(&DOPS, (0.03, 0.001), &NOISE)],
        threads: None,
        unit: "ops/s",
    };
    assert!(laws.traces().iter().all(|t| !t.band.is_empty()));
    assert!(laws.how().ends_with("The band is its 95 % interval."));
}
