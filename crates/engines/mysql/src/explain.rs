//! Turns the server's errors into what the user can do about them.

use super::wire::{ServerError, WireError};
use engine::{ErrorKind, TargetError};

/// Errors of the server by number, as its manual lists them; those below 1000 come from the library for files below it.
mod code {
    pub const FILE_WRITE: u16 = 3;
    pub const FILE_SIZE: u16 = 14;
    pub const FILE_DISK_FULL: u16 = 20;
    pub const CHECK_READ: u16 = 1020;
    pub const DISK_FULL: u16 = 1021;
    pub const ERROR_ON_WRITE: u16 = 1026;
    pub const NOT_KEY_FILE: u16 = 1034;
    pub const OUT_OF_MEMORY: u16 = 1037;
    pub const OUT_OF_SORT_MEMORY: u16 = 1038;
    pub const TOO_MANY_CONNECTIONS: u16 = 1040;
    pub const OUT_OF_RESOURCES: u16 = 1041;
    pub const DATABASE_DENIED: u16 = 1044;
    pub const ACCESS_DENIED: u16 = 1045;
    pub const UNKNOWN_DATABASE: u16 = 1049;
    pub const SHUTDOWN: u16 = 1053;
    pub const TABLE_FULL: u16 = 1114;
    pub const HOST_BLOCKED: u16 = 1129;
    pub const HOST_DENIED: u16 = 1130;
    pub const NOT_ALLOWED: u16 = 1148;
    pub const CRASHED: u16 = 1194;
    pub const TOO_MANY_OF_USER: u16 = 1203;
    pub const LOCK_TIMEOUT: u16 = 1205;
    pub const DEADLOCK: u16 = 1213;
    pub const RIGHT_MISSING: u16 = 1227;
    pub const LIMIT_OF_USER: u16 = 1226;
    pub const TOO_MANY_STATEMENTS: u16 = 1461;
    pub const ACCESS_DENIED_BY_PLUGIN: u16 = 1698;
    pub const CONNECTION_KILLED: u16 = 1927;
    pub const TABLE_CORRUPT: u16 = 1877;
    pub const TLS_REQUIRED: u16 = 3159;
    pub const LOCAL_OFF: u16 = 3948;
    pub const ENDED_IDLE: u16 = 4031;
    pub const LOCK_NOWAIT: u16 = 3572;
}

/// The sentence for an error of the server, and what the caller can do.
pub(super) fn explain(context: &str, error: &ServerError) -> TargetError {
    let (kind, advice) = meaning(error);
    TargetError::new(kind, format!("mysql: {context}: {error}{advice}"))
}

/// A server that let nobody in; one that requires TLS may say no more than that the user is denied.
pub(super) fn refused(place: &str, lacks_tls: bool, error: &ServerError) -> TargetError {
    let mut told = explain(&format!("cannot log in at {place}"), error);
    if lacks_tls && matches!(error.code, code::ACCESS_DENIED | code::TLS_REQUIRED) {
        told.message.push_str(
            "; where the server or the user requires TLS, add sslmode=verify-full and sslrootcert=FILE to the target's URL",
        );
    }
    told
}

fn meaning(error: &ServerError) -> (ErrorKind, &'static str) {
    match error.code {
        code::DEADLOCK | code::LOCK_TIMEOUT | code::LOCK_NOWAIT | code::CHECK_READ => {
            (ErrorKind::Conflict, "")
        }
        // Of a file that cannot grow the server tells no reason that means anything.
        code::DISK_FULL
        | code::ERROR_ON_WRITE
        | code::TABLE_FULL
        | code::FILE_WRITE
        | code::FILE_SIZE
        | code::FILE_DISK_FULL => (
            ErrorKind::Full,
            "; the server's disk is full or a limit of it is reached: free some space, or choose another data directory",
        ),
        code::NOT_KEY_FILE | code::CRASHED | code::TABLE_CORRUPT => (
            ErrorKind::Damaged,
            "; a table is damaged: check it with CHECK TABLE",
        ),
        // The server goes on; fewer jobs may do.
        code::TOO_MANY_CONNECTIONS | code::TOO_MANY_OF_USER | code::LIMIT_OF_USER => (
            ErrorKind::Statement,
            "; raise the limit (max_connections, or the user's) above the number of jobs, or use fewer jobs",
        ),
        code::TOO_MANY_STATEMENTS => (
            ErrorKind::Statement,
            "; raise it (SET GLOBAL max_prepared_stmt_count = N), or use fewer sessions",
        ),
        code::ACCESS_DENIED | code::ACCESS_DENIED_BY_PLUGIN => (
            ErrorKind::Unreachable,
            "; check the user and the password: in the URL, where %XX is decoded, else in $MYSQL_PWD, else in ~/.my.cnf (~/.mylogin.cnf \
             is not read)",
        ),
        code::DATABASE_DENIED => (
            ErrorKind::Unreachable,
            "; grant the user all privileges on the database",
        ),
        code::UNKNOWN_DATABASE | code::HOST_BLOCKED | code::HOST_DENIED | code::TLS_REQUIRED => {
            (ErrorKind::Unreachable, "")
        }
        code::SHUTDOWN | code::CONNECTION_KILLED => (
            ErrorKind::Unreachable,
            "; the server closed the connection (the session was killed, or the server is shutting down)",
        ),
        code::ENDED_IDLE => (
            ErrorKind::Unreachable,
            "; wait_timeout ended the session: raise it on the server",
        ),
        code::RIGHT_MISSING => (ErrorKind::Statement, "; grant the user this privilege"),
        code::NOT_ALLOWED | code::LOCAL_OFF => (
            ErrorKind::Statement,
            "; bulk loads need local_infile=ON on the server",
        ),
        code::OUT_OF_MEMORY | code::OUT_OF_SORT_MEMORY | code::OUT_OF_RESOURCES => (
            ErrorKind::Statement,
            "; the server is out of memory: use fewer jobs or smaller buffers",
        ),
        _ => (ErrorKind::Statement, ""),
    }
}

impl From<WireError> for TargetError {
    fn from(error: WireError) -> Self {
        let kind = match error {
            WireError::TooLarge(_) | WireError::TooManyStatements => ErrorKind::Statement,
            _ => ErrorKind::Unreachable,
        };
        TargetError::new(kind, format!("mysql: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server_error(code: u16) -> ServerError {
        ServerError {
            code,
            sqlstate: "HY000".into(),
            message: "no".into(),
        }
    }

    #[test]
    fn deadlocks_and_lock_timeouts_may_be_tried_again() {
        for code in [1213, 1205] {
            assert!(explain("x", &server_error(code)).is_conflict());
        }
        assert!(!explain("x", &server_error(1062)).is_conflict());
    }

    #[test]
    fn a_full_disk_has_many_numbers() {
        for code in [3, 14, 20, 1021, 1026, 1114] {
            let error = explain("bulk load failed", &server_error(code));
            assert_eq!(error.kind, ErrorKind::Full, "{code}");
            assert!(error.message.contains("free some"), "{error}");
        }
    }

    #[test]
    fn an_error_says_what_to_do() {
        let error = explain("cannot connect", &server_error(1040));
        assert_eq!(error.kind, ErrorKind::Statement);
        assert!(error.message.contains("max_connections"), "{error}");
    }
}
