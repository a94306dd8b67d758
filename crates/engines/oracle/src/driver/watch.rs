//! Waits of sessions: active sessions are sampled from V$SESSION, and their waits are those that V$SYSTEM_EVENT counts of foregrounds.
//! Nothing of the Diagnostics or Tuning Pack is read.

use std::sync::Arc;

use archive::{IoOperation, Purpose};
use engine::{Counted, FileIo, Result, ServerCounts, Tally, Transport, WaitClass, Watch};

use super::class;
use super::client::Client;
use crate::access::Access;

/// Columns of what is sampled.
const SAMPLE: &str = "SELECT type, status, state, wait_class, event, program FROM v$session \
     WHERE (type = 'USER' AND username = {user} AND status = 'ACTIVE' AND sid <> {own}) \
     OR (type = 'BACKGROUND' AND state = 'WAITING' AND wait_class <> 'Idle')";
/// Waits for locks end long after they begin, so that they are sampled instead.
const COUNTED: &str = "SELECT event, wait_class, total_waits_fg, time_waited_micro_fg FROM v$system_event \
     WHERE wait_class NOT IN ('Idle', 'Application') AND total_waits_fg > 0";
const STATISTICS: &str = "SELECT name, value FROM v$sysstat WHERE name IN ('physical read total IO requests', \
     'physical read total bytes', 'physical write total IO requests', 'physical write total bytes', 'redo writes', 'redo size', \
     'DBWR checkpoint buffers written', 'user commits')";

pub(super) struct OracleWatch {
    client: Client,
    sample: String,
    is_local: bool,
}

impl OracleWatch {
    pub(super) fn open(access: &Arc<Access>) -> Result<Self> {
        let client = Client::connect(access, false)?;
        let own = client.number().sid.to_string();
        let user = engine::register::quoted(&access.schema());
        let is_local = ["localhost", "127.0.0.1", "::1"].contains(&access.host.as_str());
        Ok(Self {
            sample: SAMPLE.replace("{user}", &user).replace("{own}", &own),
            client,
            is_local,
        })
    }

    fn statistics(&mut self) -> Result<Vec<(String, u64)>> {
        let rows = self.client.texts(STATISTICS)?;
        let pair = |row: Vec<Option<String>>| {
            let mut cells = row.into_iter().flatten();
            Some((cells.next()?, cells.next()?.parse().ok()?))
        };
        Ok(rows.into_iter().filter_map(pair).collect())
    }
}

impl Watch for OracleWatch {
    fn source(&self) -> String {
        "V$SESSION and V$SYSTEM_EVENT".into()
    }

    fn look(&mut self, tally: &mut Tally) -> Result<()> {
        for row in self.client.texts(&self.sample)? {
            let mut cells = row.into_iter().map(Option::unwrap_or_default);
            let mut cell = || cells.next().unwrap_or_default();
            let (kind, _status, state, wait_class, event, program) =
                (cell(), cell(), cell(), cell(), cell(), cell());
            if kind == "BACKGROUND" {
                tally.background(class::process(&program), &event, 1.0);
            } else if state == "WAITING" && wait_class == "Application" {
                tally.session(WaitClass::Lock, &event, 1.0);
            } else {
                // The waits that are counted are taken from it.
                tally.session(WaitClass::Cpu, "DB CPU", 1.0);
            }
        }
        Ok(())
    }

    fn transport(&self) -> Transport {
        if self.is_local {
            Transport::Local
        } else {
            Transport::Network
        }
    }

    fn ping(&mut self) -> Result<()> {
        self.client.texts("SELECT 1 FROM dual").map(drop)
    }

    fn count(&mut self) -> Result<ServerCounts> {
        let waits = self
            .client
            .texts(COUNTED)?
            .into_iter()
            .filter_map(waited)
            .collect();
        let statistics = self.statistics()?;
        let of = |name: &str| {
            let mut found = statistics.iter().filter(|(of, _)| of == name);
            found.next().map(|(_, value)| *value)
        };
        let io = |requests: &str, bytes: &str| Counted {
            count: of(requests),
            time_ns: None,
            bytes: of(bytes),
        };
        let files = [
            (
                IoOperation::Read,
                "physical read total IO requests",
                "physical read total bytes",
            ),
            (
                IoOperation::Write,
                "physical write total IO requests",
                "physical write total bytes",
            ),
        ];
        let files = files.map(|(operation, requests, bytes)| {
            FileIo::counted(Purpose::Data, operation, "V$SYSSTAT", io(requests, bytes))
        });
        Ok(ServerCounts {
            background: vec![
                ("log writer", "redo writes", io("redo writes", "redo size")),
                (
                    "database writer",
                    "blocks written by checkpoints",
                    Counted::count(of("DBWR checkpoint buffers written")),
                ),
            ],
            waits,
            files: files.into(),
            histograms: Vec::new(),
        })
    }

    fn server_cpu_ns(&self) -> Option<u64> {
        None
    }
}

/// Event, its class, and how often and how long foregrounds waited.
fn waited(row: Vec<Option<String>>) -> Option<(WaitClass, String, Counted)> {
    let [event, of, count, micros] = <[Option<String>; 4]>::try_from(row).ok()?;
    let (event, of) = (event?, of?);
    let number = |text: Option<String>| text?.split('.').next()?.parse::<u64>().ok();
    let counted = Counted {
        count: number(count),
        time_ns: number(micros).map(|us| us.saturating_mul(1000)),
        bytes: None,
    };
    Some((class::of(&of, &event), event, counted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_the_view_is_a_counted_wait() {
        let cell = |text: &str| Some(text.to_owned());
        let row = vec![
            cell("log file sync"),
            cell("Commit"),
            cell("12"),
            cell("3400"),
        ];
        let (class, event, counted) = waited(row).unwrap();
        assert_eq!(
            (class, event.as_str()),
            (WaitClass::LogSync, "log file sync")
        );
        assert_eq!(
            (counted.count, counted.time_ns),
            (Some(12), Some(3_400_000))
        );
        assert!(waited(vec![cell("x"), None, None, None]).is_none());
    }
}
