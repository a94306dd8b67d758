//! `histogram=`: the bounds of the buckets of response times.

use super::error::Result;
use super::lexer::Parameter;
use super::value::begins;

/// Number of buckets, including the last, which has no upper bound.
const BUCKETS_MAX: usize = 64;
const BOUNDS_DEFAULT_US: [f64; 26] = [
    20.0, 40.0, 60.0, 80.0, 100.0, 200.0, 400.0, 600.0, 800.0, 1e3, 2e3, 4e3, 6e3, 8e3, 1e4, 2e4,
    4e4, 6e4, 8e4, 1e5, 2e5, 4e5, 6e5, 8e5, 1e6, 2e6,
];

#[derive(Debug, Clone, PartialEq)]
pub struct Buckets {
    /// Ascending, in microseconds; values above the last have a separate bucket.
    pub bounds_us: Vec<f64>,
    /// Empty buckets at both ends are omitted, except one each.
    pub suppress: bool,
}

impl Default for Buckets {
    fn default() -> Self {
        Self {
            bounds_us: BOUNDS_DEFAULT_US.to_vec(),
            suppress: false,
        }
    }
}

/// `(default,20,40,…,1m,2s[,suppress])`. A number smaller than its predecessor is the step up to its successor.
pub(super) fn buckets(parameter: &Parameter) -> Result<Buckets> {
    let mut buckets = Buckets {
        bounds_us: Vec::new(),
        suppress: false,
    };
    let mut step_us: Option<f64> = None;
    for (at, word) in parameter.values.iter().enumerate() {
        if at == 0 && word == "default" {
            continue;
        }
        if begins("suppress", word) {
            buckets.suppress = true;
            continue;
        }
        let bound = microseconds(word).ok_or_else(|| {
            parameter.wrong(format!(
                "{word} is not a time; give microseconds, or a number followed by u, m or s"
            ))
        })?;
        let last = buckets.bounds_us.last().copied().unwrap_or(0.0);
        if bound <= last {
            if step_us.replace(bound).is_some() {
                return Err(
                    parameter.wrong("two steps in a row; give the bound at which each step ends")
                );
            }
            continue;
        }
        if let Some(step) = step_us.take() {
            let mut next = last + step;
            while next < bound && buckets.bounds_us.len() < BUCKETS_MAX {
                buckets.bounds_us.push(next);
                next += step;
            }
        }
        buckets.bounds_us.push(bound);
        if buckets.bounds_us.len() >= BUCKETS_MAX {
            return Err(parameter.wrong(format!(
                "there are more than {BUCKETS_MAX} buckets; use larger steps"
            )));
        }
    }
    if step_us.is_some() {
        return Err(parameter.wrong("a step has no end; give the bound after it"));
    }
    if buckets.bounds_us.is_empty() {
        buckets.bounds_us = Buckets::default().bounds_us;
    }
    Ok(buckets)
}

fn microseconds(word: &str) -> Option<f64> {
    let (digits, factor) = match word.strip_suffix(['u', 'm', 's']) {
        Some(digits) if word.ends_with('u') => (digits, 1.0),
        Some(digits) if word.ends_with('m') => (digits, 1e3),
        Some(digits) => (digits, 1e6),
        None => (word, 1.0),
    };
    let number: f64 = digits.parse().ok()?;
    (number > 0.0 && number.is_finite()).then_some(number * factor)
}

#[cfg(test)]
mod tests {

    use super::super::error::Position;
    use super::*;

    fn read(values: &str) -> Result<Buckets> {
        buckets(&Parameter {
            key: "histogram".to_owned(),
            values: values.split(',').map(str::to_owned).collect(),
            place: Position::new("p", 1),
        })
    }

    #[test]
    fn bounds_have_units_and_steps() {
        let written = read("default,100u,500,100,1m,2s,suppress").unwrap();
        assert_eq!(
            written.bounds_us,
            [100.0, 500.0, 600.0, 700.0, 800.0, 900.0, 1000.0, 2e6]
        );
        assert!(written.suppress);
        assert_eq!(read("default").unwrap(), Buckets::default());
        let written = "default,20,40,60,80,100,200,400,600,800,1m,2m,4m,6m,8m,10m,20m,40m,60m,80m,100m,200m,400m,600m,800m,1s,2s";
        assert_eq!(read(written).unwrap(), Buckets::default());
    }

    #[test]
    fn bounds_that_make_no_buckets_are_refused() {
        for (written, said) in [
            ("default,x", "not a time"),
            ("default,0", "not a time"),
            ("default,100,10", "has no end"),
            ("default,100,10,5,200", "two steps"),
            ("default,1,0.001,1s", "more than 64"),
        ] {
            let error = read(written).unwrap_err().to_string();
            assert!(error.contains(said), "{written}: {error}");
        }
    }
}
