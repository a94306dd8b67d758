//! Settings by which a local server runs programs, loads libraries, or reads and writes files.

use engine::TargetUrl;

/// How the names of such settings end, in all servers.
const ENDINGS: &str = "_command _cmd command _library _libraries _provider _load _load_add _path _dir _directory _file datadir tmpdir basedir include \
     include_if_exists init_connect";

/// The settings of a local server's URL that make it do more than serve: run a program, load a library, use files by
/// their names. Rather too many than too few.
pub fn executed(url: &TargetUrl) -> Vec<&str> {
    let is_executed = |(key, value): (&String, &String)| {
        let key = key.to_ascii_lowercase().replace('-', "_");
        ENDINGS.split(' ').any(|ending| key.ends_with(ending)) || value.contains('/')
    };
    let settings = url.settings.iter();
    settings
        .filter(|(key, value)| is_executed((key, value)))
        .map(|(key, _)| key.as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_executes_is_told_from_what_only_sizes() {
        let of = |settings: &str| {
            let url = engine::Engines(&[])
                .parse(&format!("postgres+local:?{settings}"))
                .unwrap();
            let found: Vec<String> = executed(&url).into_iter().map(str::to_owned).collect();
            found
        };
        for key in [
            "archive_command",
            "restore_command",
            "archive_cleanup_command",
            "recovery_end_command",
            "ssl_passphrase_command",
            "basebackup_to_shell.command",
            "archive_library",
            "shared_preload_libraries",
            "session_preload_libraries",
            "jit_provider",
            "dynamic_library_path",
            "include_dir",
            "include",
            "plugin-load-add",
            "plugin_load",
            "loose_plugin-dir",
            "init-file",
            "wsrep_notify_cmd",
            "wsrep_provider",
            "general_log_file",
        ] {
            assert_eq!(of(&format!("{key}=x&shared_buffers=1GB")), [key], "{key}");
        }
        assert_eq!(of("odd=/etc/x"), ["odd"]);
        let harmless =
            "version=15&memory=2GiB&archive_mode=on&innodb_buffer_pool_size=1G&work_mem=4MB";
        assert_eq!(of(harmless), Vec::<String>::new());
    }
}
