//! MariaDB's part: how its data directory is made, and its own settings.

use std::path::PathBuf;

use archive::Purpose;

use local_server::{Installation, ServerAbout, Signals, Version};

use super::{InnoDbServer, RESERVED, base, configured};

/// How many files hold undo; 0 by default before version 11.
const UNDO_TABLESPACES: &str = "innodb_undo_tablespaces";

pub static MARIADB: InnoDbServer = InnoDbServer {
    about: &ServerAbout {
        title: "MariaDB",
        name: "mariadb",
        variable: "MARIADB_BIN",
        how_to_get_it: "no server is installed; run `make mariadb`, install one (on Debian: apt-get install \
                        mariadb-server-core), or name the directory of its programs in $MARIADB_BIN",
        accounts: &["mysql"],
        superuser: "root",
        reserved: RESERVED,
        places: &[Purpose::Log, Purpose::Temporary, Purpose::Undo],
        signals: Signals {
            stop: libc::SIGTERM,
            // One process without shared memory: nothing is left behind when it is killed.
            abandon: libc::SIGKILL,
        },
    },
    programs: &["mariadbd", "mysqld"],
    is_of_kind: |installation| {
        installation.title.contains("MariaDB") && installer(installation).is_some()
    },
    executes: &[
        "../bin/mariadb-install-db",
        "../scripts/mariadb-install-db",
        "mariadb-install-db",
    ],
    cached: "mariadb",
    defaults: &[
        // Tells nobody that it is here, where the plugin is built in.
        ("loose_feedback", "OFF"),
        // Errors go to their sessions; the log stays small.
        ("log_warnings", "1"),
    ],
    log_setting: "innodb_log_file_size",
    // 216 MiB were measured, most of it the performance schema's.
    memory_base_bytes: 256 << 20,
    initialise: |layout| {
        let fallback = || {
            layout
                .installation
                .server
                .with_file_name("mariadb-install-db")
        };
        let program = installer(&layout.installation).unwrap_or_else(fallback);
        let mut command = configured(&program, layout);
        command
            .arg(format!("--datadir={}", layout.data.display()))
            // Only dbdyno's user can enter the socket's directory.
            .arg("--auth-root-authentication-method=normal")
            .args(["--skip-test-db", "--skip-name-resolve"]);
        command
    },
    places: |layout, settings| {
        // Without table spaces of its own, undo lies with the data.
        let has_undo = layout.place(Purpose::Undo).is_some();
        let undo = (has_undo && !settings.contains_key(UNDO_TABLESPACES))
            .then(|| (UNDO_TABLESPACES, "3".to_owned()));
        undo.into_iter().collect()
    },
    version_of_data: |data| {
        let text = std::fs::read_to_string(data.join("mysql_upgrade_info")).ok()?;
        Version::find_in(&text)
    },
};

/// The script that makes a data directory, beside the server or in the `bin` beside its `sbin`.
fn installer(installation: &Installation) -> Option<PathBuf> {
    let base = base(installation)?;
    ["bin", "scripts", "sbin"]
        .iter()
        .flat_map(|d| ["mariadb-install-db", "mysql_install_db"].map(|f| base.join(d).join(f)))
        .find(|path| path.is_file())
}
