//! Facts about a local server that are archived with its settings.

use super::{LocalServer, process};

impl LocalServer {
    /// Its program, its user, the memory it is held to, and what a reader of its figures should know.
    pub fn about(&self) -> Vec<(String, String)> {
        let mut about = vec![
            (
                "dbdyno.program".to_owned(),
                self.program().display().to_string(),
            ),
            ("dbdyno.os_user".to_owned(), self.os_user().to_owned()),
        ];
        if let Some(bytes) = self.memory_limit_bytes() {
            about.push(("dbdyno.memory_bytes".into(), bytes.to_string()));
        }
        if let Some(library) = process::preloaded() {
            let library = library.to_string_lossy().into_owned();
            about.push(("dbdyno.preload".into(), library));
        }
        let notes = self.notes(self.sessions());
        if !notes.is_empty() {
            about.push(("dbdyno.notes".into(), notes.join("; ")));
        }
        about
    }
}
