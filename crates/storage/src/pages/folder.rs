//! Folder of the pages.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{PagesError, stamp};

const DEFAULT: &str = "output";
/// Largest number in place of `+` in `DIR+`.
const COUNT_MAX: u32 = 999;
/// Ending of a folder to which the time of day is appended.
const TIME: &str = ".tod";
/// Beginning of every page; no other file is removed from a folder that is used again.
const PAGE_BEGINS: &[u8] = b"<title>Vdbench ";

/// Creates the requested folder, or takes an existing one and removes the pages of an earlier run.
pub fn folder(requested: Option<&str>, now: Timestamp) -> Result<PathBuf, PagesError> {
    let requested = requested.unwrap_or(DEFAULT);
    let path = if let Some(name) = requested.strip_suffix('+') {
        next_free(name)?
    } else if let Some(name) = requested.strip_suffix(TIME) {
        PathBuf::from(format!("{name}.{}", stamp::folder(now)))
    } else {
        PathBuf::from(requested)
    };
    let failed = |reason| PagesError {
        path: path.clone(),
        reason,
    };
    fs::create_dir_all(&path).map_err(failed)?;
    remove_pages(&path).map_err(failed)?;
    Ok(path)
}

/// The name of a requested folder without what makes it unique: `before` of `results/before.tod`.
#[must_use]
pub fn folder_name(requested: &str) -> Option<String> {
    let name = requested.strip_suffix('+').unwrap_or(requested);
    let name = Path::new(name.strip_suffix(TIME).unwrap_or(name)).file_name()?;
    Some(name.to_str()?.to_owned())
}

/// `DIR`, or the first of `DIR001`, `DIR002` … that does not exist.
fn next_free(name: &str) -> Result<PathBuf, PagesError> {
    let numbered = (1..=COUNT_MAX).map(|number| PathBuf::from(format!("{name}{number:03}")));
    let mut names = std::iter::once(PathBuf::from(name)).chain(numbered);
    names.find(|path| !path.exists()).ok_or_else(|| PagesError {
        path: PathBuf::from(name),
        reason: io::Error::other(format!("{COUNT_MAX} folders of this name already exist")),
    })
}

fn remove_pages(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_html = path
            .extension()
            .is_some_and(|extension| extension == "html");
        if is_html && path.is_file() && begins_as_page(&path)? {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn begins_as_page(path: &Path) -> io::Result<bool> {
    let mut beginning = Vec::with_capacity(PAGE_BEGINS.len());
    fs::File::open(path)?
        .take(PAGE_BEGINS.len() as u64)
        .read_to_end(&mut beginning)?;
    Ok(beginning == PAGE_BEGINS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(place: &Path, requested: &str) -> String {
        let now = "2026-11-20T23:32:08Z".parse().unwrap();
        let requested = place.join(requested).display().to_string();
        let path = folder(Some(&requested), now).unwrap();
        assert!(path.is_dir());
        path.strip_prefix(place).unwrap().display().to_string()
    }

    #[test]
    fn folders_count_on_or_take_the_time() {
        let place = tempfile::tempdir().unwrap();
        let names = ["out+", "out+", "out+", "out.tod", "out"]
            .map(|requested| made(place.path(), requested));
        assert_eq!(
            names,
            ["out", "out001", "out002", "out.261120.233208", "out"]
        );
    }

    #[test]
    fn the_name_of_a_folder_has_neither_number_nor_time() {
        for (requested, name) in [
            ("before.tod", Some("before")),
            ("results/before.tod", Some("before")),
            ("out.d+", Some("out.d")),
            ("out/", Some("out")),
            ("..", None),
        ] {
            assert_eq!(folder_name(requested).as_deref(), name, "{requested}");
        }
    }

    #[test]
    fn only_pages_of_an_earlier_run_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        fs::create_dir(&out).unwrap();
        for (name, text) in [
            ("summary.html", "<title>Vdbench output/summary.html</title>"),
            ("mine.html", "<title>Holiday</title>"),
            ("short.html", "<t"),
            ("notes.txt", "<title>Vdbench "),
        ] {
            fs::write(out.join(name), text).unwrap();
        }
        made(place.path(), "out");
        let left = ["summary.html", "mine.html", "short.html", "notes.txt"]
            .map(|name| out.join(name).exists());
        assert_eq!(left, [false, true, true, true]);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_reported() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("file"), "").unwrap();
        let requested = place.path().join("file/out").display().to_string();
        let error = folder(Some(&requested), Timestamp::UNIX_EPOCH)
            .unwrap_err()
            .to_string();
        assert!(error.contains("file/out cannot be written"), "{error}");
    }
}
