//! The run's JSON export (gzip in base64), embedded so that programs can read the page's figures.

use std::io::{self, BufWriter, Write};

use archive::Run;
use archive::export::Exported;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize as _;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use crate::grade;

/// Significant digits of the figures; no clock or counter is more precise.
const DIGITS: usize = 9;
/// Budget of the distributions, most of the data and already packed; they are left out if they exceed it.
const DISTRIBUTIONS_BYTES_MAX: usize = 1_000_000;

/// Most samples of devices; the page's tables hold the drawn ones.
const DEVICE_SAMPLES_MAX: usize = 20_000;

pub struct Data {
    pub text: String,
    pub has_distributions: bool,
    pub has_device_samples: bool,
}

impl Data {
    pub fn of(run: &Run) -> Self {
        let of_points = run.points.iter().map(|point| &point.histograms);
        let bytes: usize = of_points
            .map(|both| both.service.encoded().len() + both.response.encoded().len())
            .sum();
        let has_distributions = bytes <= DISTRIBUTIONS_BYTES_MAX;
        let of_devices = run.points.iter().flat_map(|point| &point.devices);
        let samples: usize = of_devices.map(|device| device.samples.len()).sum();
        let has_device_samples = samples <= DEVICE_SAMPLES_MAX;
        let mut exported = Exported::of(run);
        exported.grade = Some(grade(run, &[]));
        if !has_distributions {
            exported = exported.without_distributions();
        }
        if !has_device_samples {
            exported = exported.without_device_samples();
        }
        Self {
            text: packed(exported),
            has_distributions,
            has_device_samples,
        }
    }
}

fn packed(exported: Exported<'_>) -> String {
    let packed = GzEncoder::new(Vec::new(), Compression::default());
    // serde writes each token separately.
    let mut buffered = BufWriter::new(packed);
    let mut json = Serializer::with_formatter(&mut buffered, Rounding);
    let written = exported.serialize(&mut json);
    written.expect("a Vec takes everything, and names are strings");
    let packed = buffered.into_inner();
    let packed = packed.expect("writing to a Vec cannot fail").finish();
    BASE64.encode(packed.expect("writing to a Vec cannot fail"))
}

/// JSON without white space, with fractions of [`DIGITS`] significant digits.
struct Rounding;

impl Formatter for Rounding {
    fn write_f64<W: Write + ?Sized>(&mut self, to: &mut W, value: f64) -> io::Result<()> {
        let rounded = format!("{value:.*e}", DIGITS - 1)
            .parse::<f64>()
            .unwrap_or(value);
        let text = format!("{rounded:?}");
        to.write_all(text.strip_suffix(".0").unwrap_or(&text).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_no_useless_digits() {
        let figures = serde_json::json!([
            1_234_567.891_234_567,
            0.300_000_000_000_000_04,
            -1.5e-7,
            u64::MAX,
            2.0,
            "1.23456789012345"
        ]);
        let mut text = Vec::new();
        let mut json = Serializer::with_formatter(&mut text, Rounding);
        figures.serialize(&mut json).unwrap();
        let want = r#"[1234567.89,0.3,-1.5e-7,18446744073709551615,2,"1.23456789012345"]"#;
        assert_eq!(String::from_utf8(text).unwrap(), want);
    }
}
