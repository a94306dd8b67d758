//! A socket to the server, with TLS where that is asked for.

use std::time::{Duration, Instant};

use crate::endpoint::Endpoint;
use crate::explain::{no_tls, unreachable};
use crate::wire::Wire;
use engine::Result;
use net::stream::{Stream, time_left};
use net::tls::Secured;

/// A server that does not answer a knock for so long is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Knocks at the server, and begins TLS before `deadline`.
pub(super) fn connect(endpoint: &Endpoint, deadline: Instant) -> Result<(Stream, Option<Secured>)> {
    let place = endpoint.place();
    let away = |error| unreachable(&place, &error);
    let stream = endpoint.connect(time_left(deadline).min(CONNECT_TIMEOUT));
    let mut stream = stream.map_err(away)?;
    stream
        .set_timeout(Some(time_left(deadline)))
        .map_err(away)?;
    let Some(client) = &endpoint.tls else {
        return Ok((stream, None));
    };
    if !endpoint.is_tls_direct && !is_tls_given(&mut stream, client.is_optional, &place)? {
        return Ok((stream, None));
    }
    let secured = stream.secure(client, &endpoint.host, deadline);
    let secured =
        secured.map_err(|error| no_tls(&place, client.is_optional, &error.to_string()))?;
    Ok((stream, Some(secured)))
}

/// Asks for TLS, and makes sure that the server says nothing more. A server without TLS is taken where it `is_optional`.
fn is_tls_given(stream: &mut Stream, is_optional: bool, place: &str) -> Result<bool> {
    let broken = |error| unreachable(place, &error);
    let mut wire = Wire::default();
    wire.ask_for_tls();
    stream.send(&mut wire, true).map_err(broken)?;
    let refused = |why: &str| -> Result<bool> { Err(no_tls(place, is_optional, why)) };
    // More than the answer would be somebody's who wants it taken for what the server says within TLS (CVE-2021-23222).
    // Later bytes meet the handshake, which fails on them.
    let mut answer = [0; 2];
    match stream.try_read(&mut answer, true).map_err(broken)? {
        0 => refused("the server closed the connection when asked for TLS"),
        1 => match answer[0] {
            b'S' => Ok(true),
            b'N' if is_optional => Ok(false),
            b'N' => refused(
                "the server does not support TLS, or somebody on the way says so; turn it on there (ssl = on), and check that \
                 it is the right server",
            ),
            // Its words are nobody's in particular: not shown.
            b'E' => refused("the server answered the request for TLS with an error; see its log"),
            _ => refused(
                "the server answered the request for TLS with something that is not PostgreSQL's protocol; check host and port",
            ),
        },
        _ => refused(
            "unencrypted bytes followed the answer to the request for TLS; somebody on the way may have put them there",
        ),
    }
}
