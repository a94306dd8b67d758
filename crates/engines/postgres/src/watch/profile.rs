//! Waits of processes between two samples, from the counts of the extension `pg_wait_sampling`, whose
//! collector looks a hundred times a second inside the server.
//!
//! Its counts alone do not tell everything that a look at `pg_stat_activity` tells, so that each look is at
//! both:
//! - Before version 1.1.6 processes that wait for nothing are not counted, later on only where `sample_cpu`
//!   is on: what a process is short of the collector's looks, it was at work. These looks are not told
//!   either. Somebody waits at every one of them (this watch's own session does), so that they are as many
//!   as the most that any one process was counted.
//! - A session that has sent its answer does not wait until it has told the kernel so, and where processors
//!   are short, whom the answer wakes up takes the processor first: of 3.5 sessions without a wait 0.4 were in
//!   a statement (8 jobs on two busy processors). Work counts by the share that looks find in a statement.
//! - `ClientRead` is a session without a statement as well as one that waits for more rows of a COPY. What
//!   is counted is taken for the first; the second is what is seen at the moment of the look.
//! - Parallel workers come and go between two looks, and their counts do not name their leader. While there
//!   are any, all sessions are as they are seen at the moments of the looks; and so are they where one came
//!   or went since the look before.

use std::collections::HashMap;
use std::time::Instant;

use super::super::connection::Connection;
use super::super::wire::Prepared;
use super::activity::{self, ProcessSample, SESSION};
use super::rise::{Counts, Members, Rise, Standing, members_of};
use engine::{Result, Tally, Value};

/// A collector that looks less often knows little more than looks at `pg_stat_activity` do.
const PERIOD_MS_MAX: u64 = 100;
/// So many looks more than its period allows are still believed.
const SAMPLES_SLACK: u64 = 10;
/// Counts of processes that have ended stay, and every look reads all there are: at 1 µs each, more of them
/// would cost more than what is gained.
const ENTRIES_MAX: u64 = 20_000;
/// On a server of dbdyno's own they are forgotten from so many on.
const ENTRIES_KEPT: u64 = 1_000;
/// Without its collector some versions wait for it for ever.
const ANSWER_TIMEOUT: &str = "30s";

/// Settings of the server, and the schema of the extension. Those of a library that is not loaded are
/// in nobody's list.
const FACTS: &str = "SELECT \
    (SELECT setting FROM pg_settings WHERE name = 'pg_wait_sampling.profile_pid'), \
    (SELECT setting FROM pg_settings WHERE name = 'pg_wait_sampling.profile_period'), \
    (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace \
     WHERE extname = 'pg_wait_sampling'), \
    (SELECT min(pid)::text FROM pg_stat_get_activity(NULL) \
     WHERE backend_type = 'pg_wait_sampling collector')";

/// The counts, and where they stood.
pub(super) struct Profile {
    sums: Prepared,
    own: u32,
    period_ms: u64,
    collector: Option<u32>,
    before: Option<Standing>,
    without_wait: WithoutWait,
    taken: Taken,
}

/// Sessions that were seen without a wait since the window began.
#[derive(Debug, Clone, Copy, Default)]
struct WithoutWait {
    all: u64,
    in_statement: u64,
}

impl WithoutWait {
    fn see(&mut self, processes: &[ProcessSample]) {
        let sessions = processes.iter().filter(|p| p.kind == SESSION);
        for session in sessions.filter(|p| p.wait.is_none()) {
            self.all += 1;
            self.in_statement += u64::from(session.is_at_work);
        }
    }

    /// Share of them that were in a statement; all, where none was seen.
    fn in_statement(&self) -> f64 {
        match self.all {
            0 => 1.0,
            all => self.in_statement as f64 / all as f64,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Taken {
    pub collected: u64,
    /// Looks of this watch that stood for themselves …
    pub alone: u64,
    /// … because there were parallel workers.
    pub beside_workers: u64,
}

impl Profile {
    /// Looks for the extension; `is_own_server` allows to make it, and to forget its counts. `None` where it is
    /// not loaded.
    pub(super) fn find(
        connection: &mut Connection,
        own: u32,
        is_own_server: bool,
    ) -> std::result::Result<Option<Self>, String> {
        let found = Self::try_find(connection, own, is_own_server);
        found.unwrap_or_else(|error| Err(error.message))
    }

    fn try_find(
        connection: &mut Connection,
        own: u32,
        is_own_server: bool,
    ) -> Result<std::result::Result<Option<Self>, String>> {
        let row = connection.texts(FACTS, &[])?.into_iter().next();
        let mut cells = row.into_iter().flatten();
        let mut cell = || cells.next().flatten();
        let (by_process, period, schema, collector) = (cell(), cell(), cell(), cell());
        let Some(by_process) = by_process else {
            return Ok(Ok(None));
        };
        let unusable = |why: String| Ok(Err(why));
        if by_process == "off" {
            let why =
                "pg_wait_sampling.profile_pid is off, so its counts cannot be split by session";
            return unusable(why.into());
        }
        let period_ms = period.and_then(|ms| ms.parse().ok()).unwrap_or(u64::MAX);
        if period_ms > PERIOD_MS_MAX {
            return unusable(format!(
                "pg_wait_sampling.profile_period is {period_ms} ms; above {PERIOD_MS_MAX} ms it is too coarse"
            ));
        }
        let schema = match schema {
            Some(schema) => schema,
            None if is_own_server => {
                // Not in dbdyno's own schema, which holds nothing but tables of tests.
                connection.batch("CREATE EXTENSION pg_wait_sampling SCHEMA public")?;
                "public".into()
            }
            None => {
                return unusable(
                    "CREATE EXTENSION pg_wait_sampling was not run in this database".into(),
                );
            }
        };
        let entries = tidy(connection, &schema, is_own_server)?;
        if entries > ENTRIES_MAX {
            return unusable(format!(
                "it has {entries} counts, which every sample would read; reset them with SELECT \
                 {schema}.pg_wait_sampling_reset_profile()"
            ));
        }
        let mut sums = connection.prepare(&format!(
            "WITH counted AS MATERIALIZED (SELECT member, pid, event_type, event, count \
             FROM {schema}.pg_wait_sampling_profile \
             JOIN unnest($1::text::int4[], $2::text::int4[]) AS asked (pid, member) USING (pid)) \
             SELECT member::text, event_type, event, sum(count)::text FROM counted \
             GROUP BY member, event_type, event \
             UNION ALL SELECT NULL, NULL, NULL, max(looks)::text \
             FROM (SELECT sum(count) AS looks FROM counted GROUP BY pid) of_processes"
        ))?;
        sums.columns.fill(0);
        Ok(Ok(Some(Self {
            sums,
            own,
            period_ms,
            collector: collector.and_then(|pid| pid.parse().ok()),
            before: None,
            without_wait: WithoutWait::default(),
            taken: Taken::default(),
        })))
    }

    /// The process that looks, as the server numbers it.
    pub(super) fn collector(&self) -> Option<u32> {
        self.collector
    }

    /// The measured window begins now.
    pub(super) fn begin(&mut self) {
        self.taken = Taken::default();
        self.without_wait = WithoutWait::default();
    }

    pub(super) fn taken(&self) -> Taken {
        self.taken
    }

    /// Adds what `processes`, which are there now, did since the last look.
    ///
    /// # Errors
    /// When the server does not answer; then nothing has been added.
    pub(super) fn look(
        &mut self,
        connection: &mut Connection,
        processes: &[ProcessSample],
        tally: &mut Tally,
    ) -> Result<()> {
        if processes.iter().any(ProcessSample::is_worker) {
            self.before = None;
            self.add_alone(processes, true, tally);
            return Ok(());
        }
        let now = self.stand(connection, members_of(processes, self.own))?;
        self.without_wait.see(processes);
        let before = self.before.as_ref();
        let rise = before.and_then(|before| self.rise(before, &now));
        let has_workers = rise.as_ref().is_some_and(Rise::has_waits_for_workers);
        match &rise {
            Some(rise) if rise.samples > 0 && !has_workers => {
                if rise.is_of_sessions {
                    self.taken.collected += rise.samples
                } else {
                    self.taken.alone += 1
                }
                rise.add(processes, self.without_wait.in_statement(), tally);
            }
            _ => self.add_alone(processes, has_workers, tally),
        }
        // Until the collector has looked again, its counts go on from where they stood.
        if rise.is_none_or(|rise| rise.samples > 0) {
            self.before = Some(now);
        }
        Ok(())
    }

    /// Adds what is seen at this moment.
    fn add_alone(&mut self, processes: &[ProcessSample], has_workers: bool, tally: &mut Tally) {
        self.taken.alone += 1;
        self.taken.beside_workers += u64::from(has_workers);
        activity::add(processes.iter(), tally);
    }

    /// Adds what is left since the last look, of sessions that may have ended meanwhile: their counts stay.
    /// True if there was anything.
    pub(super) fn last_look(
        &mut self,
        connection: &mut Connection,
        tally: &mut Tally,
    ) -> Result<bool> {
        let end = Instant::now();
        let Some(before) = self.before.take() else {
            return Ok(false);
        };
        let now = self.stand(connection, before.members.clone())?;
        let part = (end - before.at).as_secs_f64() / (now.at - before.at).as_secs_f64().max(1e-9);
        let rise = self.rise(&before, &now);
        let rise = rise.map(|rise| rise.shortened(part.min(1.0)));
        let Some(rise) = rise.filter(|rise| rise.samples > 0) else {
            return Ok(false);
        };
        self.taken.collected += rise.samples;
        // Nobody was seen at this moment.
        rise.add(&[], self.without_wait.in_statement(), tally);
        Ok(true)
    }

    /// The increase; `None` where it cannot be what happened.
    fn rise(&self, before: &Standing, now: &Standing) -> Option<Rise> {
        let periods = (now.at - before.at).as_millis() as u64 / self.period_ms.max(1);
        // A new process may have the number, and so the counts, of one that has ended.
        let is_possible = |rise: &Rise| rise.samples <= 2 * periods + SAMPLES_SLACK;
        Rise::between(before, now).filter(is_possible)
    }

    /// Where the counts of these processes stand.
    fn stand(&self, connection: &mut Connection, members: Members) -> Result<Standing> {
        let pairs = || {
            members
                .iter()
                .flat_map(|(group, pids)| pids.iter().map(move |pid| (group, pid)))
        };
        let pids: Vec<String> = pairs().map(|(_, pid)| pid.to_string()).collect();
        let groups: Vec<String> = pairs().map(|(group, _)| group.to_string()).collect();
        let (pids, groups) = (
            format!("{{{}}}", pids.join(",")),
            format!("{{{}}}", groups.join(",")),
        );
        let parameters = [Value::Text(&pids), Value::Text(&groups)];
        let rows =
            connection.texts_of(&self.sums, "the counts of pg_wait_sampling", &parameters)?;
        let mut standing = Standing {
            at: Instant::now(),
            members,
            counts: HashMap::new(),
            most: 0,
        };
        for row in rows {
            let mut cells = row.into_iter();
            let mut cell = || cells.next().flatten();
            let (group, kind, event, count) = (cell(), cell(), cell(), cell());
            let count = count.and_then(|count| count.parse().ok()).unwrap_or(0);
            match group.and_then(|group| group.parse().ok()) {
                Some(group) => {
                    let of_group: &mut Counts = standing.counts.entry(group).or_default();
                    of_group.insert(kind.zip(event), count);
                }
                None => standing.most = count,
            }
        }
        Ok(standing)
    }
}

/// Gives the number of counts that there are, after those of a server of dbdyno's own were forgotten.
fn tidy(connection: &mut Connection, schema: &str, is_own_server: bool) -> Result<u64> {
    connection.batch(&format!("SET statement_timeout = '{ANSWER_TIMEOUT}'"))?;
    let many = entries(connection, schema)?;
    if !is_own_server || many <= ENTRIES_KEPT {
        return Ok(many);
    }
    // The collector forgets them when it wakes up; a question that comes before would be answered instead.
    connection.batch(&format!(
        "SELECT {schema}.pg_wait_sampling_reset_profile(), pg_sleep(0.05)"
    ))?;
    entries(connection, schema)
}

fn entries(connection: &mut Connection, schema: &str) -> Result<u64> {
    let sql = format!("SELECT count(*)::text FROM {schema}.pg_wait_sampling_profile");
    let cell = connection
        .texts(&sql, &[])?
        .into_iter()
        .flatten()
        .flatten()
        .next();
    Ok(cell.and_then(|n| n.parse().ok()).unwrap_or(u64::MAX))
}
