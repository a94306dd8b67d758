//! Comparison of observation and twin, figure by figure, with the tolerance for a run of the twin.

use super::profile::{Profile, Unit};
use super::shape::Means;

/// Hit ratio above which data count as cached, in percent.
const CACHED_PCT: f64 = 99.5;

/// One figure of both, as a mean per transaction unless the name says otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub name: &'static str,
    pub unit: &'static str,
    /// `None` if the observation does not have it.
    pub observed: Option<f64>,
    /// `None` if it depends on the platform.
    pub twin: Option<f64>,
    /// Tolerance in percent of a run of the twin around `twin`, on the observed engine; `None` without a promise.
    pub within_pct: Option<f64>,
    pub remark: &'static str,
}

impl Figure {
    /// Excess of the twin over the observation, in percent.
    pub fn deviation_pct(&self) -> Option<f64> {
        let (observed, twin) = self.observed.zip(self.twin)?;
        match observed {
            0.0 => (twin == 0.0).then_some(0.0),
            observed => Some((twin / observed - 1.0) * 100.0),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Fit(pub Vec<Figure>);

/// Tolerances in percent: statements and changed rows deviate by retries; the server reads rows of its own catalogue;
/// the log has parts that belong to no row; files have unused space.
const OF_STATEMENTS: f64 = 3.0;
const OF_CHANGES: f64 = 3.0;
const OF_READS: f64 = 10.0;
/// Catalogue rows per second that an observer makes the server read and return; 325 were counted in an observation of
/// three seconds, of which its begin and its end are a good part.
const LOOKED_AT_PER_S: f64 = 400.0;
/// Statements per second of the observer.
const LOOKS_PER_S: f64 = 50.0;
const OF_LOG: f64 = 30.0;
const OF_FILES: f64 = 30.0;

impl Fit {
    pub(super) fn of(profile: &Profile, means: &Means) -> Self {
        let figure = |name, unit, observed, twin, within_pct, remark| Figure {
            name,
            unit,
            observed,
            twin,
            within_pct,
            remark,
        };
        let exact =
            |name, observed, twin, within| figure(name, "", observed, Some(twin), Some(within), "");
        let changed = [
            profile.rows_inserted,
            profile.rows_updated,
            profile.rows_deleted,
        ];
        let changed: Option<f64> = changed.into_iter().sum();
        let changes = means.rows_inserted + means.rows_updated + means.rows_deleted;
        let ratio = |a: Option<f64>, b: Option<f64>| {
            let (a, b) = a.zip(b)?;
            (b > 0.0).then(|| a / b)
        };
        let touched = profile.rows_read.zip(changed).map(|(a, b)| a + b);
        // They are many during a slow load.
        let others_pct = |per_s: f64, observed: Option<f64>| {
            observed.map_or(0.0, |each| 100.0 * per_s / profile.per_s / each.max(1.0))
        };
        let of_reads =
            |observed: Option<f64>| (OF_READS + others_pct(LOOKED_AT_PER_S, observed)).round();
        let of_statements = OF_STATEMENTS + others_pct(LOOKS_PER_S, profile.statements);
        // If rows are counted with statements, the returned ones are the rest after the changed ones.
        let returned_late_pct = match profile.rows_returned {
            Some(rows) => profile.late_pct * (1.0 + changed.unwrap_or(0.0) / rows.max(0.01)),
            None => 0.0,
        };
        let read = |name, observed, twin| exact(name, observed, twin, of_reads(observed));
        let mut figures = vec![
            exact(
                if profile.counts_ends {
                    "statements"
                } else {
                    "statements without BEGIN and COMMIT"
                },
                profile.statements,
                means.statements,
                (of_statements + profile.late_pct).round(),
            ),
            read("rows read", profile.rows_read, means.rows_read),
        ];
        // Each table's rows are counted separately.
        let of_changes = (OF_CHANGES + profile.late_pct).round();
        if profile.writing.is_some() {
            let (observed, twin) = (profile.writing, means.writing);
            figures.insert(
                0,
                exact("transactions that write", observed, twin, of_changes),
            );
        }
        if profile.rows_fetched.is_some() {
            let (observed, twin) = (profile.rows_fetched, means.rows_fetched);
            figures.push(read("rows read through indexes", observed, twin));
        }
        figures.extend([
            exact(
                "rows returned",
                profile.rows_returned,
                means.rows_returned,
                of_reads(profile.rows_returned) + returned_late_pct.round(),
            ),
            exact("rows inserted", profile.rows_inserted, means.rows_inserted, of_changes),
            exact("rows updated", profile.rows_updated, means.rows_updated, of_changes),
            exact("rows deleted", profile.rows_deleted, means.rows_deleted, of_changes),
            figure(
                "rows read and changed per statement",
                "",
                ratio(touched, profile.statements),
                ratio(Some(means.rows_read + changes), Some(means.statements)),
                Some(of_reads(profile.rows_read) + profile.late_pct.round()),
                "",
            ),
            figure(
                "rows read per row changed",
                "",
                ratio(profile.rows_read, changed),
                ratio(Some(means.rows_read), Some(changes)),
                Some(of_reads(profile.rows_read)),
                "",
            ),
            figure(
                "rolled back",
                "",
                profile.rolled_back,
                Some(0.0),
                Some(0.0),
                "the plan commits every transaction",
            ),
            figure(
                "log",
                "bytes",
                profile.log_bytes,
                Some(means.log_bytes),
                Some((OF_LOG + profile.late_pct + 100.0 * means.others_log_bytes / means.log_bytes.max(1.0)).round()),
                "on this engine, without whole pages that the log takes after checkpoints; not known where they are more than half of it",
            ),
            figure(
                "working set",
                "MB",
                profile.working_set_mb,
                Some(means.working_set_mb),
                Some((OF_FILES + 100.0 * means.room_mb / means.working_set_mb).round()),
                "observed: the hottest tables with their indexes, as if all of them were used",
            ),
            figure(
                "hit ratio of the cache",
                "%",
                profile.hit_ratio_pct,
                profile.hit_ratio_pct.filter(|pct| *pct >= CACHED_PCT),
                None,
                "follows the cache of the server: where it holds the working set, hits are nearly all",
            ),
            figure(
                "active sessions",
                "",
                profile.active_sessions,
                profile.active_sessions,
                None,
                "on a platform that answers as fast; a faster one has fewer",
            ),
            figure(
                match profile.unit {
                    Unit::Transaction => "transactions per second",
                    Unit::Statement => "statements per second",
                },
                "/s",
                Some(profile.per_s),
                profile.active_sessions.map(|_| profile.per_s),
                None,
                "on a platform that answers as fast; sessions that pause shorter, or not at all, make more",
            ),
        ]);
        Self(figures)
    }
}
