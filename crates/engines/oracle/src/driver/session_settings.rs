//! Settings of a URL in the sessions of Oracle.

use engine::Result;
use engine::session_settings::{SessionSettings, not_in_force, not_taken, of_the_server};

use super::client::Client;
use super::facts::parameter;
use super::overrides::assignment;

/// ORA-02095 and ORA-02096: of the instance as a whole.
const OF_THE_INSTANCE: &[&str] = &["ORA-02095", "ORA-02096"];

/// Sets each setting of a URL, and gives the values as the server writes them; a value that the server does not show is as it was
/// given.
pub(super) fn try_settings(
    client: &mut Client,
    wanted: &SessionSettings,
) -> Result<SessionSettings> {
    let mut in_force = SessionSettings::new();
    for (name, value) in wanted {
        if let Err(error) = client.begin_with(assignment(name, value)) {
            if OF_THE_INSTANCE
                .iter()
                .any(|number| error.message.contains(number))
            {
                let why = "it is a parameter of the instance, which all sessions share";
                return Err(of_the_server("Oracle", name, why));
            }
            return Err(not_taken(name, value, error));
        }
        let found = parameter(client, name)?.unwrap_or_else(|| value.clone());
        if !found.eq_ignore_ascii_case(value) {
            return Err(not_in_force("Oracle", name, value, &found));
        }
        in_force.insert(name.clone(), found);
    }
    Ok(in_force)
}

/// Sets what [`try_settings`] gave.
pub(super) fn set_settings(client: &mut Client, settings: &SessionSettings) -> Result<()> {
    settings
        .iter()
        .try_for_each(|(name, value)| client.begin_with(assignment(name, value)))
}
