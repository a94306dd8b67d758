//! A server at work, as its process list, its status and `performance_schema` show it. Nothing of anybody is read or locked.

mod account;
pub(super) mod asking;
mod load;
mod look;
mod statements;
mod views;

use std::time::Duration;

use archive::{About, Observed, RightsMissing};

use super::access::Access;
use super::flavour::Flavour;
use super::watch::counts;
use account::Account;
use asking::Asking;
use engine::process::{self, OnProcessors};
use engine::risen::known;
use engine::{
    Activity, LoadCounts, Look, Result, ServerCounts, TimeInStatements, TimeOnProcessors, Wanted,
};
use look::Looker;
use statements::Statements;

pub(super) struct MySqlActivity {
    access: Access,
    rights_missing: Option<RightsMissing>,
    wanted: Wanted,
    /// The number of another session of this observer, which does nothing meanwhile.
    own_session: u32,
    asking: Asking,
    looker: Looker,
    account: Option<Account>,
    on_processors: OnProcessors,
    statements: Statements,
    tables: views::TableCounts,
    is_replica: bool,
}

impl MySqlActivity {
    pub(super) fn open(
        access: &Access,
        flavour: Flavour,
        rights_missing: Option<RightsMissing>,
        wanted: Wanted,
        own_session: u32,
    ) -> Result<Self> {
        let mut asking = Asking::open(access, flavour, 0)?;
        let looker = Looker::of(&mut asking, wanted.texts);
        let is_replica = load::replica(&mut asking).is_ok_and(|all| !all.is_empty());
        Ok(Self {
            access: access.clone(),
            rights_missing,
            wanted,
            own_session,
            asking,
            looker,
            account: None,
            on_processors: OnProcessors::default(),
            statements: Statements::default(),
            tables: views::TableCounts::default(),
            is_replica,
        })
    }
}

impl Activity for MySqlActivity {
    fn source(&self) -> String {
        self.looker.source()
    }

    fn hidden(&self) -> Option<String> {
        let rights = self.rights_missing.as_ref()?;
        let hides = rights.unseen.contains(&archive::Unseen::OthersAtWork);
        hides.then(|| rights.grant.clone())
    }

    fn begin(&mut self) -> Result<()> {
        self.statements = Statements::read(&mut self.asking);
        self.tables = views::TableCounts::read(&mut self.asking);
        self.account = Account::begin(&mut self.asking);
        self.on_processors = OnProcessors::default();
        self.time_on_processors().map(drop)
    }

    fn rest(&self) -> Duration {
        self.looker.rest()
    }

    fn look(&mut self) -> Result<Look> {
        self.looker.look(&mut self.asking)
    }

    fn load(&mut self) -> Result<LoadCounts> {
        load::read(&mut self.asking, self.is_replica)
    }

    fn time_in_statements(&mut self) -> Result<Option<TimeInStatements>> {
        match &self.account {
            Some(begin) => begin.until_now(&mut self.asking),
            None => Ok(None),
        }
    }

    fn time_on_processors(&mut self) -> Result<Option<TimeOnProcessors>> {
        if self.asking.thread.is_none() {
            return Ok(None);
        }
        let sql = look::threads_sql(self.asking.flavour, self.own_session);
        let rows = self.asking.rows("the process list", &sql)?;
        let threads = rows
            .iter()
            .filter_map(|row| row.first()?.as_ref()?.parse().ok());
        Ok(Some(self.on_processors.follow(threads)))
    }

    fn count(&mut self) -> Result<ServerCounts> {
        // Status, and two tables of waits at most.
        self.asking.asked += 3;
        let sees_row_locks = self.looker.sees_row_locks();
        counts::Source::of(&mut self.asking.client)
            .read_of_all(&mut self.asking.client, sees_row_locks)
    }

    fn tables(&mut self) -> Vec<Observed> {
        let (asking, lines) = (&mut self.asking, self.wanted.lines);
        let mut tables = vec![known(About::Server, views::server(asking, self.is_replica))];
        let statements = self.statements.risen(asking, self.wanted);
        let untold = statements
            .remark
            .clone()
            .filter(|_| statements.columns.is_empty());
        tables.push(statements);
        tables.push(known(
            About::Replication,
            views::replication(asking, self.is_replica),
        ));
        tables.push(self.tables.risen(asking, lines));
        tables.push(known(About::Indexes, views::unused_indexes(asking, lines)));
        let is_local = self.asking.thread.is_some();
        tables.push(views::unseen(
            self.rights_missing.as_ref(),
            untold,
            is_local,
        ));
        tables
    }

    fn reconnect(&mut self) -> Result<()> {
        let asked = self.asking.asked;
        self.asking = Asking::open(&self.access, self.asking.flavour, asked)?;
        self.looker = Looker::of(&mut self.asking, self.wanted.texts);
        Ok(())
    }

    fn asked(&self) -> u64 {
        self.asking.asked
    }

    fn server_cpu_ns(&self) -> Option<u64> {
        process::cpu_ns(self.asking.thread?)
    }
}
