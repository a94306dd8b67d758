//! Files of limits: `[[limit]]` tables in TOML, described in docs/FORMAT.md.

use std::path::{Path, PathBuf};

use archive::FIGURES;

use crate::metric::{Metric, MetricError, PERCENTILES};

const FILE_BYTES_MAX: u64 = 1 << 20;
pub const LIMITS_MAX: usize = 1_000;
/// Longest reason in characters, because it is printed in one line.
const REASON_CHARS_MAX: usize = 500;
const FILE_KEYS: [&str; 1] = ["limit"];
const LIMIT_KEYS: [&str; 4] = ["metric", "at_least", "at_most", "reason"];

#[derive(Debug, Clone, PartialEq)]
pub struct Sla {
    /// Limits in the order of the file, with distinct metrics.
    pub limits: Vec<Limit>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    pub metric: Metric,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
    /// Reason in its owner's words.
    pub reason: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum SlaError {
    #[error("the limits file {} cannot be read: {reason}", path.display())]
    Unreadable {
        path: PathBuf,
        reason: std::io::Error,
    },
    #[error("limits file {file}: {what}")]
    Wrong { file: String, what: String },
}

impl Sla {
    /// Reads a file of limits.
    pub fn load(path: &Path) -> Result<Self, SlaError> {
        let unreadable = |reason| SlaError::Unreadable {
            path: path.to_owned(),
            reason,
        };
        let text = archive::read_text(path, FILE_BYTES_MAX).map_err(unreadable)?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Parses the text of the file called `file`.
    pub fn parse(file: &str, text: &str) -> Result<Self, SlaError> {
        parse(text).map_err(|what| SlaError::Wrong {
            file: file.to_owned(),
            what,
        })
    }
}

fn parse(text: &str) -> Result<Sla, String> {
    let table: toml::Table = toml::from_str(text)
        .map_err(|e| format!("it is not TOML; {}", archive::toml_sentence(text, &e)))?;
    check_keys("the file", table.keys(), &FILE_KEYS)?;
    let tables = match table.get("limit") {
        Some(toml::Value::Array(tables)) if !tables.is_empty() => tables,
        Some(toml::Value::Array(_)) | None => {
            return Err("it has no limit; write at least one [[limit]] table".to_owned());
        }
        Some(_) => return Err("limit is not a list; write [[limit]] in double brackets".to_owned()),
    };
    if tables.len() > LIMITS_MAX {
        return Err(format!(
            "it has {} limits; the maximum is {LIMITS_MAX}, so split it",
            tables.len()
        ));
    }
    let mut limits: Vec<Limit> = Vec::with_capacity(tables.len());
    for (number, value) in (1..).zip(tables) {
        let limit = parse_limit(value).map_err(|what| format!("limit {number}: {what}"))?;
        if let Some(first) = limits.iter().position(|l| l.metric == limit.metric) {
            return Err(format!(
                "limit {number}: the metric \"{}\" already occurs in limit {}; put both bounds into one limit",
                limit.metric,
                first + 1
            ));
        }
        limits.push(limit);
    }
    Ok(Sla { limits })
}

fn parse_limit(value: &toml::Value) -> Result<Limit, String> {
    let table = value
        .as_table()
        .ok_or("it is not a table; write [[limit]] and the keys below it")?;
    check_keys("it", table.keys(), &LIMIT_KEYS)?;
    let metric = text_of(table, "metric")?
        .ok_or("it has no metric; add, for example, metric = \"T611@4.response_us_p99\"")?;
    if metric.chars().any(char::is_control) {
        return Err(format!(
            "the metric {metric:?} contains control characters; remove them"
        ));
    }
    let metric = metric
        .parse::<Metric>()
        .map_err(|e| format!("{e}{}", figure_hint(&e)))?;
    let (at_least, at_most) = (bound(table, "at_least")?, bound(table, "at_most")?);
    match (at_least, at_most) {
        (None, None) => {
            return Err(format!(
                "\"{metric}\" has no bound; add at_least, at_most or both"
            ));
        }
        (Some(low), Some(high)) if low > high => {
            return Err(format!(
                "at_least = {low} is above at_most = {high}, so no value can meet both; swap them"
            ));
        }
        _ => {}
    }
    let reason = text_of(table, "reason")?.map(str::to_owned);
    let unfit =
        |r: &String| r.chars().count() > REASON_CHARS_MAX || r.chars().any(char::is_control);
    if reason.as_ref().is_some_and(unfit) {
        return Err(format!(
            "the reason is not a single line of at most {REASON_CHARS_MAX} characters; shorten it"
        ));
    }
    Ok(Limit {
        metric,
        at_least,
        at_most,
        reason,
    })
}

fn text_of<'a>(table: &'a toml::Table, key: &str) -> Result<Option<&'a str>, String> {
    match table.get(key) {
        None => Ok(None),
        Some(toml::Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("{key} is not a string; put it in quotes")),
    }
}

/// A bound that can be missed and kept: no figure is negative, infinite or NaN.
fn bound(table: &toml::Table, key: &str) -> Result<Option<f64>, String> {
    let value = match table.get(key) {
        None => return Ok(None),
        Some(toml::Value::Integer(whole)) => *whole as f64,
        Some(toml::Value::Float(value)) => *value,
        Some(_) => {
            return Err(format!(
                "{key} is not a number; write it without quotes, in the figure's unit"
            ));
        }
    };
    if value.is_finite() && value >= 0.0 {
        return Ok(Some(value));
    }
    Err(format!(
        "{key} = {value} is not a valid limit; set a finite number of at least 0"
    ))
}

fn check_keys<'a>(
    place: &str,
    keys: impl Iterator<Item = &'a String>,
    known: &[&str],
) -> Result<(), String> {
    for key in keys {
        if !known.contains(&key.as_str()) {
            let hint = archive::nearest(key, known.iter().copied());
            return Err(format!(
                "{place} has the unknown key {key:?}{hint}; docs/FORMAT.md lists the keys"
            ));
        }
    }
    Ok(())
}

fn figure_hint(error: &MetricError) -> String {
    let MetricError::UnknownFigure { figure, .. } = error else {
        return String::new();
    };
    let latencies = ["service_us_", "response_us_"]
        .iter()
        .flat_map(|kind| PERCENTILES.map(|end| format!("{kind}{end}")));
    let known: Vec<String> = FIGURES
        .iter()
        .map(|info| info.name.to_owned())
        .chain(latencies)
        .collect();
    archive::nearest(figure, known.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Sla::parse("limits.toml", text).unwrap_err().to_string()
    }

    fn with(lines: &str) -> String {
        format!("[[limit]]\nmetric = \"T611.operations_per_s\"\n{lines}\n")
    }

    #[test]
    fn limits_keep_their_order_and_their_words() {
        let text = with("at_least = 1000\nreason = \"the shop's peak\"")
            + "[[limit]]\nmetric = \"sqlite:T611@4.response_us_p99\"\nat_most = 1.5e3\nat_least = 1\n";
        let limits = Sla::parse("limits.toml", &text).unwrap().limits;
        assert_eq!(limits.len(), 2);
        assert_eq!((limits[0].at_least, limits[0].at_most), (Some(1e3), None));
        assert_eq!(limits[0].reason.as_deref(), Some("the shop's peak"));
        assert_eq!(
            (limits[1].at_least, limits[1].at_most),
            (Some(1.0), Some(1500.0))
        );
        assert_eq!(limits[1].metric.level, Some((4, 1)));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let twice = with("at_least = 1") + &with("at_most = 2");
        let long = with(&format!("at_least = 1\nreason = \"{}\"", "x".repeat(501)));
        let many = (0..=LIMITS_MAX)
            .map(|i| format!("[[limit]]\nmetric = \"T{i}.rows_per_s\"\nat_least = 1\n"));
        let many = many.collect::<String>();
        let cases: &[&str] = &[
            "limit = ",
            "",
            "limit = []",
            "limit = 3",
            "limit = [3]",
            "[[limits]]\n",
            &with("at_lest = 1"),
            &with(""),
            &with("at_least = nan"),
            &with("at_most = inf"),
            &with("at_most = -1"),
            &with("at_most = \"5 ms\""),
            &with("at_least = 2\nat_most = 1"),
            &with("at_least = 2\nreason = 7"),
            &with("at_least = 2\nreason = \"a\\u001bb\""),
            &long,
            &twice,
            "[[limit]]\nat_least = 1\n",
            "[[limit]]\nmetric = \"T611\"\nat_least = 1\n",
            "[[limit]]\nmetric = \"T6\\n.x\"\n",
            "[[limit]]\nmetric = \"T611.response_us_p98\"\nat_most = 1\n",
            &many,
        ];
        let messages: Vec<String> = cases.iter().map(|text| error(text)).collect();
        insta::assert_snapshot!(messages.join("\n"));
    }

    #[test]
    fn the_same_metric_written_otherwise_is_the_same() {
        let text = "[[limit]]\nmetric = \"T611@4.rows_per_s\"\nat_least = 1\n\
            [[limit]]\nmetric = \"T611@4x1.rows_per_s\"\nat_least = 2\n";
        assert_eq!(
            error(text),
            "limits file limits.toml: limit 2: the metric \"T611@4.rows_per_s\" already occurs in limit 1; \
             put both bounds into one limit"
        );
    }

    #[test]
    fn a_file_that_is_not_there_or_too_long_is_said() {
        let gone = Sla::load(Path::new("/nowhere/limits.toml")).unwrap_err();
        assert!(
            gone.to_string()
                .contains("/nowhere/limits.toml cannot be read")
        );
        let long = tempfile::NamedTempFile::new().unwrap();
        long.as_file().set_len(FILE_BYTES_MAX + 1).unwrap();
        let long = Sla::load(long.path()).unwrap_err().to_string();
        assert!(long.contains("it has more than 1048576 bytes"), "{long}");
    }
}
