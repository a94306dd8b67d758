//! A server with stopped processes.

use local_server::LocalServer;

pub fn signal(process: u32, signal: i32) {
    // SAFETY: the number is that of a process that this test started.
    assert_eq!(unsafe { libc::kill(process as i32, signal) }, 0);
}

/// All processes of a server, stopped until this is dropped.
pub struct Stopped(Vec<u32>);

impl Stopped {
    pub fn all_of(server: &LocalServer) -> Self {
        let first = server.pid().unwrap();
        let mut all = vec![first];
        let mut stopped = 0;
        // The first one is stopped first, so that it starts no other.
        while stopped < all.len() {
            signal(all[stopped], libc::SIGSTOP);
            stopped += 1;
            all.extend(
                children_of(first)
                    .into_iter()
                    .filter(|c| !all.contains(c))
                    .collect::<Vec<_>>(),
            );
        }
        Self(all)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for process in &self.0 {
            // SAFETY: as above; a process that has ended does no harm.
            unsafe { libc::kill(*process as i32, libc::SIGCONT) };
        }
    }
}

fn children_of(parent: u32) -> Vec<u32> {
    let tasks = format!("/proc/{parent}/task/{parent}/children");
    let children = std::fs::read_to_string(tasks).unwrap();
    let children = children.split_whitespace();
    children.map(|child| child.parse().unwrap()).collect()
}
