//! PostgreSQL, against real servers that dbdyno starts.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

#[path = "postgres/activity.rs"]
mod activity;
#[path = "servers/certificates.rs"]
mod certificates;
#[path = "postgres/common.rs"]
mod common;
#[path = "servers/cut_off.rs"]
mod cut_off;
#[path = "postgres/foreign.rs"]
mod foreign;
#[path = "postgres/guard.rs"]
mod guard;
#[path = "servers/impostor.rs"]
mod impostor;
#[path = "postgres/logon.rs"]
mod logon;
#[path = "postgres/losses.rs"]
mod losses;
#[path = "postgres/man_in_the_middle.rs"]
mod man_in_the_middle;
#[path = "servers/networked.rs"]
mod networked;
#[path = "servers/pgbouncer.rs"]
mod pgbouncer;
#[path = "postgres/places.rs"]
mod places;
#[path = "postgres/pooler.rs"]
mod pooler;
#[path = "servers/processors.rs"]
mod processors;
#[path = "postgres/session.rs"]
mod session;
#[path = "postgres/session_settings.rs"]
mod session_settings;
#[path = "postgres/settings_of_others.rs"]
mod settings_of_others;
#[path = "servers/shared.rs"]
mod shared;
#[path = "postgres/statements.rs"]
mod statements;
#[path = "postgres/target.rs"]
mod target_itself;
#[path = "postgres/tls.rs"]
mod tls;
#[path = "postgres/wait_sampling.rs"]
mod wait_sampling;
#[path = "postgres/watch.rs"]
mod watch;
