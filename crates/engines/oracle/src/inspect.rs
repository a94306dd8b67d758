//! Inspects a server without creating, setting or locking anything for longer than a look.

use std::sync::Arc;

use super::access::Access;
use super::client::Client;
use super::guard::{self, Surroundings};
use super::session_settings::try_settings;
use super::target::{RULES, TITLE, lacks, privileges};
use super::{facts, overrides};
use engine::Result;
use engine::inspection::{ClockOffset, Inspection, OwnPlace, PlaceState, RoundTrip};
use engine::session_settings::SessionSettings;

/// Logs in as a run would and looks around.
pub(super) fn inspect(
    access: &Arc<Access>,
    session: &SessionSettings,
    others_allowed: bool,
) -> Result<Inspection> {
    let mut client = Client::connect(access, false)?;
    let client = &mut client;
    guard::refuse_old(&client.version())?;
    let surroundings = Surroundings::of(client)?;
    let privileges = privileges(client, access)?;
    let mut found = Inspection {
        engine: TITLE.into(),
        version: client.version(),
        user: Some(access.schema()),
        protection: Some(access.protection()),
        rules: RULES,
        sessions_left: facts::sessions_left(client)?,
        round_trip: Some(RoundTrip::measure(|| {
            client.texts("SELECT 1 FROM dual").map(drop)
        })?),
        clock: clock(client)?,
        settings: facts::settings(client)?,
        read_only: surroundings.read_only(),
        replaced: overrides::OVERRIDES
            .iter()
            .map(|of| of.over(None))
            .collect(),
        ..Inspection::default()
    };
    let is_read_only = found.read_only.is_some();
    found.rights = privileges.rights(is_read_only);
    found.refuse(surroundings.refuse_root(access))?;
    if !is_read_only {
        let own = guard::refuse_foreign(client, access);
        let state = match found.refuse(own)? {
            None => PlaceState::Foreign,
            Some(()) => PlaceState::Usable,
        };
        found.place = Some(OwnPlace {
            name: format!("schema {}", access.schema()),
            state,
        });
    }
    if !surroundings.has_all_letters() {
        found.notes.push(format!(
            "the database's character set is {}, which loses letters that it does not have; dbdyno's own data are ASCII, and texts of \
             others need a database created with AL32UTF8",
            surroundings.characters
        ));
    }
    if !others_allowed {
        let alone = guard::refuse_busy(client, access);
        found.refuse(alone)?;
    }
    if guard::is_locked(client, &access.schema())? {
        found.obstacles.push(guard::locked(access).message);
    }
    if !session.is_empty() {
        // They end with this connection.
        let taken = try_settings(client, session);
        found.refuse(taken)?;
    }
    found.lack(|feature| lacks(&privileges, feature));
    found.lack_what_own_servers_have();
    Ok(found)
}

fn clock(client: &mut Client) -> Result<Option<ClockOffset>> {
    ClockOffset::measure(|| {
        // Days since 1970 and seconds of the day, by the server's clock in UTC.
        let found = client.text(
            "SELECT (CAST(sys_extract_utc(systimestamp) AS DATE) - DATE '1970-01-01') * 86400000000 \
             + to_number(to_char(systimestamp, 'FF6')) FROM dual",
        );
        let found = found.ok().flatten();
        Ok(found.and_then(|text| text.split('.').next()?.parse().ok()))
    })
}
