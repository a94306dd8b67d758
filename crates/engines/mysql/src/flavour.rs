//! The families of servers that speak this protocol. Everything in which they differ is a field of one table.

use engine::session_settings::Override;

use super::override_tables::{OF_MARIADB, OF_MYSQL};

/// Names, statements and features of a family of servers.
pub(super) struct Family {
    pub title: &'static str,
    /// Oldest version whose protocol and statements are used; what is older was never tried.
    pub oldest: (u32, u32),
    /// The schema of the table `global_status`, which everybody may read.
    pub status_schema: &'static str,
    /// The statement for counts that this table lacks.
    pub more_status: Option<&'static str>,
    /// The query that names the settings somebody set, with their values.
    pub settings_query: &'static str,
    defaults_query: &'static str,
    /// The query for the session's own account with its limits.
    pub account_query: &'static str,
    /// Settings of sessions that the other family does not have.
    pub overrides: &'static [Override],
    /// The variable that makes transactions read-only.
    pub read_only: &'static str,
    /// The variable that limits the time of a statement, and how many of its units a second has.
    pub statement_limit: (&'static str, f64),
    /// Privileges that allow checkpoints; the first is asked for.
    pub checkpoint_rights: &'static [&'static str],
    /// Privilege that only this family demands for foreign keys.
    pub foreign_key_right: Option<&'static str>,
    /// The setting of sessions that compresses the pages of new tables; `None` where each table says so itself.
    pub compression_setting: Option<&'static str>,
    /// The clause of a new table that compresses its pages, where no setting does.
    pub compression_clause: &'static str,
    /// A session's number and that of its thread in the operating system.
    pub threads_query: &'static str,
    /// The thread of this session.
    pub own_thread_query: &'static str,
    /// The thread as an expression on a row of the process list.
    pub thread_of_row: &'static str,
    /// Seconds of the statements of clients that are under way.
    pub open_statements_query: &'static str,
    pub has_user_statistics: bool,
    /// Views of `information_schema`.
    pub table_spaces: &'static str,
    /// The name there of `{database}`, which is a literal, as the beginning of those of its tables.
    pub table_space_of: &'static str,
    pub indexes: &'static str,
    pub tables: &'static str,
    /// The view of waits for row locks, with its columns of the waiting and of the blocking transaction.
    pub lock_waits: [&'static str; 3],
    /// True if the double-write buffer lies in the system table space, and not in files of its own.
    pub double_writes_in_system_table_space: bool,
    pub replica: ReplicaStatus,
    /// True if it can copy its own files while it works.
    pub clones_itself: bool,
    /// Advice on its settings.
    pub rules: &'static str,
}

/// The status of a replica: the statement, the column with the connection's name, and the columns before those that both families have.
#[derive(Debug)]
pub(super) struct ReplicaStatus {
    pub sql: &'static str,
    pub name: usize,
    pub before: usize,
}

pub(super) type Flavour = &'static Family;

pub(super) static MARIADB: Family = Family {
    title: "MariaDB",
    oldest: (10, 5),
    status_schema: "information_schema",
    more_status: None,
    settings_query: "SELECT variable_name, global_value FROM information_schema.system_variables \
         WHERE global_value_origin IN ('CONFIG', 'COMMAND-LINE', 'SQL', 'ENV')",
    defaults_query: "SELECT lower(variable_name), default_value FROM information_schema.system_variables WHERE variable_name IN",
    account_query: "SHOW CREATE USER",
    overrides: OF_MARIADB,
    read_only: "tx_read_only",
    statement_limit: ("max_statement_time", 1.0),
    checkpoint_rights: &["SUPER"],
    foreign_key_right: None,
    compression_setting: Some("innodb_compression_default"),
    compression_clause: "",
    threads_query: "SELECT ID, TID FROM information_schema.PROCESSLIST",
    own_thread_query: "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()",
    thread_of_row: "TID",
    open_statements_query: "SELECT SUM(TIME_MS) / 1e3 FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() \
         AND COMMAND NOT IN ('Sleep', 'Daemon', 'Connect', 'Slave_IO', 'Slave_SQL', 'Slave_worker') AND COMMAND NOT LIKE 'Binlog%' \
         AND USER NOT IN ('system user', 'event_scheduler')",
    has_user_statistics: true,
    table_spaces: "INNODB_SYS_TABLESPACES",
    table_space_of: "cast(convert({database} USING filename) AS char)",
    indexes: "INNODB_SYS_INDEXES",
    tables: "INNODB_SYS_TABLES",
    lock_waits: [
        "information_schema.INNODB_LOCK_WAITS",
        "requesting_trx_id",
        "blocking_trx_id",
    ],
    double_writes_in_system_table_space: true,
    replica: ReplicaStatus {
        sql: "SHOW ALL SLAVES STATUS",
        name: 0,
        before: 2,
    },
    clones_itself: false,
    rules: include_str!("rules.mariadb.toml"),
};

pub(super) static MYSQL: Family = Family {
    title: "MySQL",
    oldest: (8, 0),
    status_schema: "performance_schema",
    more_status: Some(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_commit', 'Com_rollback') AND (SELECT 1 AS dbdyno_observe)",
    ),
    settings_query: "SELECT i.variable_name, g.variable_value FROM performance_schema.variables_info i \
         JOIN performance_schema.global_variables g USING (variable_name) \
         WHERE i.variable_source <> 'COMPILED' AND i.variable_name NOT IN ('foreign_key_checks', 'unique_checks')",
    // It has no defaults to read: what nobody set is one.
    defaults_query: "SELECT i.variable_name, g.variable_value FROM performance_schema.variables_info i \
         JOIN performance_schema.global_variables g USING (variable_name) \
         WHERE i.variable_source = 'COMPILED' AND i.variable_name IN",
    account_query: "SHOW CREATE USER CURRENT_USER()",
    overrides: OF_MYSQL,
    read_only: "transaction_read_only",
    statement_limit: ("max_execution_time", 1e3),
    checkpoint_rights: &["SYSTEM_VARIABLES_ADMIN", "SUPER"],
    foreign_key_right: Some("REFERENCES"),
    compression_setting: None,
    compression_clause: " COMPRESSION = 'zlib'",
    threads_query: "SELECT PROCESSLIST_ID, THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID IS NOT NULL",
    own_thread_query: "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()",
    thread_of_row: "(SELECT THREAD_OS_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = ID)",
    open_statements_query: "SELECT SUM(s.TIMER_WAIT) / 1e12 FROM performance_schema.events_statements_current AS s \
         JOIN performance_schema.threads AS t USING (THREAD_ID) WHERE s.END_EVENT_ID IS NULL AND s.NESTING_EVENT_LEVEL = 0 \
         AND t.TYPE = 'FOREGROUND' AND t.PROCESSLIST_ID <> CONNECTION_ID() AND t.PROCESSLIST_COMMAND NOT LIKE 'Binlog%'",
    has_user_statistics: false,
    table_spaces: "INNODB_TABLESPACES",
    table_space_of: "{database}",
    indexes: "INNODB_INDEXES",
    tables: "INNODB_TABLES",
    lock_waits: [
        "performance_schema.data_lock_waits",
        "REQUESTING_ENGINE_TRANSACTION_ID",
        "BLOCKING_ENGINE_TRANSACTION_ID",
    ],
    double_writes_in_system_table_space: false,
    replica: ReplicaStatus {
        sql: "SHOW REPLICA STATUS",
        name: 55,
        before: 0,
    },
    clones_itself: true,
    rules: include_str!("rules.mysql.toml"),
};

impl Family {
    /// Only MariaDB puts its name into its version.
    pub fn of_version(version: &str) -> Flavour {
        if version.to_ascii_lowercase().contains("mariadb") {
            &MARIADB
        } else {
            &MYSQL
        }
    }

    /// The query that gives the defaults of settings, by their names in lower case.
    pub fn defaults_query(&self, names: &[&str]) -> String {
        format!("{} ('{}')", self.defaults_query, names.join("','"))
    }

    /// The right that lets a user trigger checkpoints, for a GRANT.
    pub fn checkpoint_right(&self) -> &'static str {
        self.checkpoint_rights[0]
    }
}

/// "10.11.19" of "10.11.19-MariaDB-0+deb12u1".
pub(super) fn plain_version(version: &str) -> String {
    let is_of_number = |c: &char| c.is_ascii_digit() || *c == '.';
    version.chars().take_while(is_of_number).collect()
}
