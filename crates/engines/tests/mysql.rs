//! MariaDB and MySQL, against real servers that dbdyno starts.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

/// Makes a test for each kind of server from a function that takes the kind.
macro_rules! on_both {
    ($($test:ident,)*) => {
        mod mariadb {
            $(#[test]
            fn $test() {
                super::$test(&crate::common::MARIADB);
            })*
        }
        mod mysql {
            $(#[test]
            fn $test() {
                super::$test(&crate::common::MYSQL);
            })*
        }
    };
}

#[path = "mysql/activity.rs"]
mod activity;
#[path = "servers/certificates.rs"]
mod certificates;
#[path = "mysql/common.rs"]
mod common;
#[path = "servers/cut_off.rs"]
mod cut_off;
#[path = "mysql/foreign.rs"]
mod foreign;
#[path = "mysql/guard.rs"]
mod guard;
#[path = "servers/impostor.rs"]
mod impostor;
#[path = "mysql/logon.rs"]
mod logon;
#[path = "mysql/losses.rs"]
mod losses;
#[path = "servers/networked.rs"]
mod networked;
#[path = "mysql/nonblocking.rs"]
mod nonblocking;
#[path = "servers/processors.rs"]
mod processors;
#[path = "mysql/session.rs"]
mod session;
#[path = "mysql/session_settings.rs"]
mod session_settings;
#[path = "mysql/settings_of_others.rs"]
mod settings_of_others;
#[path = "servers/shared.rs"]
mod shared;
#[path = "mysql/statements.rs"]
mod statements;
#[path = "mysql/target.rs"]
mod target_itself;
#[path = "mysql/tls.rs"]
mod tls;
#[path = "mysql/watch.rs"]
mod watch;
