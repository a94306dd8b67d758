//! The begin of a session.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use engine::open_sessions::OpenSession;
use engine::{ErrorKind, Result, TargetError};
use oracledb::Connection;

use crate::access::Access;
use crate::driver::explain::{explain, number_of};
use crate::driver::sockets;

/// One connects at a time, so that the socket that is new afterwards is that of the connection.
static CONNECTING: Mutex<()> = Mutex::new(());

/// Logs in, and finds the socket, so that a session that hangs can be ended.
pub(super) fn logged_in(
    access: &Access,
    timeout: Duration,
) -> Result<(Connection, Option<OpenSession>)> {
    static PROVIDER: Once = Once::new();
    // Two libraries for TLS are compiled in, and the driver's own would have to be chosen.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let context = format!("cannot log in at {}", access.place());
    let config = access
        .config(timeout)
        .map_err(|error| explain(&context, &error))?;
    let lock = CONNECTING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = sockets::open();
    // The driver panics at an account whose password has the verifier of 11g alone.
    let connected = catch_unwind(AssertUnwindSafe(|| oracledb::connect(config)));
    let socket = sockets::appeared(&before, access.port);
    drop(lock);
    let Ok(connected) = connected else {
        return Err(TargetError::unreachable(format!(
            "oracle: {context}: the account has no password verifier of 12c; allow such (SQLNET.ALLOWED_LOGON_VERSION_SERVER=12) and \
             set the password again with ALTER USER {} IDENTIFIED BY …",
            access.user
        )));
    };
    let connection = connected.map_err(|error| {
        let mut refused = explain(&context, &error);
        // Whatever keeps the first session out, nothing can be measured.
        refused.kind = ErrorKind::Unreachable;
        if number_of(&error) == Some(1017) {
            refused.message.push_str(&access.doubt());
        }
        refused
    })?;
    let entry = socket.map(|socket| OpenSession::over(access.owner, &socket));
    Ok((connection, entry))
}
