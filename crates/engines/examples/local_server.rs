//! Starts a local server and keeps it until its standard input ends.
//!
//! ```text
//! cargo run --release -p engines --example local_server -- postgres '?version=15&memory=1GiB'
//! ```
//!
//! The second word is what would stand behind the scheme of a target's URL. The first line of its output
//! is the server's process, its socket and its directory.

use std::io::{Read, Write};
use std::process::ExitCode;

use engine::Result;
use local_server::{LocalServer, ServerKind};

const KINDS: [&dyn ServerKind; 3] = [
    &postgres::local::PostgresServer,
    &mysql::local::MARIADB,
    &mysql::local::MYSQL,
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let name = words.first().map_or("", String::as_str);
    let Some(kind) = KINDS.into_iter().find(|kind| kind.about().name == name) else {
        eprintln!(
            "local_server: name a kind of server, postgres, mariadb or mysql, and what its URL says"
        );
        return ExitCode::from(2);
    };
    match keep(kind, words.get(1).map_or("", String::as_str)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("local_server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn keep(kind: &'static dyn ServerKind, rest: &str) -> Result<()> {
    let url = format!("{}+local:{rest}", kind.about().name);
    let url = engines::parse(&url).map_err(|e| engine::TargetError::statement(e.to_string()))?;
    let server = LocalServer::start_for(kind, &url)?;
    println!(
        "{} {} {}",
        server.pid().unwrap_or_default(),
        server.socket_path().display(),
        server.data_directory().display()
    );
    // Nobody to tell, and nobody who waits: both mean that the server may go.
    let _ = std::io::stdout().flush();
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    Ok(())
}
