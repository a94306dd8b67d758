//! The file of a fleet: tables of histograms and their buckets, with dbdyno's mark.

use std::path::Path;

use engines::own_file::{Access, Cell, Mark, OwnFile};
use verdict::fleet::{LIMITS, Mix, Operation, Side, Window};

use crate::entry::Entry;
use crate::error::FleetError;

/// A change of the tables needs another version, which older ones refuse.
const MARK: Mark = Mark {
    table: "dbdyno_fleet",
    application: "dbdyno fleet",
    version: 1,
    tables: "CREATE TABLE source (id BIGINT NOT NULL, name VARCHAR NOT NULL, digest VARCHAR NOT NULL); \
             CREATE TABLE histogram (id BIGINT NOT NULL, source BIGINT NOT NULL, line BIGINT NOT NULL, \
             system VARCHAR NOT NULL, \"time\" TIMESTAMP NOT NULL, side VARCHAR NOT NULL, operation VARCHAR NOT NULL, \
             read_pct DOUBLE, size_kib DOUBLE, iops DOUBLE); \
             CREATE TABLE bucket (histogram BIGINT NOT NULL, low_us DOUBLE NOT NULL, high_us DOUBLE, count BIGINT NOT NULL); \
             CREATE VIEW telemetry AS SELECT system, \"time\", side, operation, read_pct, size_kib, iops, low_us, high_us, \
             count FROM histogram JOIN bucket ON bucket.histogram = histogram.id",
};

/// A bucket on both sides of a limit counts by its middle if it is this narrow, as those of an HdrHistogram are.
const NARROW: f64 = 1.01;

pub struct Store(OwnFile);

impl Store {
    /// Opens the fleet at `path`, or creates one. Fails if the engine is not installed, or the file is foreign,
    /// damaged or in use.
    pub fn open(path: &Path) -> Result<Self, FleetError> {
        Ok(Self(OwnFile::open(path, &MARK, Access::Write)?))
    }

    pub fn open_read_only(path: &Path) -> Result<Self, FleetError> {
        Ok(Self(OwnFile::open(path, &MARK, Access::Read)?))
    }

    /// Every histogram, summed up by the limits (µs), in the order of systems and times.
    pub fn windows(&self, limits_us: [f64; LIMITS]) -> Result<Vec<Window>, FleetError> {
        let sums = limits_us.map(|limit| {
            // Written with a cast, so that every limit is the exact number given.
            let limit = format!("{limit:?}::DOUBLE");
            let decided = format!("(high_us <= {limit} OR low_us >= {limit} OR is_narrow)");
            let within = format!("(high_us <= {limit} OR (is_narrow AND middle_us <= {limit}))");
            format!(
                "sum(count) FILTER ({decided} AND {within})::BIGINT, \
                 sum(count) FILTER (count > 0 AND NOT coalesce({decided}, false))::BIGINT"
            )
        });
        let sql = format!(
            "WITH buckets AS (SELECT histogram, low_us, high_us, count, coalesce(high_us <= low_us * {NARROW}, false) AS is_narrow, \
             CASE WHEN high_us IS NULL THEN low_us WHEN low_us > 0 THEN sqrt(low_us * high_us) ELSE high_us / 2 END \
             AS middle_us FROM bucket), \
             sums AS (SELECT histogram, sum(count)::BIGINT AS all_count, {}, \
             sum(count * middle_us) / sum(count) FROM buckets GROUP BY histogram) \
             SELECT h.system, h.\"time\", h.side, h.operation, h.read_pct, h.size_kib, h.iops, s.* EXCLUDE (histogram) \
             FROM histogram h JOIN sums s ON s.histogram = h.id WHERE s.all_count > 0 \
             ORDER BY h.system, h.\"time\", h.operation",
            sums.join(", ")
        );
        let mut windows = Vec::new();
        self.0.read(&sql, &mut |row| {
            windows.extend(window(row));
            Ok(())
        })?;
        Ok(windows)
    }

    /// The ends of buckets (µs) at which most histograms show a share, nearest to a limit first, up to `count`.
    pub fn ends_near(&self, limit_us: f64, count: usize) -> Result<Vec<f64>, FleetError> {
        let sql = format!(
            "WITH ends AS (SELECT high_us, count(*) AS times FROM bucket WHERE high_us IS NOT NULL GROUP BY high_us) \
             SELECT high_us FROM ends WHERE times * 2 >= (SELECT max(times) FROM ends) \
             ORDER BY abs(ln(high_us / {limit_us:?}::DOUBLE)) LIMIT {count}"
        );
        let mut ends = Vec::new();
        self.0.read(&sql, &mut |row| {
            ends.extend(row.first().and_then(double));
            Ok(())
        })?;
        Ok(ends)
    }

    /// Writes every bucket with its histogram's columns to a Parquet file. Fails if the file exists, or cannot be
    /// written.
    pub fn export(&self, path: &Path) -> Result<(), FleetError> {
        // This also finds dangling links.
        if path.symlink_metadata().is_ok() {
            return Err(FleetError::Exists(path.to_owned()));
        }
        let query = "SELECT * FROM telemetry ORDER BY system, \"time\", operation, low_us";
        Ok(self.0.write_parquet(query, path)?)
    }

    /// Executes `work` in one transaction, which an error rolls back.
    pub(crate) fn change<T>(
        &self,
        work: impl FnOnce() -> Result<T, FleetError>,
    ) -> Result<T, FleetError> {
        self.0.change(|_| work())
    }

    pub(crate) fn has(&self, digest: &str) -> Result<bool, FleetError> {
        let mut found = false;
        // The digits of a digest need no quotes.
        let sql = format!("SELECT 1 FROM source WHERE digest = '{digest}'");
        self.0.read(&sql, &mut |_| {
            found = true;
            Ok(())
        })?;
        Ok(found)
    }

    fn last_ids(&self) -> Result<[i64; 2], FleetError> {
        let mut last = [0, 0];
        let sql = "SELECT (SELECT coalesce(max(id), 0) FROM source), (SELECT coalesce(max(id), 0) FROM histogram)";
        self.0.read(sql, &mut |row| {
            for (last, cell) in last.iter_mut().zip(row) {
                *last = int(cell).unwrap_or_default();
            }
            Ok(())
        })?;
        Ok(last)
    }

    /// Adds a source, and passes the writer of its histograms to `fill`.
    pub(crate) fn add(
        &self,
        name: &str,
        digest: &str,
        fill: impl FnOnce(&mut dyn FnMut(Entry) -> Result<(), FleetError>) -> Result<(), FleetError>,
    ) -> Result<(), FleetError> {
        let [last_source, mut id] = self.last_ids()?;
        let source = last_source + 1;
        let mut sources = self.0.rows("source")?;
        sources.put(&[
            Cell::Int(source),
            Cell::Bytes(name.as_bytes()),
            Cell::Bytes(digest.as_bytes()),
        ])?;
        sources.finish()?;
        let mut histograms = self.0.rows("histogram")?;
        let mut buckets = self.0.rows("bucket")?;
        fill(&mut |entry: Entry| {
            id += 1;
            let known = |value: Option<f64>| value.map_or(Cell::Null, Cell::Double);
            histograms.put(&[
                Cell::Int(id),
                Cell::Int(source),
                Cell::Int(entry.line as i64),
                Cell::Bytes(entry.key.system.as_bytes()),
                Cell::Int(entry.key.began_us),
                Cell::Bytes(entry.key.side.name().as_bytes()),
                Cell::Bytes(entry.key.operation.name().as_bytes()),
                known(entry.mix.read_pct),
                known(entry.mix.size_kib),
                known(entry.mix.iops),
            ])?;
            for bucket in &entry.buckets {
                buckets.put(&[
                    Cell::Int(id),
                    Cell::Double(bucket.low_us),
                    known(bucket.high_us),
                    Cell::Int(bucket.count as i64),
                ])?;
            }
            Ok(())
        })?;
        histograms.finish()?;
        Ok(buckets.finish()?)
    }

    /// Refuses duplicate histograms. Fails with [`FleetError::Line`] for the first one.
    pub(crate) fn refuse_twice(&self) -> Result<(), FleetError> {
        let sql = "WITH twice AS (SELECT system, \"time\", side, operation, min(id) AS first, max(id) AS last FROM histogram \
             GROUP BY ALL HAVING count(*) > 1 ORDER BY last LIMIT 1) \
             SELECT t.system, t.side, t.operation, strftime(t.\"time\", '%Y-%m-%dT%H:%M:%SZ'), b.name, l.line, a.name, f.line \
             FROM twice t JOIN histogram f ON f.id = t.first JOIN histogram l ON l.id = t.last \
             JOIN source a ON a.id = f.source JOIN source b ON b.id = l.source";
        let mut twice = None;
        self.0.read(sql, &mut |row| {
            if let [system, side, operation, time, file, line, other, other_line] = row {
                twice = Some(FleetError::Line {
                    file: text(file).into(),
                    line: int(line).and_then(|n| n.try_into().ok()).unwrap_or(0),
                    what: format!(
                        "the {}s of {} {} at {} are already there, from {} line {}; give each histogram once",
                        text(operation),
                        text(system),
                        text(side),
                        text(time),
                        text(other),
                        int(other_line).unwrap_or_default()
                    ),
                });
            }
            Ok(())
        })?;
        twice.map_or(Ok(()), Err)
    }
}

/// Parses a row of the query above; `None` for one that no import writes.
fn window(row: &[Cell<'_>]) -> Option<Window> {
    let [
        system,
        began,
        side,
        operation,
        read_pct,
        size_kib,
        iops,
        count,
        within_first,
        undecided_first,
        within_second,
        undecided_second,
        mean_us,
    ] = row
    else {
        return None;
    };
    // A sum over no row is null.
    let number = |cell: &Cell<'_>| int(cell).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
    Some(Window {
        system: text(system),
        began_us: int(began)?,
        side: Side::named(&text(side))?,
        operation: Operation::named(&text(operation))?,
        mix: Mix {
            read_pct: double(read_pct),
            size_kib: double(size_kib),
            iops: double(iops),
        },
        count: number(count),
        within: [number(within_first), number(within_second)],
        undecided: [number(undecided_first), number(undecided_second)],
        mean_us: double(mean_us)?,
    })
}

fn text(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        _ => String::new(),
    }
}

fn int(cell: &Cell<'_>) -> Option<i64> {
    match cell {
        Cell::Int(number) => Some(*number),
        _ => None,
    }
}

fn double(cell: &Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Double(number) => Some(*number),
        _ => None,
    }
}
