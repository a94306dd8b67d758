//! Inspects a server without creating, setting or locking anything for longer than a look.

use std::sync::Arc;

use super::client::Client;
use super::guard::{self, Surroundings};
use super::session_settings::try_settings;
use super::target::{RULES, TITLE, lacks, privileges};
use super::{facts, overrides};
use crate::access::Access;
use engine::Result;
use engine::inspection::{ClockOffset, Inspection, OwnPlace, PlaceState, RoundTrip};
use engine::plain::days_from;
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
        // As text: a cast to DATE rounds to seconds.
        let sql =
            "SELECT to_char(sys_extract_utc(systimestamp), 'YYYY-MM-DD HH24:MI:SS.FF6') FROM dual";
        let found = client.text(sql).ok().flatten();
        Ok(found.and_then(|text| microseconds(&text)))
    })
}

/// Microseconds since 1970 of "2026-01-31 12:34:56.123456".
fn microseconds(text: &str) -> Option<i64> {
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    let numbers: Option<Vec<i64>> = numbers.map(|number| number.parse().ok()).collect();
    let [year, month, day, hour, minute, second, micros] = numbers?[..] else {
        return None;
    };
    let seconds = days_from(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(seconds * 1_000_000 + micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_clock_is_read_to_the_microsecond() {
        let us = microseconds("2026-01-31 12:34:56.123456");
        assert_eq!(us, Some(1_769_862_896_123_456));
        assert_eq!(microseconds("2026-01-31"), None);
    }
}
