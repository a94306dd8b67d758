//! Classes and sources of timed events, and states of caches.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Class of a timed event. Archives and exports have its word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
pub enum EventClass {
    /// A session on a processor, or ready to run.
    Cpu,
    DataRead,
    DataWrite,
    /// A session that writes or syncs the log.
    LogSync,
    /// A session that waits for a lock that a user knows.
    Lock,
    /// A session that waits for an internal lock of the server.
    Latch,
    Client,
    /// A session in a wait of unknown kind.
    Wait,
    Other,
    /// Pauses on purpose.
    Idle,
    Driver,
    /// The driver's wait for a processor.
    Scheduler,
    RoundTrip,
    /// Time in the server of unknown kind.
    Unknown,
    /// The word of another version.
    Foreign(String),
}

impl EventClass {
    const WORDS: [(Self, &str); 14] = [
        (Self::Cpu, "CPU"),
        (Self::DataRead, "data read"),
        (Self::DataWrite, "data write"),
        (Self::LogSync, "log sync"),
        (Self::Lock, "lock"),
        (Self::Latch, "latch"),
        (Self::Client, "client"),
        (Self::Wait, "wait"),
        (Self::Other, "other"),
        (Self::Idle, "idle"),
        (Self::Driver, "driver"),
        (Self::Scheduler, "scheduler"),
        (Self::RoundTrip, "round trip"),
        (Self::Unknown, "unknown"),
    ];

    pub fn name(&self) -> &str {
        if let Self::Foreign(word) = self {
            return word;
        }
        let own = Self::WORDS.iter().find(|(class, _)| class == self);
        own.map_or("", |(_, word)| word)
    }
}

impl From<String> for EventClass {
    fn from(word: String) -> Self {
        let known = Self::WORDS.into_iter().find(|(_, own)| *own == word);
        known.map_or(Self::Foreign(word), |(class, _)| class)
    }
}

impl From<EventClass> for String {
    fn from(class: EventClass) -> Self {
        class.name().to_owned()
    }
}

words! {
    /// How an event is known.
    #[derive(Default)]
    pub enum EventSource {
        /// By counters of driver, kernel or server.
        Counted = "counted",
        /// By periodic samples.
        #[default]
        Sampled = "sampled",
    }
}

/// State of the caches before a point. Archives and exports have its words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
pub enum CacheState {
    #[default]
    Unsaid,
    /// The data were read before.
    Warm,
    /// Neither engine nor kernel holds any of the data.
    Cold,
    /// Meant to be cold; the reason why it is not.
    Lukewarm(String),
    /// No preparation.
    Uncontrolled,
    /// No preparation, below a database.
    AsFound,
    /// The point failed before.
    Unknown,
    /// The words of another version.
    Foreign(String),
}

impl CacheState {
    const PLAIN: [Self; 6] = [
        Self::Unsaid,
        Self::Warm,
        Self::Cold,
        Self::Uncontrolled,
        Self::AsFound,
        Self::Unknown,
    ];

    /// Its name, without what stayed.
    pub fn name(&self) -> &str {
        match self {
            Self::Unsaid => "",
            Self::Warm => "warm",
            Self::Cold => "cold",
            Self::Lukewarm(_) => "lukewarm",
            Self::Uncontrolled => "uncontrolled",
            Self::AsFound => "as found",
            Self::Unknown => "unknown",
            Self::Foreign(words) => words,
        }
    }
}

impl fmt::Display for CacheState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Lukewarm(why) => write!(f, ": {why}"),
            _ => Ok(()),
        }
    }
}

impl From<String> for CacheState {
    fn from(words: String) -> Self {
        if let Some(why) = words.strip_prefix("lukewarm: ") {
            return Self::Lukewarm(why.to_owned());
        }
        let known = Self::PLAIN.into_iter().find(|state| state.name() == words);
        known.unwrap_or(Self::Foreign(words))
    }
}

impl From<CacheState> for String {
    fn from(state: CacheState) -> Self {
        state.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_version_stay_as_they_are() {
        for words in [
            "",
            "warm",
            "lukewarm: 3 of 8 MB stayed",
            "as found",
            "tepid",
        ] {
            let state = CacheState::from(words.to_owned());
            assert_eq!(String::from(state.clone()), words);
            assert_eq!(matches!(state, CacheState::Foreign(_)), words == "tepid");
        }
        for word in ["CPU", "wait", "round trip", "I/O"] {
            let class = EventClass::from(word.to_owned());
            assert_eq!(String::from(class.clone()), word);
            assert_eq!(matches!(class, EventClass::Foreign(_)), word == "I/O");
        }
    }
}
