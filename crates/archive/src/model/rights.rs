//! Rights that a target's user lacks.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

words! {
    /// A fact that a server shows only to users with a right to it.
    pub enum Unseen {
        /// Other active sessions on the server: the check for them is off.
        OthersAtWork = "others_at_work",
        /// Waits of the server's own processes.
        ServerProcesses = "server_processes",
        /// Location of the data, and so their device.
        DataDirectory = "data_directory",
        /// Waits for data files.
        DataFileWaits = "data_file_waits",
        /// Compression of tables.
        Compression = "compression",
    }
}

impl Unseen {
    const fn words(self) -> &'static str {
        match self {
            Self::OthersAtWork => {
                "whether other sessions are active on the server (the check for them is off)"
            }
            Self::ServerProcesses => "what the server's own processes wait for",
            Self::DataDirectory => "where the data are stored (their device is unknown)",
            Self::DataFileWaits => "how long sessions wait for data files",
            Self::Compression => "how far a table is compressed",
        }
    }
}

/// Rights that the user of a target lacks. As text it names the unknown facts and the remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RightsMissing {
    /// Facts that the target's user cannot see.
    pub unseen: Vec<Unseen>,
    /// The statements that grant all of these rights.
    pub grant: String,
}

impl RightsMissing {
    /// The check for other active sessions is off.
    pub fn hides_others(&self) -> bool {
        self.unseen.contains(&Unseen::OthersAtWork)
    }
}

impl fmt::Display for RightsMissing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<&str> = self.unseen.iter().map(|unseen| unseen.words()).collect();
        let listed = match &words[..] {
            [] => "something".to_owned(),
            [one] => (*one).to_owned(),
            [first @ .., last] => format!("{} nor {last}", first.join(", ")),
        };
        write!(
            f,
            "this user cannot see {listed}; an administrator can grant it the rights: {}",
            self.grant
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_name_all_that_is_missing_and_one_remedy() {
        let missing = |unseen: &[Unseen]| RightsMissing {
            unseen: unseen.to_vec(),
            grant: "GRANT pg_monitor TO bench".into(),
        };
        let all = missing(&[Unseen::OthersAtWork, Unseen::DataDirectory]);
        assert_eq!(
            all.to_string(),
            "this user cannot see whether other sessions are active on the server (the check for them is off) nor where the \
             data are stored (their device is unknown); an administrator can grant it the rights: GRANT pg_monitor TO bench"
        );
        assert!(all.hides_others() && !missing(&[Unseen::Compression]).hides_others());
    }
}
