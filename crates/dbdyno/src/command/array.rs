//! Histograms of a storage array's own reporter beside runs: `--array`.

use std::io::ErrorKind;
use std::path::Path;

use ::archive::{Run, array};
use anyhow::Result;

use crate::exit::InvalidInput;

/// Largest file that is read.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Sets the files beside the runs that they name, each as `[RUN=]FILE`; without a run beside the first one.
pub fn attach(asked: &[String], runs: &mut [&mut Run]) -> Result<()> {
    for asked in asked {
        let named = asked.split_once('=').and_then(|(name, file)| {
            let is_it = |run: &&mut Run| run.label == name || run.id.to_string() == name;
            Some((runs.iter().position(is_it)?, file))
        });
        let (place, file) = named.unwrap_or((0, asked));
        let Some(run) = runs.get_mut(place) else {
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
