//! MySQL's part: how its data directory is made, and its own settings.

use archive::Purpose;

use local_server::{Apart, ServerAbout, Signals, Version};

use super::{InnoDbServer, RESERVED, base, configured, shown};

/// The log while the data directory is made: the server makes all files of a larger one at once.
const LOG_AT_FIRST: &str = "--innodb-redo-log-capacity=8M";

pub static MYSQL: InnoDbServer = InnoDbServer {
    about: &ServerAbout {
        title: "MySQL",
        name: "mysql",
        variable: "MYSQL_BIN",
        how_to_get_it: "no server is installed; run `make mysql`, which unpacks one of Debian's unstable suite, or name the \
                        directory of its programs in $MYSQL_BIN",
        accounts: &["mysql"],
        superuser: "root",
        reserved: RESERVED,
        places: &[Purpose::Log, Purpose::Temporary, Purpose::Undo],
        signals: Signals {
            stop: libc::SIGTERM,
            abandon: libc::SIGKILL,
        },
    },
    programs: &["mysqld"],
    is_of_kind: |installation| !installation.title.contains("MariaDB"),
    executes: &["../libexec/mysqld", "../lib/loader/mysqld"],
    cached: "mysql",
    defaults: &[
        // As on MariaDB, where it is off unless it is asked for.
        ("disable_log_bin", "ON"),
        ("mysqlx", "OFF"),
    ],
    log_setting: "innodb_redo_log_capacity",
    // 528 MiB were measured on 9.7 with room for 576 sessions, most of it the performance schema's.
    memory_base_bytes: 560 << 20,
    initialise: |layout| {
        let mut command = configured(&layout.installation.server, layout);
        // Only dbdyno's user can enter the socket's directory.
        command.args(["--initialize-insecure", LOG_AT_FIRST]);
        command
    },
    places: |layout, _| {
        // A package's server looks for them where the package would be installed.
        let base = base(&layout.installation);
        let below = [
            ("lc_messages_dir", "share/mysql"),
            ("character_sets_dir", "share/mysql/charsets"),
            ("plugin_dir", "lib/mysql/plugin"),
        ];
        let below = below.into_iter().filter_map(|(key, place)| {
            let place = base?.join(place);
            place.is_dir().then(|| (key, shown(&place)))
        });
        // Tables are made in directories that the server knows, and in no others.
        let tables = layout.places.iter().filter_map(|(of, place)| match of {
            Apart::Table(_) => Some(shown(place)),
            Apart::Kind(_) => None,
        });
        let tables: Vec<String> = tables.collect();
        let known = (!tables.is_empty()).then(|| ("innodb_directories", tables.join(";")));
        let no_files = ("secure_file_priv", "NULL".to_owned());
        below.chain(known).chain([no_files]).collect()
    },
    version_of_data: |data| {
        let history = std::fs::read_to_string(data.join("mysql_upgrade_history")).ok()?;
        let (_, last) = history.rsplit_once("\"version\":\"")?;
        Version::find_in(last)
    },
};
