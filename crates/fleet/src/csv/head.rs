//! The head of a file: names of columns, which contain the units.

use std::borrow::Cow;

use archive::fields;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    System,
    Time,
    Side,
    Operation,
    ReadPct,
    SizeKib,
    Iops,
    LowUs,
    HighUs,
    Count,
    Histogram,
}

impl Column {
    const ALL: [Self; 11] = [
        Self::System,
        Self::Time,
        Self::Side,
        Self::Operation,
        Self::ReadPct,
        Self::SizeKib,
        Self::Iops,
        Self::LowUs,
        Self::HighUs,
        Self::Count,
        Self::Histogram,
    ];
    /// Columns without which no line can be read.
    const NEEDED: [Self; 4] = [Self::System, Self::Time, Self::Side, Self::Operation];
    const OF_BUCKET: [Self; 3] = [Self::LowUs, Self::HighUs, Self::Count];

    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Time => "time",
            Self::Side => "side",
            Self::Operation => "operation",
            Self::ReadPct => "read_pct",
            Self::SizeKib => "size_kib",
            Self::Iops => "iops",
            Self::LowUs => "low_us",
            Self::HighUs => "high_us",
            Self::Count => "count",
            Self::Histogram => "histogram",
        }
    }
}

/// Positions of the columns in a line.
#[derive(Debug)]
pub struct Head {
    pub separator: char,
    /// Additional columns, which are not read.
    pub ignored: Vec<String>,
    width: usize,
    /// Position by column; `None` for one that the file does not have.
    positions: [Option<usize>; Column::ALL.len()],
}

impl Head {
    /// Reads the first line. Fails with the mistake and its correction.
    pub fn read(line: &str) -> Result<Self, String> {
        let separator = fields::separator(line);
        let names = fields::split(line, separator)?;
        let mut head = Self {
            separator,
            ignored: Vec::new(),
            width: names.len(),
            positions: [None; Column::ALL.len()],
        };
        for (position, name) in names.iter().enumerate() {
            let Some(column) = Column::ALL.into_iter().find(|c| c.name() == name) else {
                if let Some(what) = of_other_unit(name) {
                    return Err(what);
                }
                head.ignored.push(name.to_string());
                continue;
            };
            if head.positions[column as usize].replace(position).is_some() {
                return Err(format!("the column {name} is there twice"));
            }
        }
        head.complete()
    }

    fn complete(self) -> Result<Self, String> {
        let has = |column: &Column| self.positions[*column as usize].is_some();
        if let Some(lacking) = Column::NEEDED.iter().find(|column| !has(column)) {
            return Err(format!(
                "the column {} is missing{}",
                lacking.name(),
                self.found()
            ));
        }
        let of_bucket = Column::OF_BUCKET.iter().filter(|column| has(column));
        match (of_bucket.count(), self.has_histograms()) {
            (3, false) | (0, true) => Ok(self),
            (0, false) => Err(format!(
                "the columns of the times are missing: low_us, high_us and count with a bucket in each line, or histogram{}",
                self.found()
            )),
            (_, true) => Err(
                "it has both histogram and columns of buckets; leave out low_us, high_us and count, or histogram".to_owned(),
            ),
            _ => Err("a bucket takes all of low_us, high_us and count".to_owned()),
        }
    }

    /// Names of unknown columns, which may be misspelt.
    fn found(&self) -> String {
        if self.ignored.is_empty() {
            String::new()
        } else {
            format!("; unknown are {}", self.ignored.join(", "))
        }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn has_histograms(&self) -> bool {
        self.positions[Column::Histogram as usize].is_some()
    }

    pub fn cell<'a>(&self, fields: &'a [Cow<'_, str>], column: Column) -> &'a str {
        let position = self.positions[column as usize];
        position
            .and_then(|position| fields.get(position))
            .map_or("", |cell| cell.as_ref())
    }
}

/// A foreign unit, and its conversion to ours.
type Other = (&'static str, &'static str);

/// Beginning of a name, the right name, and other units.
const UNITS: [(&str, &str, &[Other]); 4] = [
    ("low", "low_us", TIMES),
    ("high", "high_us", TIMES),
    ("size", "size_kib", SIZES),
    ("read", "read_pct", SHARES),
];
const TIMES: &[Other] = &[
    ("ns", "divide its values by 1,000"),
    ("ms", "multiply its values by 1,000"),
    ("s", "multiply its values by 1,000,000"),
];
const SIZES: &[Other] = &[
    ("b", "divide its values by 1,024"),
    ("bytes", "divide its values by 1,024"),
    ("kb", "multiply its values by 0.9766"),
    ("mib", "multiply its values by 1,024"),
];
const SHARES: &[Other] = &[("share", "multiply its values by 100")];

/// The mistake in a known column with a foreign unit.
fn of_other_unit(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let (stem, unit) = lower.rsplit_once('_').unwrap_or((&lower, ""));
    let (_, right, units) = UNITS.iter().find(|(known, ..)| *known == stem)?;
    let factor = units.iter().find(|(known, _)| *known == unit);
    Some(match factor {
        Some((_, what)) => {
            format!("the column \"{name}\" has another unit: name it {right} and {what}")
        }
        None => {
            format!("the column \"{name}\" names no unit that is known: it must be {right}")
        }
    })
}
