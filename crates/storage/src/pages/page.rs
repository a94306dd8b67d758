//! One page.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::PagesError;

/// A file that grows by whole lines.
#[derive(Debug)]
pub(super) struct Page {
    path: PathBuf,
    file: File,
}

impl Page {
    /// A new page, with its beginning.
    pub fn create(folder: &Path, name: &str) -> Result<Self, PagesError> {
        let path = folder.join(format!("{name}.html"));
        let file = File::create(&path).map_err(|reason| PagesError {
            path: path.clone(),
            reason,
        })?;
        let mut page = Self { path, file };
        let folder = super::names::escaped(&folder.display().to_string());
        page.write(&format!(
            "<title>Vdbench {folder}/{name}.html</title><pre>\n"
        ))?;
        Ok(page)
    }

    /// Adds text, which is in the file when this returns.
    pub fn write(&mut self, text: &str) -> Result<(), PagesError> {
        self.file
            .write_all(text.as_bytes())
            .map_err(|reason| PagesError {
                path: self.path.clone(),
                reason,
            })
    }
}
