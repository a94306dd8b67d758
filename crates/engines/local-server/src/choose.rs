//! The choice among the servers that are installed.

use super::find::{Installation, Version};
use super::kind::ServerKind;
use engine::{ErrorKind, Result, TargetError};

/// The installation to use: of the version asked for, or of the one that made the data, else the first.
pub fn choose(
    kind: &dyn ServerKind,
    found: Vec<Installation>,
    asked: Option<&str>,
    data: Option<&Version>,
) -> Result<Installation> {
    let not_installed = |message| Err(TargetError::new(ErrorKind::NotInstalled, message));
    if found.is_empty() {
        return not_installed(format!(
            "{}: {}",
            kind.about().title,
            kind.about().how_to_get_it
        ));
    }
    let wanted = match asked {
        None => data.cloned(),
        Some(text) => Some(Version::find_in(text).ok_or_else(|| {
            let message =
                format!("version={text} is not a version; write, for example, version=15");
            TargetError::statement(message)
        })?),
    };
    if let (Some(asked), Some(data), Some(wanted)) = (asked, data, &wanted)
        && !wanted.is(data)
        && !data.is(wanted)
    {
        return Err(TargetError::foreign(format!(
            "the data directory was created by version {data} of {}, and version {asked} must not open it; remove \
             version=, or name another directory",
            kind.about().title
        )));
    }
    let versions: Vec<String> = found.iter().map(|i| i.version.to_string()).collect();
    let matching = found
        .into_iter()
        .filter(|i| wanted.as_ref().is_none_or(|wanted| i.version.is(wanted)));
    // Of several that match a version asked for the newest; without one the first place counts.
    let chosen = match asked {
        Some(_) => matching.max_by(|a, b| a.version.cmp(&b.version)),
        None => matching.into_iter().next(),
    };
    match (chosen, wanted) {
        (Some(chosen), _) => Ok(chosen),
        (None, Some(wanted)) => not_installed(format!(
            "{} {wanted} is not among the installed servers ({}); install it, or name the directory of its programs in ${}",
            kind.about().title,
            versions.join(", "),
            kind.about().variable,
        )),
        (None, None) => not_installed(kind.about().how_to_get_it.to_owned()),
    }
}
