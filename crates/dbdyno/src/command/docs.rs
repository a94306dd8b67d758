//! `dbdyno docs`: where the documents are, manual pages and completion scripts.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::CommandFactory;
use clap_complete::Shell;

use crate::arguments::{Arguments, DocsVerb};
use crate::command::print;
use crate::exit::Status;
use crate::output;

/// Beginning of every manual page of dbdyno.
const TITLE: &[u8] = b".TH dbdyno";

const LOCATION: &str = "The documents are in the package, at share/doc/dbdyno/book/index.html; in a clone, `make docs` builds them.
They are not online. `dbdyno VERB --help` has every option.
";

pub fn docs(verb: Option<&DocsVerb>) -> Result<Status> {
    match verb {
        None => print(LOCATION)?,
        Some(DocsVerb::Completions { shell }) => completions(*shell)?,
        Some(DocsVerb::Man { directory }) => manual(directory)?,
    }
    Ok(Status::Fine)
}

fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "dbdyno", &mut script);
    print(&String::from_utf8_lossy(&script))
}

fn manual(directory: &Path) -> Result<()> {
    let write = || {
        std::fs::create_dir_all(directory)?;
        let made = tempfile::tempdir()?;
        clap_mangen::generate_to(Arguments::command(), made.path())?;
        for page in std::fs::read_dir(made.path())? {
            let page = page?;
            let path = directory.join(page.file_name());
            put(&path, &std::fs::read(page.path())?).with_context(|| path.display().to_string())?;
        }
        anyhow::Ok(())
    };
    write().with_context(|| {
        format!(
            "the manual pages cannot be written to {}",
            directory.display()
        )
    })
}

/// Writes a page, which may replace one of an earlier version.
fn put(path: &Path, page: &[u8]) -> Result<()> {
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        bail!("it is no file");
    }
    let is_page = |begin: &[u8]| begin.windows(TITLE.len()).any(|part| part == TITLE);
    let mut file = output::renew(path, is_page)?;
    file.write_all(page)?;
    Ok(file.sync_all()?)
}
