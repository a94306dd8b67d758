//! Asks a server to cancel the statement of a session: over a connection of its own, which says nothing else. It has TLS
//! where the session has: who reads the secret can cancel statements.

use std::time::{Duration, Instant};

use super::secure;
use crate::endpoint::Endpoint;

/// Stands where the version of the protocol would be.
const CANCEL: u32 = 80_877_102;
const BYTES: u32 = 16;

/// A cancellation of the statement of the session with this process and secret, as far as the server takes it.
pub(super) fn of(
    endpoint: &Endpoint,
    process: i32,
    secret: u32,
) -> impl Fn(Duration) + Send + Sync + use<> {
    let endpoint = endpoint.clone();
    move |patience| {
        let deadline = Instant::now() + patience;
        let Ok((mut stream, _)) = secure::connect(&endpoint, deadline) else {
            return;
        };
        let words = [BYTES, CANCEL, process as u32, secret];
        let request: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        // It closes the connection when the signal is sent; more than that it never says.
        if stream.set_timeout(Some(patience)).is_ok() && stream.try_write(&request, true).is_ok() {
            let _ = stream.try_read(&mut [0], true);
        }
    }
}
