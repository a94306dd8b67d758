//! The inventory of a machine, compared with published advice.

use std::path::{Path, PathBuf};

use anyhow::Result;
use host::inventory::{
    Changed, Document, changed_rows, difference, inventory, sections, stated_section,
};
use host::lint::{findings, lint};
use host::{Remote, SshAddress};

use crate::arguments::check::CheckArguments;
use crate::command::{load_run, stated};
use crate::exit::{InvalidInput, invalid};

/// A longer file is no inventory.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// The inventory of the machine with these directories, or of the one that is named with its address.
pub(super) fn show(
    arguments: &CheckArguments,
    root: &Path,
    archive: &Option<PathBuf>,
) -> Result<String> {
    let stated = stated(arguments.platform.as_deref())?;
    let remote = match &arguments.server.ssh {
        Some(text) => {
            let address = SshAddress::parse(text)?;
            Some(Remote::connect(&address)?)
        }
        None => None,
    };
    let root = remote.as_ref().map_or(root, Remote::root);
    let found = inventory(root)?;
    let document = Document { found, stated };
    let changed = match &arguments.against {
        Some(name) => Some(changed(name, &document, root, archive)?),
        None => None,
    };
    let lint = lint(&document.found, &document.stated);
    if arguments.is_json() {
        return Ok(document.to_json(&lint, changed.as_deref()));
    }
    let mut text = sections(&document.found);
    text.push_str(&stated_section(&document.stated));
    if let (Some(rows), Some(name)) = (&changed, &arguments.against) {
        text.push_str(&changed_rows(rows, name));
        text.push('\n');
    }
    text.push_str(&findings(&lint));
    Ok(text)
}

/// An inventory is compared completely, a run by its basic facts.
fn changed(
    name: &str,
    document: &Document,
    root: &Path,
    archive: &Option<PathBuf>,
) -> Result<Vec<Changed>> {
    let path = Path::new(name);
    if path.is_file() {
        let before = Document::parse(name, &read(path)?)?;
        return Ok(document.changed_since(&before));
    }
    if name.ends_with(".json") {
        return invalid(format!(
            "there is no file {name}; create one with `dbdyno check --inventory --format json`, or name a run"
        ));
    }
    let run = load_run(name, archive)?;
    Ok(difference(&run.platform, &host::facts(root)))
}

fn read(path: &Path) -> Result<String> {
    let unreadable = |what: String| {
        InvalidInput(format!(
            "{} cannot be read ({what}); use a file that `dbdyno check --inventory --format json` wrote",
            path.display()
        ))
    };
    Ok(::archive::read_text(path, FILE_BYTES_MAX).map_err(|e| unreadable(e.to_string()))?)
}
