//! A page, which is a file that grows by whole lines.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::PagesError;

#[derive(Debug)]
pub(super) struct Page {
    path: PathBuf,
    file: File,
}

impl Page {
    pub fn create(folder: &Path, name: &str) -> Result<Self, PagesError> {
        let path = folder.join(format!("{name}.html"));
        // The pages of an earlier run were removed with the folder, so an existing file is somebody else's.
        let file = File::create_new(&path).map_err(|reason| PagesError {
            reason: match reason.kind() {
                io::ErrorKind::AlreadyExists => io::Error::other(
                    "it already exists and is not a page of dbdyno; move it, or give another folder with -o",
                ),
                _ => reason,
            },
            path: path.clone(),
        })?;
        let mut page = Self { path, file };
        let folder = super::names::escaped(&folder.display().to_string());
        page.write(&format!(
            "<title>Vdbench {folder}/{name}.html</title><pre>\n"
        ))?;
        Ok(page)
    }

    /// Appends text, which is in the file when this returns.
    pub fn write(&mut self, text: &str) -> Result<(), PagesError> {
        self.file
            .write_all(text.as_bytes())
            .map_err(|reason| PagesError {
                path: self.path.clone(),
                reason,
            })
    }
}
