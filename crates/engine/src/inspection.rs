//! A database before anything is measured in it: who answers, what its user may do there, what a run would
//! refuse, and which figures it would lack. Finding it out changes nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::OpenOptions;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub use crate::session_settings::Replaced;
use crate::{Feature, Result, SessionsLeft, TargetError};

/// Statements whose round trips are measured.
const ROUND_TRIPS: usize = 200;
/// A server far away takes longer for each of them.
const ROUND_TRIPS_TIME_MAX: Duration = Duration::from_secs(5);
/// Looks at the server's clock; the one with the shortest round trip counts.
const CLOCK_LOOKS: usize = 20;

/// Features of servers that dbdyno starts, and why others lack them.
const OF_OWN_SERVERS: &[(&str, &str)] = &[
    (
        "cold starts",
        "dbdyno did not start this server, cannot restart it, and marks such points as lukewarm",
    ),
    (
        "restoring a database from a copy of its files",
        "dbdyno did not start this server; repetitions load the data again",
    ),
];

#[derive(Debug, Clone, Default)]
pub struct Inspection {
    pub engine: String,
    pub version: String,
    pub user: Option<String>,
    pub protection: Option<Protection>,
    pub pooler: Option<String>,
    pub round_trip: Option<RoundTrip>,
    pub clock: Option<ClockOffset>,
    /// Further sessions that the server lets in; `None` where nothing limits them, or it does not tell.
    pub sessions_left: Option<SessionsLeft>,
    /// Where the data lie on the machine of the database.
    pub data: Option<String>,
    pub place: Option<OwnPlace>,
    pub rights: Vec<Right>,
    /// Why nothing can be written, with the way out where there is one: only a run that reads can start.
    pub read_only: Option<String>,
    /// Settings of others that dbdyno's sessions replace.
    pub replaced: Vec<Replaced>,
    /// Why a run would be refused, each a sentence with the way out; those of missing rights stand there.
    pub obstacles: Vec<String>,
    pub gaps: Vec<Gap>,
    pub notes: Vec<String>,
    pub settings: BTreeMap<String, String>,
    /// The rules by which the settings are judged ([`crate::Target::setting_rules`]).
    pub rules: &'static str,
}

impl Inspection {
    /// Of a database that lives in the memory of dbdyno.
    pub fn in_memory(mut self) -> Self {
        let note = "a database in memory: it is created for a run and lost with it";
        self.notes.push(note.into());
        self
    }

    /// Of a database in a file.
    pub fn in_file(mut self, path: &Path, state: PlaceState) -> Self {
        self.obstacles.extend(not_writable(path));
        self.data = Some(path.display().to_string());
        self.place = Some(OwnPlace {
            name: format!("file \"{}\"", path.display()),
            state,
        });
        self
    }

    pub fn is_fit(&self) -> bool {
        self.obstacles.is_empty() && !self.rights.iter().any(Right::is_obstacle)
    }

    /// Notes an obstacle where something was refused; a database that is gone is an error.
    ///
    /// # Errors
    /// That one.
    pub fn refuse<T>(&mut self, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(value) => Ok(Some(value)),
            Err(error) if is_lost(&error) => Err(error),
            Err(error) => {
                self.obstacles.push(error.message);
                Ok(None)
            }
        }
    }

    /// Adds every feature that is lacking, with the engine's reason.
    pub fn lack(&mut self, lacks: impl Fn(Feature) -> Option<String>) {
        for (_, feature) in Feature::NAMED {
            if let Some(why) = lacks(feature) {
                let what = format!("tests that need {}", feature.words());
                self.gaps.push(Gap {
                    what,
                    why,
                    remedy: None,
                });
            }
        }
    }

    /// Of a server that dbdyno starts for a run: it has what a running one lacks, and nobody else uses it.
    pub fn of_local_server(mut self, about: Vec<(String, String)>, program: &Path) -> Self {
        self.gaps
            .retain(|gap| !OF_OWN_SERVERS.iter().any(|(what, _)| gap.what == *what));
        self.settings.extend(about);
        self.data = None;
        self.notes = vec![format!(
            "dbdyno starts this server for a run and removes it afterwards ({}); this one was started for the check",
            program.display()
        )];
        self
    }

    /// Adds what only a server has that dbdyno starts.
    pub fn lack_what_own_servers_have(&mut self) {
        for (what, why) in OF_OWN_SERVERS {
            self.gaps.push(Gap {
                what: (*what).into(),
                why: (*why).into(),
                remedy: None,
            });
        }
    }
}

fn is_lost(error: &TargetError) -> bool {
    matches!(
        error.kind,
        crate::ErrorKind::Unreachable | crate::ErrorKind::Damaged
    )
}

/// Why the file of an embedded database cannot be written or created; neither is done.
fn not_writable(path: &Path) -> Option<String> {
    let why = match std::fs::metadata(path) {
        Ok(found) if found.is_file() => {
            let opened = OpenOptions::new().append(true).open(path);
            opened.err()?.to_string()
        }
        Ok(_) => "it is not a file".to_owned(),
        Err(_) => {
            let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
            if directory.is_none_or(Path::is_dir) {
                return None;
            } else {
                "its directory does not exist".to_owned()
            }
        }
    };
    Some(format!(
        "the file {} cannot be written: {why}; choose another path",
        path.display()
    ))
}

/// Advice for a connection whose TLS fails although nobody required it.
pub const WITHOUT_TLS: &str = "; to connect without TLS, add sslmode=disable to the target's URL";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Protection {
    /// It stays on this machine.
    UnixSocket,
    /// Everybody on the way can read it.
    Unencrypted,
    /// TLS, with what was agreed on.
    Tls(String),
}

impl Protection {
    /// The TLS of a connection over a network, for the record of a run; `None` for a Unix socket, which has none.
    pub fn tls(&self) -> Option<&str> {
        match self {
            Self::UnixSocket => None,
            Self::Unencrypted => Some("none"),
            Self::Tls(agreed) => Some(agreed),
        }
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnixSocket => f.write_str("Unix socket"),
            Self::Unencrypted => f.write_str("TCP, unencrypted"),
            Self::Tls(agreed) => write!(f, "TCP, {agreed}"),
        }
    }
}

/// How long a statement takes that asks for nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundTrip {
    pub median_us: f64,
    pub p99_us: f64,
    pub count: usize,
}

impl RoundTrip {
    /// Sends as many statements as fit into the time.
    ///
    /// # Errors
    /// Of the first that fails.
    pub fn measure(mut statement: impl FnMut() -> Result<()>) -> Result<Self> {
        let begin = Instant::now();
        let mut times = Vec::with_capacity(ROUND_TRIPS);
        while times.len() < ROUND_TRIPS && begin.elapsed() < ROUND_TRIPS_TIME_MAX {
            let before = Instant::now();
            statement()?;
            times.push(before.elapsed());
        }
        Ok(Self::of(times))
    }

    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: f64| {
            let rank = (times.len() as f64 * share).ceil() as usize;
            let time = times.get(rank.saturating_sub(1)).copied();
            time.unwrap_or_default().as_nanos() as f64 / 1e3
        };
        Self {
            median_us: at(0.5),
            p99_us: at(0.99),
            count: times.len(),
        }
    }
}

/// How far a server's clock is from this machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset {
    /// Positive where the server's is ahead.
    pub ahead_us: i64,
    /// Half of the round trip: the server may have looked at any moment of it.
    pub uncertainty_us: i64,
}

impl ClockOffset {
    /// Asks for the server's time, in microseconds since 1970; `None` where it does not tell.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn measure(mut ask: impl FnMut() -> Result<Option<i64>>) -> Result<Option<Self>> {
        let mut best: Option<Self> = None;
        for _ in 0..CLOCK_LOOKS {
            let (wall, begin) = (SystemTime::now(), Instant::now());
            let Some(server_us) = ask()? else {
                return Ok(best);
            };
            let half = begin.elapsed() / 2;
            let since = (wall + half).duration_since(UNIX_EPOCH).unwrap_or_default();
            let found = Self {
                ahead_us: server_us - since.as_micros() as i64,
                uncertainty_us: half.as_micros() as i64 + 1,
            };
            if best.is_none_or(|best| found.uncertainty_us < best.uncertainty_us) {
                best = Some(found);
            }
        }
        Ok(best)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPlace {
    /// As a sentence begins with it: `schema "dbdyno"`.
    pub name: String,
    pub state: PlaceState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceState {
    Absent,
    MadeByDbdyno,
    /// It is there and dbdyno may use it.
    Usable,
    /// Somebody else's; an obstacle says why.
    Foreign,
}

impl fmt::Display for OwnPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            PlaceState::Absent => "does not exist; a run creates it",
            PlaceState::MadeByDbdyno => "created by dbdyno",
            PlaceState::Usable => "exists and can be used",
            PlaceState::Foreign => "cannot be used",
        };
        write!(f, "{}: {state}", self.name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Right {
    pub name: String,
    pub is_held: bool,
    pub needed_for: &'static str,
    pub without: &'static str,
    pub is_required: bool,
    /// The statement that grants it, for an administrator.
    pub grant: String,
}

impl Right {
    pub fn is_obstacle(&self) -> bool {
        self.is_required && !self.is_held
    }
}

/// Something that a run would not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    pub what: String,
    pub why: String,
    /// How to get it; `None` where nothing helps on this database.
    pub remedy: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_have_a_median() {
        let times = (1..=200).map(Duration::from_micros).collect();
        let found = RoundTrip::of(times);
        assert_eq!(
            (found.median_us, found.p99_us, found.count),
            (100.0, 198.0, 200)
        );
        assert_eq!(RoundTrip::of(Vec::new()).median_us, 0.0);
    }

    #[test]
    fn a_clock_an_hour_ahead_is_told_so() {
        let ask = || {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            Ok(Some(now.as_micros() as i64 + 3_600_000_000))
        };
        let found = ClockOffset::measure(ask).unwrap().unwrap();
        let off = (found.ahead_us - 3_600_000_000).abs();
        assert!(off <= found.uncertainty_us, "{found:?}");
        assert_eq!(ClockOffset::measure(|| Ok(None)).unwrap(), None);
    }

    #[test]
    fn what_was_refused_is_an_obstacle_and_a_lost_server_an_error() {
        let mut found = Inspection::default();
        assert!(found.is_fit());
        let error = |kind| Err::<(), _>(TargetError::new(kind, "no"));
        assert!(found.refuse(error(crate::ErrorKind::Unreachable)).is_err());
        assert_eq!(
            found.refuse(error(crate::ErrorKind::Foreign)).unwrap(),
            None
        );
        assert_eq!(found.obstacles, ["no"]);
        assert!(!found.is_fit());
    }
}
