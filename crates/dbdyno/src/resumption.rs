//! The command that resumes an interrupted run or study. Errors and the handler of signals name it, so that it can be copied as it stands.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static ARCHIVE: OnceLock<PathBuf> = OnceLock::new();
static STUDY: OnceLock<Study> = OnceLock::new();

struct Study {
    name: String,
    /// Options that have to be repeated.
    options: Vec<String>,
}

/// Adds the archive that was named on the command line. Only the first call counts.
pub fn set_archive(path: &Path) {
    ARCHIVE.get_or_init(|| path.to_owned());
}

/// Lets a study be resumed in place of the run that was interrupted. Only the first call counts.
pub fn set_study(name: &str, options: Vec<String>) {
    STUDY.get_or_init(|| Study {
        name: name.to_owned(),
        options,
    });
}

/// The command, given the verb and name of the interrupted run or study.
pub fn command(verb: &str, label: &str) -> String {
    command_of(
        verb,
        label,
        STUDY.get(),
        ARCHIVE.get().map(PathBuf::as_path),
    )
}

fn command_of(verb: &str, label: &str, study: Option<&Study>, archive: Option<&Path>) -> String {
    let (verb, name, options) = match study {
        Some(study) => ("study", study.name.as_str(), study.options.as_slice()),
        None => (verb, label, &[][..]),
    };
    let archive = archive.map(|path| ["--archive".to_owned(), path.display().to_string()]);
    let options = options.iter().chain(archive.iter().flatten());
    let options: String = options.map(|word| format!(" {}", quoted(word))).collect();
    format!("dbdyno {verb} --resume {}{options}", quoted(name))
}

/// The text as one word of a shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_typed_as_it_is_printed() {
        assert_eq!(command_of("ab", "s", None, None), "dbdyno ab --resume s");
        assert_eq!(
            command_of("run", "it's", None, Some(Path::new("my results.dbdyno"))),
            r"dbdyno run --resume 'it'\''s' --archive 'my results.dbdyno'"
        );
        let study = Study {
            name: "array".into(),
            options: ["--change", "swap the cache"].map(str::to_owned).to_vec(),
        };
        assert_eq!(
            command_of("run", "array-before", Some(&study), None),
            "dbdyno study --resume array --change 'swap the cache'"
        );
    }
}
