//! Settings of a URL in the sessions of PostgreSQL.

use super::connection::Connection;
use super::overrides::set;
use engine::register::quoted;
use engine::session_settings::{
    SessionSettings, all_in_force, not_in_force, not_taken, of_the_server,
};
use engine::{Result, TargetError};

/// Contexts of settings that a session can change, as `pg_settings` names them.
const OF_SESSIONS: [&str; 2] = ["user", "superuser"];

impl Connection {
    /// Sets what is asked for, one by one, and gives the values as the server writes them.
    pub(super) fn try_settings(&mut self, asked: &SessionSettings) -> Result<SessionSettings> {
        let mut in_force = SessionSettings::new();
        for (name, value) in asked {
            self.refuse_setting_of_the_server(name)?;
            let set = self.simple_texts(&set(name, value));
            set.map_err(|error| not_taken(name, value, error))?;
            // In a transaction of its own: whether it was set for the session, and not by somebody before it.
            let found = self.one_row(&format!(
                "SELECT current_setting({0}), source FROM pg_settings WHERE lower(name) = {0}",
                quoted(name)
            ))?;
            match found.as_slice() {
                [Some(found), Some(source)] if source == "session" => {
                    in_force.insert(name.clone(), found.clone());
                }
                other => {
                    let found = other.first().cloned().flatten().unwrap_or_default();
                    return Err(not_in_force("PostgreSQL", name, value, &found));
                }
            }
        }
        Ok(in_force)
    }

    /// Sets what [`Connection::try_settings`] gave, and reads it back.
    pub(super) fn set_settings(&mut self, settings: &SessionSettings) -> Result<()> {
        if settings.is_empty() {
            return Ok(());
        }
        let all: Vec<String> = settings.iter().map(|(n, v)| set(n, v)).collect();
        self.batch(&all.join("; "))?;
        let names = settings
            .keys()
            .map(|name| format!("current_setting({})", quoted(name)));
        let sql = format!("SELECT {}", names.collect::<Vec<_>>().join(", "));
        let found = self.one_row(&sql)?.into_iter();
        all_in_force("PostgreSQL", settings, found.map(Option::unwrap_or_default))
    }

    fn refuse_setting_of_the_server(&mut self, name: &str) -> Result<()> {
        let sql = format!(
            "SELECT context FROM pg_settings WHERE lower(name) = {}",
            quoted(name)
        );
        let why = match self.one_row(&sql)?.into_iter().flatten().next().as_deref() {
            Some(context) if OF_SESSIONS.contains(&context) => return Ok(()),
            Some("internal") => {
                "it was fixed when the server was built or its data directory was created"
            }
            Some("postmaster") => {
                "it only takes effect when the server starts (context postmaster)"
            }
            Some("sighup") => "all sessions share it (context sighup)",
            Some(_) => "it only takes effect when a session starts",
            None => return Err(unknown(name)),
        };
        Err(of_the_server("PostgreSQL", name, why))
    }

    fn one_row(&mut self, sql: &str) -> Result<Vec<Option<String>>> {
        Ok(self
            .simple_texts(sql)?
            .into_iter()
            .next()
            .unwrap_or_default())
    }
}

fn unknown(name: &str) -> TargetError {
    TargetError::statement(format!(
        "PostgreSQL: this server has no setting \"{name}\", or hides it from this user; `SHOW ALL` lists its \
         settings, and the URL has sslmode, others and schema"
    ))
}
