//! A server at work, as its views show it. Whatever is asked is asked of memory: no table of anybody is read, and what would wait
//! for a lock is given up.

mod account;
pub(super) mod asking;
mod load;
mod look;
mod statements;
mod views;

use std::time::Duration;

use archive::{About, Observed};

use super::endpoint::Endpoint;
use super::guard::Facts;
use super::version::VERSION_OF_FLUSH;
use super::watch::counts;
use account::Account;
use asking::{APPLICATION, Asking};
use engine::process::{self, OnProcessors};
use engine::risen::known;
use engine::{
    Activity, LoadCounts, Look, Result, ServerCounts, TimeInStatements, TimeOnProcessors, Wanted,
};
use statements::Statements;

pub(super) struct PostgresActivity {
    endpoint: Endpoint,
    facts: Facts,
    wanted: Wanted,
    asking: Asking,
    look: look::Question,
    account: Option<Account>,
    on_processors: OnProcessors,
    statements: Statements,
    tables: Result<views::TableCounts>,
}

impl PostgresActivity {
    /// Connects and prepares what is asked often.
    pub(super) fn open(endpoint: &Endpoint, facts: &Facts, wanted: Wanted) -> Result<Self> {
        let mut asking = Asking::open(endpoint, 0)?;
        let look = look::Question::prepare(&mut asking, facts.major, wanted.texts)?;
        Ok(Self {
            endpoint: endpoint.clone(),
            facts: facts.clone(),
            wanted,
            asking,
            look,
            account: None,
            on_processors: OnProcessors::default(),
            statements: Statements::default(),
            tables: Ok(views::TableCounts::default()),
        })
    }

    /// Makes the server count this session's work now, and not seconds later; it reports nothing of a session that has
    /// read no table since.
    fn tell_own_work(&mut self) -> Result<()> {
        if self.facts.major >= VERSION_OF_FLUSH {
            let sql = format!(
                "SELECT /* {APPLICATION} */ pg_stat_force_next_flush() FROM pg_database LIMIT 1"
            );
            self.asking.rows("pg_stat_force_next_flush()", &sql)?;
        }
        Ok(())
    }
}

impl Activity for PostgresActivity {
    fn source(&self) -> String {
        "pg_stat_activity".into()
    }

    fn hidden(&self) -> Option<String> {
        let rights = self.facts.rights_missing.as_ref()?;
        let hides = rights.unseen.contains(&archive::Unseen::ServerProcesses);
        hides.then(|| rights.grant.clone())
    }

    fn begin(&mut self) -> Result<()> {
        self.statements = Statements::read(&mut self.asking);
        self.tables = views::TableCounts::read(&mut self.asking);
        self.on_processors = OnProcessors::default();
        self.tell_own_work()?;
        self.account = Account::read(&mut self.asking, self.facts.major)?;
        self.time_on_processors().map(drop)
    }

    fn rest(&self) -> Duration {
        Duration::ZERO
    }

    fn look(&mut self) -> Result<Look> {
        look::look(&mut self.asking, &mut self.look)
    }

    fn load(&mut self) -> Result<LoadCounts> {
        self.tell_own_work()?;
        load::read(&mut self.asking, self.facts.major)
    }

    fn time_in_statements(&mut self) -> Result<Option<TimeInStatements>> {
        let Some(begin) = &self.account else {
            return Ok(None);
        };
        let end = Account::read(&mut self.asking, self.facts.major)?;
        Ok(end.and_then(|end| begin.until(&end)))
    }

    fn time_on_processors(&mut self) -> Result<Option<TimeOnProcessors>> {
        if self.asking.process.is_none() {
            return Ok(None);
        }
        let rows = self
            .asking
            .rows("pg_stat_activity", &look::sessions_sql())?;
        let pids = rows
            .iter()
            .filter_map(|row| row.first()?.as_ref()?.parse().ok());
        Ok(Some(self.on_processors.follow(pids)))
    }

    fn count(&mut self) -> Result<ServerCounts> {
        // Its query, and what comes before it.
        self.asking.asked += 1 + u64::from(self.facts.major >= VERSION_OF_FLUSH);
        counts::read(&mut self.asking.connection, self.facts.major)
    }

    fn tables(&mut self) -> Vec<Observed> {
        let (asking, lines) = (&mut self.asking, self.wanted.lines);
        let mut tables = vec![known(About::Server, views::server(asking))];
        let statements = (self.statements).risen(asking, self.wanted, &self.look.seen);
        let untold = statements
            .remark
            .clone()
            .filter(|_| statements.columns.is_empty());
        tables.push(statements);
        tables.push(known(About::Replication, views::replication(asking)));
        let hottest = self.tables.clone();
        let hottest = hottest.and_then(|before| before.risen(asking, lines));
        tables.push(known(About::Tables, hottest));
        tables.push(known(About::Indexes, views::unused_indexes(asking, lines)));
        let unseen = views::unseen(asking, &self.facts, untold);
        tables.push(known(About::Unseen, unseen));
        tables
    }

    fn reconnect(&mut self) -> Result<()> {
        let mut asking = Asking::open(&self.endpoint, self.asking.asked)?;
        let seen = std::mem::take(&mut self.look.seen);
        self.look = look::Question::prepare(&mut asking, self.facts.major, self.wanted.texts)?;
        self.look.seen = seen;
        self.asking = asking;
        Ok(())
    }

    fn asked(&self) -> u64 {
        self.asking.asked
    }

    fn server_cpu_ns(&self) -> Option<u64> {
        process::cpu_ns(self.asking.process?)
    }
}
