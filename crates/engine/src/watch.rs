//! A server's counters of its sessions' waits and of its own work: read on a connection of its own,
//! never in the measured path.

use std::collections::HashMap;

use archive::{EventClass, IoOperation, Purpose, WaitHistogram};

use crate::Result;
use crate::counted::Counted;
use crate::file_io::{self, FileIo};

/// Most different events that a tally keeps apart; servers know some hundred.
const EVENTS_MAX: usize = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaitClass {
    /// On a processor, or ready to run and waiting for one: the server does not tell them apart.
    Cpu,
    /// Reads of data, from the device or from the page cache.
    DataRead,
    /// Writes of data, temporary files included.
    DataWrite,
    /// Writing or syncing the log.
    LogSync,
    /// Locks on rows, tables and other things a user knows.
    Lock,
    /// The server's internal locks, for pages in memory and the like.
    Latch,
    /// The client: to take rows, to send more.
    Client,
    /// In a statement, neither on a processor nor in a wait that is reported. What a server counts of its waits
    /// is taken from it; what was seen of it may be negative, when more was used than statements took.
    Blocked,
    Other,
}

impl From<WaitClass> for EventClass {
    fn from(class: WaitClass) -> Self {
        match class {
            WaitClass::Cpu => Self::Cpu,
            WaitClass::DataRead => Self::DataRead,
            WaitClass::DataWrite => Self::DataWrite,
            WaitClass::LogSync => Self::LogSync,
            WaitClass::Lock => Self::Lock,
            WaitClass::Latch => Self::Latch,
            WaitClass::Client => Self::Client,
            WaitClass::Blocked => Self::Wait,
            WaitClass::Other => Self::Other,
        }
    }
}

/// Where a server is, as seen from its driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// Behind a Unix socket or an address of this machine. The near end of a tunnel looks like that as well.
    Local,
    /// Behind an address of another machine.
    Network,
}

/// How much was seen of each event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Of the jobs' sessions: event and its weight.
    pub sessions: HashMap<(WaitClass, String), f64>,
    /// Of the server's own processes: process, event.
    pub background: HashMap<(String, String), f64>,
}

impl Tally {
    /// A session was seen in an event; sessions that work together on one statement share its weight.
    pub fn session(&mut self, class: WaitClass, event: &str, weight: f64) {
        add(&mut self.sessions, (class, event.to_owned()), weight);
    }

    /// A process of the server was seen in an event.
    pub fn background(&mut self, process: &str, event: &str, weight: f64) {
        let key = (process.to_owned(), event.to_owned());
        add(&mut self.background, key, weight);
    }

    /// Adds another, each of its weights multiplied: with the seconds that it stands for, the sums are
    /// seconds.
    pub fn add_times(&mut self, other: &Tally, times: f64) {
        for (key, weight) in &other.sessions {
            add(&mut self.sessions, key.clone(), weight * times);
        }
        for (key, weight) in &other.background {
            add(&mut self.background, key.clone(), weight * times);
        }
    }

    /// Forgets everything but keeps the room.
    pub fn clear(&mut self) {
        self.sessions.clear();
        self.background.clear();
    }
}

fn add<K: std::hash::Hash + Eq>(sums: &mut HashMap<K, f64>, key: K, weight: f64) {
    if sums.len() < EVENTS_MAX || sums.contains_key(&key) {
        *sums.entry(key).or_default() += weight;
    }
}

/// Cumulative counters of a server at one moment, or what was added between two.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerCounts {
    pub background: Vec<(&'static str, &'static str, Counted)>,
    /// Waits of the jobs' sessions that it counts itself.
    pub waits: Vec<(WaitClass, String, Counted)>,
    /// Its own I/O, by the purpose of its files.
    pub files: Vec<FileIo>,
    /// How long waits lasted; cumulative, or why nothing is reported.
    pub histograms: Vec<WaitHistogram>,
}

impl ServerCounts {
    /// Its counters of one direction on the files of one purpose; nothing where it has none.
    pub fn of_files(&self, purpose: Purpose, operation: IoOperation) -> Counted {
        let mut files = self.files.iter();
        let found = files.find(|io| (io.purpose, io.operation) == (purpose, operation));
        let counted = found.and_then(|io| io.counted.as_ref().ok());
        counted.cloned().unwrap_or_default()
    }

    /// Increase since `before`; unknown where either is, or where a counter was reset.
    pub fn since(&self, before: &Self) -> Self {
        let of_background = |(process, event, now): &(&'static str, &'static str, Counted)| {
            let then = before
                .background
                .iter()
                .find(|(p, e, _)| (p, e) == (process, event));
            Some((*process, *event, now.since(&then?.2)))
        };
        let of_waits = |(class, event, now): &(WaitClass, String, Counted)| {
            let then = before
                .waits
                .iter()
                .find(|(c, e, _)| (c, e) == (class, event));
            // An event that has not happened before begins at nothing.
            let then = then.map_or(Counted::zero(), |(_, _, then)| then.clone());
            (*class, event.clone(), now.since(&then))
        };
        let mut background: Vec<_> = self.background.iter().filter_map(of_background).collect();
        background.retain(|(_, _, counted)| !counted.is_unknown());
        Self {
            background,
            waits: self.waits.iter().map(of_waits).collect(),
            files: file_io::since(&self.files, &before.files),
            histograms: self
                .histograms
                .iter()
                .map(|now| histogram_since(now, &before.histograms))
                .collect(),
        }
    }
}

impl ServerCounts {
    /// Adds what another node counted.
    pub fn add(&mut self, other: &Self) {
        for (process, event, counted) in &mut self.background {
            let theirs = other
                .background
                .iter()
                .find(|(p, e, _)| (p, e) == (&*process, &*event));
            counted.add(&theirs.map_or(Counted::default(), |(_, _, c)| c.clone()));
        }
        for (class, event, counted) in &other.waits {
            let mine = self
                .waits
                .iter_mut()
                .find(|(c, e, _)| *c == *class && e == event);
            match mine {
                Some((_, _, known)) => known.add(counted),
                None => self.waits.push((*class, event.clone(), counted.clone())),
            }
        }
        file_io::add(&mut self.files, &other.files);
        for histogram in &mut self.histograms {
            let theirs = other.histograms.iter().find(|h| h.class == histogram.class);
            let theirs = theirs.and_then(|h| h.counts.as_ref());
            let both = histogram.counts.take().zip(theirs);
            histogram.counts = both.map(|(mine, theirs)| {
                let pairs = mine.iter().zip(theirs);
                pairs.map(|(a, b)| a + b).collect()
            });
        }
    }
}

fn histogram_since(now: &WaitHistogram, before: &[WaitHistogram]) -> WaitHistogram {
    let then = before.iter().find(|h| h.class == now.class);
    let counts = now
        .counts
        .as_ref()
        .zip(then.and_then(|then| then.counts.as_ref()));
    WaitHistogram {
        counts: counts.map(|(now, then)| {
            let then = then.iter().chain(std::iter::repeat(&0));
            let pairs = now.iter().zip(then);
            pairs.map(|(now, then)| now.saturating_sub(*then)).collect()
        }),
        ..now.clone()
    }
}

/// Watches the sessions of one target on a connection of its own.
pub trait Watch: Send {
    /// Where the waits are looked up, e.g. "pg_stat_activity".
    fn source(&self) -> String;

    /// The measured window begins: where looks add up what was sampled since the one before, the first one
    /// begins here.
    ///
    /// # Errors
    /// When the server does not answer.
    fn begin(&mut self) -> Result<()> {
        Ok(())
    }

    /// Adds what the sessions and the server's own processes are doing at this moment, or did on average since
    /// the last look.
    ///
    /// # Errors
    /// When the server does not answer.
    fn look(&mut self, tally: &mut Tally) -> Result<()>;

    /// The way that the jobs' sessions take to the server, and this watch as they do.
    fn transport(&self) -> Transport;

    /// Asks for next to nothing and waits for the answer: one round trip.
    ///
    /// # Errors
    /// When the server does not answer.
    fn ping(&mut self) -> Result<()>;

    /// The window is over: adds what was sampled since the last look, and says whether that is known.
    ///
    /// # Errors
    /// When the server does not answer.
    fn last_look(&mut self, _tally: &mut Tally) -> Result<bool> {
        Ok(false)
    }

    /// Samples that looks have added up since [`Watch::begin`], where a look is not just one.
    fn samples(&self) -> Option<u64> {
        None
    }

    /// The server's cumulative counters now.
    ///
    /// # Errors
    /// When the server does not answer.
    fn count(&mut self) -> Result<ServerCounts>;

    /// Processor time that the server has spent on this watch so far; `None` where it is unknown,
    /// as on another machine.
    fn server_cpu_ns(&self) -> Option<u64>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_is_weighted_and_bounded() {
        let (mut look, mut sum) = (Tally::default(), Tally::default());
        look.session(WaitClass::Lock, "tuple", 0.5);
        look.session(WaitClass::Lock, "tuple", 1.0);
        look.background("checkpointer", "data write", 1.0);
        sum.add_times(&look, 0.01);
        sum.add_times(&look, 0.03);
        let seconds = sum.sessions[&(WaitClass::Lock, "tuple".to_owned())];
        assert!((seconds - 0.06).abs() < 1e-12, "{seconds}");
        for n in 0..2 * EVENTS_MAX {
            sum.session(WaitClass::Other, &n.to_string(), 1.0);
        }
        assert_eq!(sum.sessions.len(), EVENTS_MAX);
    }

    #[test]
    fn what_was_reset_or_is_untold_is_unknown() {
        let counts = |count: Option<u64>, buckets: Option<Vec<u64>>| ServerCounts {
            background: vec![("log", "log syncs", Counted::count(count))],
            histograms: vec![WaitHistogram {
                class: "log sync".into(),
                counts: buckets,
                remark: "counted".into(),
            }],
            ..ServerCounts::default()
        };
        let rise = counts(Some(7), Some(vec![5, 4])).since(&counts(Some(3), Some(vec![2, 4])));
        assert_eq!(rise.background[0].2, Counted::count(Some(4)));
        assert_eq!(rise.histograms[0].counts, Some(vec![3, 0]));
        let reset = counts(Some(1), None).since(&counts(Some(3), Some(vec![2])));
        assert!(reset.background.is_empty());
        assert_eq!(reset.histograms[0].counts, None);
    }

    #[test]
    fn nodes_are_added_event_by_event() {
        let node = |waits: &[&str], count: Option<u64>| ServerCounts {
            background: vec![("log", "log syncs", Counted::count(count))],
            waits: waits
                .iter()
                .map(|event| (WaitClass::Lock, (*event).to_owned(), Counted::count(count)))
                .collect(),
            files: vec![FileIo::counted(
                Purpose::Data,
                IoOperation::Read,
                "counters",
                Counted::count(count),
            )],
            ..ServerCounts::default()
        };
        let mut sum = node(&["row"], Some(3));
        sum.add(&node(&["row", "table"], Some(4)));
        assert_eq!(sum.background[0].2.count, Some(7));
        let reads = |sum: &ServerCounts| sum.of_files(Purpose::Data, IoOperation::Read).count;
        assert_eq!(reads(&sum), Some(7));
        let counts: Vec<_> = sum.waits.iter().map(|(_, _, c)| c.count).collect();
        assert_eq!(counts, [Some(7), Some(4)]);
        sum.add(&node(&[], None));
        assert_eq!(sum.background[0].2.count, None);
        assert_eq!(reads(&sum), None);
    }
}
