//! Inspects a server without creating, setting or locking anything.

use super::access::{Access, refuse_servers_own};
use super::client::Client;
use super::flavour::{Flavour, plain_version};
use super::limits::{Limits, is_read_only};
use super::overrides::set_up_first;
use super::rights::Grants;
use super::session_settings::try_settings;
use super::target::lacks;
use super::{facts, guard, name, watch};
use engine::Result;
use engine::inspection::{ClockOffset, Gap, Inspection, OwnPlace, PlaceState, RoundTrip};
use engine::session_settings::SessionSettings;

/// Logs in as a run would and looks around.
pub(super) fn inspect(
    access: &Access,
    session: &SessionSettings,
    others_allowed: bool,
) -> Result<Inspection> {
    let (mut client, flavour, version) = guard::connect(access)?;
    let client = &mut client;
    let replaced = set_up_first(client, flavour, access.writes_anyway)?;
    guard::refuse_proxy(client, access)?;
    let mut found = Inspection {
        engine: flavour.title.into(),
        version: plain_version(&version),
        protection: Some(client.protection()),
        rules: flavour.rules,
        sessions_left: facts::sessions_left(client)?,
        round_trip: Some(RoundTrip::measure(|| client.read("SELECT 1").map(drop))?),
        clock: clock(client)?,
        settings: facts::settings(client, flavour)?,
        data: facts::variable(client, "datadir")?,
        ..Inspection::default()
    };
    let account = guard::account(client)?;
    found.replaced = replaced;
    found.read_only = is_read_only(client, flavour, access.writes_anyway)?;
    let is_read_only = found.read_only.is_some();
    let grants = Grants::of(client)?;
    found.rights = grants.rights(
        flavour,
        &account,
        &access.database,
        others_allowed,
        is_read_only,
        !watch::is_denied(client),
    );
    let mut limits = Limits::default();
    if !is_read_only {
        found.place = Some(place(&mut found, client, access)?);
        let lifted = Limits::of(client, flavour);
        limits = found.refuse(lifted)?.unwrap_or_default();
        found.replaced.append(&mut limits.replaced);
    }
    if grants.is_superuser() {
        found
            .notes
            .push(advice(flavour, &account, &access.database));
    }
    found.user = Some(account);
    if !others_allowed {
        let alone = guard::refuse_busy(client, access);
        found.refuse(alone)?;
    }
    if guard::is_locked(client, access)? {
        found.obstacles.push(guard::locked(access).message);
    }
    if facts::variable(client, "local_infile")?.as_deref() == Some("OFF") {
        found.obstacles.push(
            "local_infile is OFF, but bulk loads need it (LOAD DATA LOCAL INFILE); set local_infile = ON on the server".into(),
        );
    }
    if !session.is_empty() {
        // They end with this connection.
        let taken = try_settings(client, flavour, session);
        found.refuse(taken)?;
    }
    found.lack(|feature| lacks(flavour, &limits, feature));
    found.lack_what_own_servers_have();
    if facts::variable(client, "performance_schema")?.as_deref() == Some("OFF") {
        found.gaps.push(Gap {
            what: "waits of sessions for data files".into(),
            why: "performance_schema is OFF".into(),
            remedy: Some("start the server with performance_schema = ON".into()),
        });
    }
    Ok(found)
}

fn clock(client: &mut Client) -> Result<Option<ClockOffset>> {
    ClockOffset::measure(|| {
        // The server's moment does not depend on the session's time zone.
        let told = client.read_one("SELECT unix_timestamp(sysdate(6))")?;
        let seconds: Option<f64> = told.and_then(|text| text.parse().ok());
        Ok(seconds.map(|seconds| (seconds * 1e6).round() as i64))
    })
}

/// The database of dbdyno's tables; somebody else's is an obstacle.
fn place(found: &mut Inspection, client: &mut Client, access: &Access) -> Result<OwnPlace> {
    let own = refuse_servers_own(&access.database);
    let own = own.and_then(|()| guard::refuse_foreign(client, access));
    let state = match found.refuse(own)? {
        None => PlaceState::Foreign,
        Some(()) => match guard::is_there(client, &access.database)? {
            // Not even an empty one says who made it.
            true => PlaceState::Usable,
            false => PlaceState::Absent,
        },
    };
    Ok(OwnPlace {
        name: format!("database \"{}\"", access.database),
        state,
    })
}

fn advice(flavour: Flavour, account: &str, database: &str) -> String {
    let checkpoint = flavour.checkpoint_right();
    let database = name::identifier(database);
    format!(
        "{account} has all privileges, which dbdyno does not need; this is enough: CREATE USER bench@'%' IDENTIFIED BY '…'; \
         GRANT ALL ON {database}.* TO bench@'%'; GRANT {checkpoint}, PROCESS ON *.* TO bench@'%'; GRANT SELECT ON \
         performance_schema.* TO bench@'%'"
    )
}
