//! From start to end, and nothing behind.

use std::path::Path;

use engine::Cooled;

use super::common::*;

#[test]
fn a_server_starts_answers_restarts_and_leaves_nothing() {
    for kind in kinds() {
        let parent = Parent::new();
        let server = parent.start(kind, "").unwrap();
        let pid = server.pid().unwrap();
        assert_ne!(uid_of(pid), 0, "{} runs as root", kind.about().title);
        // Ctrl-C on the terminal is not for it: it has a session of its own.
        // SAFETY: the call touches no memory.
        assert_eq!(unsafe { libc::getsid(pid as i32) }, pid as i32);
        assert_eq!(ask(&server, "SELECT 1 + 1"), "2");
        assert!(server.socket_path().exists());
        assert!(server.notes(1).is_empty(), "{:?}", server.notes(1));

        server.restart().unwrap();
        assert!(!is_running(pid));
        assert_eq!(ask(&server, "SELECT 2 + 1"), "3");

        server.stop().unwrap();
        assert_eq!(server.pid(), None);
        assert!(server.check_alive().is_err());
        server.restart().unwrap();
        let pid = server.pid().unwrap();
        drop(server);
        assert!(!is_running(pid));
        assert!(parent.runs().is_empty());
    }
}

#[test]
fn two_servers_at_once_do_not_collide() {
    for kind in kinds() {
        let parent = Parent::new();
        let (one, two) = std::thread::scope(|scope| {
            let two = scope.spawn(|| parent.start(kind, "").unwrap());
            (parent.start(kind, "").unwrap(), two.join().unwrap())
        });
        assert_ne!(one.socket_path(), two.socket_path());
        assert_eq!(parent.runs().len(), 2);
        // The thread that started it has ended, the server must not have.
        assert_eq!(ask(&two, "SELECT 1"), "1");
        drop(one);
        assert_eq!(ask(&two, "SELECT 1"), "1");
        drop(two);
        assert!(parent.runs().is_empty());
    }
}

#[test]
fn a_cold_start_keeps_the_data_and_forgets_its_pages() {
    for kind in kinds() {
        let parent = Parent::new();
        let server = parent.start(kind, "").unwrap();
        let set_up = "CREATE SCHEMA s; CREATE TABLE s.t (a INT); INSERT INTO s.t VALUES (7)";
        ask(&server, set_up);
        assert_eq!(server.cool().unwrap(), Cooled::Cold);
        assert_eq!(ask(&server, "SELECT a FROM s.t"), "7");
    }
}

#[test]
fn it_listens_on_its_socket_only() {
    for kind in kinds() {
        let parent = Parent::new();
        let server = parent.start(kind, "").unwrap();
        let pid = server.pid().unwrap();
        // Sockets of the process that are listed among those of the network.
        let links = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
        let inodes: Vec<String> = links
            .flatten()
            .filter_map(|fd| std::fs::read_link(fd.path()).ok())
            .filter_map(|link| {
                let name = link.to_str()?.strip_prefix("socket:[")?;
                Some(name.strip_suffix(']')?.to_owned())
            })
            .collect();
        assert!(
            !inodes.is_empty(),
            "{} has no socket at all",
            kind.about().title
        );
        for table in ["tcp", "tcp6"] {
            let text = std::fs::read_to_string(Path::new("/proc/net").join(table)).unwrap();
            for line in text.lines().skip(1) {
                let inode = line.split_whitespace().nth(9).unwrap();
                assert!(
                    !inodes.iter().any(|ours| ours == inode),
                    "{}: {line}",
                    kind.about().title
                );
            }
        }
    }
}
