//! Waits of sessions of PostgreSQL, and the server's counters of its own work. PostgreSQL keeps no times
//! of waits, so that looking often is the only way: at `pg_stat_activity`, or through the extension
//! `pg_wait_sampling`, which looks from within where it is loaded.

pub(super) mod activity;
pub(super) mod class;
pub(super) mod counts;
mod files;
mod profile;
mod rise;
mod row;

use archive::WaitHistogram;

use super::connection::Connection;
use super::endpoint::Endpoint;
use super::overrides::OF_SESSIONS;
use super::processes;
use super::wire::Prepared;
use activity::{ProcessSample, Scope};
use engine::process;
use engine::{Result, ServerCounts, Tally, TargetError, Transport, Watch};
use profile::Profile;

const NO_HISTOGRAM: &str = "PostgreSQL keeps no distribution of its waits; the distribution of device requests is shown instead";

const COUNTS: &str = "pg_wait_sampling_profile";

pub(super) struct PostgresWatch {
    connection: Connection,
    look: Prepared,
    major: u32,
    /// The extension's counts, where they can be had …
    profile: Option<Profile>,
    /// … or why they cannot, although it is loaded.
    unusable: Option<String>,
    /// The server's process that serves this watch, when it is one of this machine.
    process: Option<u32>,
}

impl PostgresWatch {
    /// Connects and prepares what is asked often; on a server of dbdyno's own the extension is made where its
    /// library is loaded.
    pub(super) fn open(endpoint: &Endpoint, major: u32, is_own_server: bool) -> Result<Self> {
        let mut connection = Connection::open(endpoint, OF_SESSIONS)?;
        let pid = processes::own(&mut connection)?;
        let is_local = endpoint.socket.is_some();
        let found = match pid {
            Some(pid) => Profile::find(&mut connection, pid, is_own_server),
            None => Ok(None),
        };
        let (profile, unusable) = match found {
            Ok(profile) => (profile, None),
            Err(why) => (None, Some(why)),
        };
        let scope = match profile {
            Some(_) => Scope::All,
            None => Scope::AtWork,
        };
        let look = prepare(&mut connection, major, scope)?;
        Ok(Self {
            look,
            major,
            profile,
            unusable,
            process: pid.filter(|pid| is_local && processes::is_server(*pid)),
            connection,
        })
    }

    /// From now on what is seen is all there is.
    fn do_without(&mut self, error: TargetError) -> Result<()> {
        self.profile = None;
        self.unusable = Some(error.message);
        self.connection.batch("SET statement_timeout = 0")?;
        self.look = prepare(&mut self.connection, self.major, Scope::AtWork)?;
        Ok(())
    }
}

fn prepare(connection: &mut Connection, major: u32, scope: Scope) -> Result<Prepared> {
    let mut look = connection.prepare(&activity::sql(major, scope))?;
    // An unknown type is asked for as text.
    look.columns.fill(0);
    Ok(look)
}

impl Watch for PostgresWatch {
    fn source(&self) -> String {
        let looks = "pg_stat_activity";
        let Some(profile) = &self.profile else {
            let why = self.unusable.as_ref();
            let why = why.map(|why| format!(" (pg_wait_sampling is loaded, but not used: {why})"));
            return looks.to_owned() + &why.unwrap_or_default();
        };
        match profile.taken() {
            taken if taken.collected == 0 && taken.alone > 0 => looks.into(),
            taken if taken.beside_workers > 0 => {
                format!("{COUNTS} and, while statements had parallel workers, {looks}")
            }
            _ => COUNTS.into(),
        }
    }

    fn begin(&mut self) -> Result<()> {
        if self.profile.is_some() {
            self.look(&mut Tally::default())?;
        }
        if let Some(profile) = &mut self.profile {
            profile.begin();
        }
        Ok(())
    }

    fn look(&mut self, tally: &mut Tally) -> Result<()> {
        let rows = self.connection.texts_of(&self.look, "the waits", &[])?;
        let processes: Vec<ProcessSample> =
            rows.into_iter().filter_map(ProcessSample::of).collect();
        match &mut self.profile {
            None => activity::add(processes.iter(), tally),
            Some(profile) => {
                let added = profile.look(&mut self.connection, &processes, tally);
                if let Err(error) = added {
                    self.do_without(error)?;
                    activity::add(processes.iter(), tally);
                }
            }
        }
        Ok(())
    }

    fn transport(&self) -> Transport {
        self.connection.transport()
    }

    fn ping(&mut self) -> Result<()> {
        self.connection.batch("SELECT 1")
    }

    fn last_look(&mut self, tally: &mut Tally) -> Result<bool> {
        let Some(profile) = &mut self.profile else {
            return Ok(false);
        };
        match profile.last_look(&mut self.connection, tally) {
            Ok(is_known) => Ok(is_known),
            Err(error) => self.do_without(error).map(|()| false),
        }
    }

    fn samples(&self) -> Option<u64> {
        let taken = self.profile.as_ref()?.taken();
        Some(taken.collected + taken.alone)
    }

    fn count(&mut self) -> Result<ServerCounts> {
        let mut counts = counts::read(&mut self.connection, self.major)?;
        counts.histograms = ["data read", "log sync"]
            .map(|class| WaitHistogram::unknown(class, NO_HISTOGRAM))
            .into();
        Ok(counts)
    }

    fn server_cpu_ns(&self) -> Option<u64> {
        let own_ns = process::cpu_ns(self.process?)?;
        let collector = self.profile.as_ref().and_then(Profile::collector);
        Some(own_ns + collector.and_then(process::cpu_ns).unwrap_or(0))
    }
}
