//! Turns the server's errors into what the user can do about them, by their numbers.

use engine::{ErrorKind, TargetError, shortened};

/// The sentence for an error of the driver or the server, and what the caller can do.
pub(super) fn explain(context: &str, error: &oracledb::Error) -> TargetError {
    let (number, said) = number_and_words(error);
    let (kind, advice) = match number {
        Some(number) => meaning(number),
        None => of_driver(error),
    };
    // The first line is the error; the server adds where it happened and an address of its manual.
    let said = said.lines().next().unwrap_or_default().trim_end();
    TargetError::new(kind, format!("oracle: {context}: {said}{advice}"))
}

/// The same for a statement, whose right is named where one is missing.
pub(super) fn of_statement(context: &str, sql: &str, error: &oracledb::Error) -> TargetError {
    let mut explained = explain(context, error);
    if number_of(error) == Some(1031)
        && let Some(right) = right_for(sql)
    {
        explained.message = format!(
            "oracle: {context}: ORA-01031: the user lacks {right}; an administrator grants it with GRANT {right} TO the user"
        );
    }
    if explained.kind == ErrorKind::Statement {
        explained.message = format!("{} (in: {})", explained.message, shortened(sql.trim()));
    }
    explained
}

/// The Oracle number of an error; those of listeners come as the driver's own.
pub(super) fn number_of(error: &oracledb::Error) -> Option<usize> {
    number_and_words(error).0
}

/// True of a statement that the stand-in of the tests does not know: a real server says so of no statement of dbdyno's.
pub(super) fn is_unknown_to_stand_in(error: &TargetError) -> bool {
    error.kind == ErrorKind::Statement && error.message.contains("ORA-00900")
}

fn number_and_words(error: &oracledb::Error) -> (Option<usize>, String) {
    use oracledb::ErrorKind as Driver;
    match error.kind() {
        Driver::DbError(server) => {
            let said = server.message();
            let said = if said.is_empty() {
                format!("ORA-{:05}", server.code())
            } else {
                said.to_owned()
            };
            (Some(server.code()), said)
        }
        Driver::InvalidServiceName(_, service, host, port) => (
            Some(12514),
            format!("ORA-12514: the listener at {host}:{port} knows no service \"{service}\""),
        ),
        Driver::InvalidSid(_, sid, host, port) => (
            Some(12505),
            format!("ORA-12505: the listener at {host}:{port} knows no SID \"{sid}\""),
        ),
        Driver::ListenerRefusedConnection(_, host, port, number) => (
            Some(*number),
            format!("ORA-{number:05}: the listener at {host}:{port} refused the connection"),
        ),
        _ => (None, error.to_string()),
    }
}

fn of_driver(error: &oracledb::Error) -> (ErrorKind, &'static str) {
    use oracledb::ErrorKind as Driver;
    match error.kind() {
        Driver::StreamOperation if error.to_string().contains("refused") => (
            ErrorKind::Unreachable,
            " (ORA-12541: no listener); start the listener (lsnrctl start), or correct host and port of the URL",
        ),
        Driver::StreamOperation
        | Driver::DeadConnection
        | Driver::NotConnected
        | Driver::UnableToRecover
        | Driver::LockPoisoned => (ErrorKind::Unreachable, ""),
        Driver::CallTimeoutExceeded => (
            ErrorKind::Unreachable,
            "; the server did not answer in time",
        ),
        Driver::TlsOperation | Driver::PemFileOperation => (
            ErrorKind::Unreachable,
            "; check protocol=tcps and wallet_location of the URL",
        ),
        Driver::WalletPasswordMissingOrInvalid(..)
        | Driver::WalletPrivateKeyInvalid(..)
        | Driver::WalletUnreadable(..) => (
            ErrorKind::Unreachable,
            "; wallet_location names the directory of ewallet.pem, and $ORACLE_WALLET_PASSWORD has its password",
        ),
        Driver::ServerVersionNotSupported => (
            ErrorKind::Unreachable,
            "; dbdyno needs Oracle Database 12.2 or later",
        ),
        Driver::InvalidEncodedString => (ErrorKind::Untranslatable, ""),
        _ => (ErrorKind::Statement, ""),
    }
}

/// The kind of an error, and the way out.
pub(super) fn meaning(number: usize) -> (ErrorKind, &'static str) {
    use ErrorKind::{Conflict, Damaged, Full, Statement, Unreachable, Untranslatable};
    match number {
        // Somebody else was in the way: deadlock, busy, waited long enough, serialization, package recompiled.
        54 | 60 | 4021 | 4068 | 8176 | 8177 | 30006 => (Conflict, ""),
        1555 => (
            Statement,
            "; the undo that this query needs is gone: raise undo_retention, or enlarge the undo tablespace",
        ),
        1536 | 1950 => (
            Full,
            "; an administrator raises it with ALTER USER … QUOTA UNLIMITED ON the tablespace",
        ),
        1652 | 1653 | 1654 | 1658 | 1659 | 1688 | 1691 | 1692 => (
            Full,
            "; the tablespace is full: add a data file, let one grow (AUTOEXTEND ON), or choose another (tablespace=NAME in the URL)",
        ),
        30036 => (
            Full,
            "; enlarge the undo tablespace, or load fewer rows at once",
        ),
        257 | 16038 | 19809 | 19815 => (
            Full,
            "; the archiver waits for room: free some in the recovery area, or raise db_recovery_file_dest_size",
        ),
        1578 | 1115 | 1122 | 26040 => (
            Damaged,
            "; a data file is damaged: check it with RMAN (VALIDATE DATABASE)",
        ),
        1005 | 1017 => (
            Unreachable,
            "; check the user and the password: in the URL, where %XX is decoded, else in $ORACLE_PASSWORD",
        ),
        1045 => (
            Unreachable,
            "; an administrator grants it with GRANT CREATE SESSION TO the user",
        ),
        28000 => (
            Unreachable,
            "; an administrator unlocks it with ALTER USER … ACCOUNT UNLOCK",
        ),
        28001 => (
            Unreachable,
            "; set a new password with ALTER USER … IDENTIFIED BY …, or log in with another client and change it",
        ),
        28040 => (
            Unreachable,
            "; the server offers no login that this driver knows: allow 12c logins (SQLNET.ALLOWED_LOGON_VERSION_SERVER=12) and set \
             the password again",
        ),
        12514 => (
            Unreachable,
            "; name a service that lsnrctl status lists, at the end of the URL; a database that is starting registers within a minute",
        ),
        12505 | 12521 => (
            Unreachable,
            "; name a service (lsnrctl status lists them) and an instance that runs",
        ),
        12541 => (
            Unreachable,
            "; start the listener (lsnrctl start), or correct host and port of the URL",
        ),
        12516 | 12519 | 12520 => (
            Unreachable,
            "; the listener has no server process left for the session: raise processes (ALTER SYSTEM SET processes = N SCOPE = SPFILE, \
             then restart), or use fewer jobs",
        ),
        // The server goes on; fewer jobs may do.
        18 | 20 => (
            Statement,
            "; raise processes (ALTER SYSTEM SET processes = N SCOPE = SPFILE, then restart), or use fewer jobs",
        ),
        2391 => (
            Statement,
            "; the user's profile limits its sessions: raise SESSIONS_PER_USER, or use fewer jobs",
        ),
        2390 | 2392 | 2393 | 2394 | 2395 => (
            Statement,
            "; a limit of the user's profile ended it: raise the limit (ALTER PROFILE … LIMIT …), or set resource_limit = FALSE",
        ),
        2396 | 2399 => (
            Unreachable,
            "; a limit of the user's profile ended the session: raise IDLE_TIME and CONNECT_TIME (ALTER PROFILE … LIMIT …), or set \
             resource_limit = FALSE",
        ),
        1000 => (
            Statement,
            "; raise open_cursors (ALTER SYSTEM SET open_cursors = N), or use fewer statements in a session",
        ),
        28 | 1012 | 2012 => (Unreachable, "; the session was killed"),
        1033 | 1034 | 1089 | 1090 | 1109 | 12528 => (
            Unreachable,
            "; the database is not open: wait until it is, or open it (ALTER DATABASE OPEN)",
        ),
        3113 | 3114 | 3135 | 12537 | 12547 | 12570 | 12571 => {
            (Unreachable, "; the server closed the connection")
        }
        1552 | 16000 | 16224 | 25153 => (
            Statement,
            "; the database is read-only (a standby, or opened READ ONLY): name the service of the primary",
        ),
        65096 | 65040 | 65049 | 65048 => (
            Statement,
            "; this is the root of a container database: name the service of a pluggable database at the end of the URL",
        ),
        1013 | 1095 => (Statement, "; the statement was cancelled"),
        40 | 7454 | 7455 | 56720 => (
            Statement,
            "; a resource plan of the server ended it: measure without one (ALTER SYSTEM SET resource_manager_plan = '')",
        ),
        4030 | 4031 | 4036 => (
            Statement,
            "; the server is out of memory: use fewer jobs, or raise its memory settings",
        ),
        12899 => (
            Statement,
            "; a text is longer in the database's character set than in UTF-8's letters: use AL32UTF8, or NLS_LENGTH_SEMANTICS = CHAR",
        ),
        12712 | 12714 | 29275 => (
            Untranslatable,
            "; the database's character set loses letters: use one created with AL32UTF8",
        ),
        _ => (Statement, ""),
    }
}

/// The system privilege that a statement needs.
fn right_for(sql: &str) -> Option<String> {
    let upper = sql.trim_start().to_uppercase();
    let words: Vec<&str> = upper.split_whitespace().take(6).collect();
    let right = match words.as_slice() {
        ["ALTER", "SYSTEM" | "SESSION", ..] => format!("ALTER {}", words[1]),
        ["CREATE", rest @ ..] => {
            let object = rest.iter().find(|word| {
                ![
                    "OR",
                    "REPLACE",
                    "UNIQUE",
                    "BITMAP",
                    "GLOBAL",
                    "TEMPORARY",
                    "EDITIONABLE",
                ]
                .contains(word)
            })?;
            match *object {
                "FUNCTION" | "PACKAGE" | "PROCEDURE" => "CREATE PROCEDURE".into(),
                // An index of one's own table needs no more than the table.
                "INDEX" => "CREATE TABLE".into(),
                "MATERIALIZED" => "CREATE MATERIALIZED VIEW".into(),
                other => format!("CREATE {other}"),
            }
        }
        _ => return None,
    };
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_mean_what_a_dba_expects() {
        use ErrorKind::{Conflict, Damaged, Full, Statement, Unreachable, Untranslatable};
        for (number, kind, says) in [
            (60, Conflict, ""),
            (54, Conflict, ""),
            (8177, Conflict, ""),
            (1, Statement, ""),
            (942, Statement, ""),
            (1555, Statement, "undo_retention"),
            (1653, Full, "tablespace=NAME"),
            (1950, Full, "QUOTA UNLIMITED"),
            (257, Full, "db_recovery_file_dest_size"),
            (1578, Damaged, "RMAN"),
            (1017, Unreachable, "$ORACLE_PASSWORD"),
            (28000, Unreachable, "ACCOUNT UNLOCK"),
            (28001, Unreachable, "IDENTIFIED BY"),
            (12514, Unreachable, "lsnrctl status"),
            (12541, Unreachable, "lsnrctl start"),
            (20, Statement, "processes"),
            (12519, Unreachable, "processes"),
            (2396, Unreachable, "resource_limit"),
            (16000, Statement, "standby"),
            (65096, Statement, "pluggable"),
            (1033, Unreachable, "not open"),
            (29275, Untranslatable, "AL32UTF8"),
        ] {
            let (found, advice) = meaning(number);
            assert_eq!(found, kind, "ORA-{number:05}");
            assert!(advice.contains(says), "ORA-{number:05}: {advice}");
        }
    }

    #[test]
    fn the_right_that_a_statement_needs_is_named() {
        for (sql, right) in [
            ("create or replace package x as end;", "CREATE PROCEDURE"),
            ("CREATE TABLE x (a NUMBER)", "CREATE TABLE"),
            ("CREATE UNIQUE INDEX i ON t (a)", "CREATE TABLE"),
            ("ALTER SYSTEM CHECKPOINT", "ALTER SYSTEM"),
            ("CREATE SEQUENCE s", "CREATE SEQUENCE"),
        ] {
            assert_eq!(right_for(sql).as_deref(), Some(right), "{sql}");
        }
        assert_eq!(right_for("SELECT 1 FROM dual"), None);
    }
}
