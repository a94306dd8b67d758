//! Histograms of a storage array's own monitoring: `--array`.

use std::io::ErrorKind;
use std::path::Path;

use ::archive::{Run, array};
use anyhow::Result;

use crate::exit::InvalidInput;

const FILE_BYTES_MAX: u64 = 16 << 20;

/// Attaches each file, given as `[RUN=]FILE`, to its run, by default to the first one.
pub fn attach(arguments: &[String], runs: &mut [&mut Run]) -> Result<()> {
    for argument in arguments {
        let named = argument.split_once('=').and_then(|(name, file)| {
            let is_it = |run: &&mut Run| run.label == name || run.id.to_string() == name;
            Some((runs.iter().position(is_it)?, file))
        });
        let (index, file) = named.unwrap_or((0, argument));
        let Some(run) = runs.get_mut(index) else {
            continue;
        };
        let text = read(Path::new(file))?;
        let name = Path::new(file).file_name().unwrap_or_default();
        array::attach(run, &name.to_string_lossy(), &text)
            .map_err(|error| InvalidInput(format!("{file}: {error}")))?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    let cannot = || format!("{} cannot be read", path.display());
    ::archive::read_text(path, FILE_BYTES_MAX).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => InvalidInput(format!("{}: {error}", cannot())).into(),
        _ => anyhow::Error::new(error).context(cannot()),
    })
}
