//! A slow connection between driver and server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Delay of a message: far more than a woken process waits for a processor.
pub const ONE_WAY: Duration = Duration::from_millis(60);

/// A port that forwards slowly to a socket.
pub fn long_way_to(socket: &Path) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let socket = socket.to_path_buf();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = UnixStream::connect(&socket).unwrap();
            client.set_nodelay(true).unwrap();
            let (back, there) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || carry(client, there));
            std::thread::spawn(move || carry(server, back));
        }
    });
    port
}

fn carry(mut from: impl Read, mut to: impl Write + Close) {
    let mut bytes = [0; 8192];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        std::thread::sleep(ONE_WAY);
        if to.write_all(&bytes[..n]).is_err() {
            break;
        }
    }
    to.close();
}

trait Close {
    fn close(&self);
}

impl Close for TcpStream {
    fn close(&self) {
        let _ = self.shutdown(std::net::Shutdown::Both);
    }
}

impl Close for UnixStream {
    fn close(&self) {
        let _ = self.shutdown(std::net::Shutdown::Both);
    }
}
