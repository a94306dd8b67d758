//! The page, the events and the metrics over HTTP. One thread waits for viewers, and one serves each viewer: all
//! sleep while nothing happens.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::hub::Hub;

const PAGE: &str = include_str!("page.html");
const VIEWERS_MAX: usize = 32;
const HEAD_MAX: u64 = 8 << 10;
/// A viewer that reads nothing for this time, or does not finish its request, is dropped.
const PATIENCE: Duration = Duration::from_secs(5);
/// Interval of heartbeats, which show that a viewer has gone.
const HEARTBEAT: Duration = Duration::from_secs(10);
const PORT: u16 = 7411;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address(pub SocketAddr);

impl Default for Address {
    fn default() -> Self {
        Self(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)))
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let whole = || text.parse::<SocketAddr>().ok();
        let address = || Some(SocketAddr::new(text.parse::<IpAddr>().ok()?, PORT));
        let port = || Some(SocketAddr::from((Ipv4Addr::LOCALHOST, text.parse().ok()?)));
        let found = whole().or_else(address).or_else(port);
        found
            .map(Self)
            .ok_or_else(|| "expected PORT, IP or IP:PORT, such as 7411 or 0.0.0.0:7411".to_owned())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    #[error(
        "the live page cannot be served at {address} ({why}); choose another one with --live=IP:PORT, or --live=0 for any free port"
    )]
    Listen { address: SocketAddr, why: String },
    /// No random numbers are available for the link.
    #[error(
        "the link of the live page needs random numbers, and /dev/urandom cannot be read ({0})"
    )]
    Random(std::io::Error),
    #[error("the thread of the live page cannot be started ({0})")]
    Thread(std::io::Error),
}

#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    hub: Arc<Hub>,
    /// Token that a link must contain; `None` on loopback.
    token: Option<String>,
    /// Distinguishes the events of this process from those of another one at the same address.
    origin: String,
    patience: Duration,
    viewers: AtomicUsize,
    is_over: AtomicBool,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Server {
    /// Listens at an address. Fails if it is taken, or does not belong to this machine.
    pub fn start(hub: Arc<Hub>, address: Address) -> Result<Self, LiveError> {
        Self::with_patience(hub, address, PATIENCE)
    }

    /// As [`Server::start`], with another limit for viewers that do not read.
    pub fn with_patience(
        hub: Arc<Hub>,
        Address(address): Address,
        patience: Duration,
    ) -> Result<Self, LiveError> {
        let refused = |error: std::io::Error| LiveError::Listen {
            address,
            why: match error.kind() {
                ErrorKind::AddrInUse => "the port is in use".into(),
                _ => error.to_string(),
            },
        };
        let listener = TcpListener::bind(address).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let is_near = address.ip().is_loopback();
        let shared = Arc::new(Shared {
            hub,
            token: (!is_near)
                .then(random)
                .transpose()
                .map_err(LiveError::Random)?,
            origin: random().map_err(LiveError::Random)?[..8].to_owned(),
            patience,
            viewers: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            threads: Mutex::default(),
        });
        let thread = std::thread::Builder::new().name("live".into()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.accept(&listener)
        });
        Ok(Self {
            shared,
            address,
            thread: Some(thread.map_err(LiveError::Thread)?),
        })
    }

    pub fn link(&self) -> String {
        let address = self.address;
        match &self.shared.token {
            Some(token) => format!("http://{address}/?token={token}"),
            None => format!("http://{address}/"),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    /// Viewers get the remaining events, as long as they read.
    fn drop(&mut self) {
        self.shared.hub.close();
        self.shared.is_over.store(true, Ordering::Release);
        // Wakes the thread; if the connection fails, it has ended.
        let near = if self.address.ip().is_unspecified() {
            SocketAddr::from((Ipv4Addr::LOCALHOST, self.address.port()))
        } else {
            self.address
        };
        let _ = TcpStream::connect_timeout(&near, Duration::from_secs(1));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let threads = std::mem::take(&mut *lock(&self.shared.threads));
        // A thread that panicked has printed the reason.
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            if self.is_over.load(Ordering::Acquire) {
                return;
            }
            let Ok(stream) = stream else {
                // Without descriptors, an immediate retry would fail as well.
                std::thread::sleep(Duration::from_millis(100));
                continue;
            };
            if self.viewers.fetch_add(1, Ordering::AcqRel) >= VIEWERS_MAX {
                self.viewers.fetch_sub(1, Ordering::AcqRel);
                continue;
            }
            let shared = Arc::clone(self);
            let viewer = std::thread::Builder::new().name("viewer".into());
            let spawned = viewer.spawn(move || {
                // A viewer that has gone away is no error.
                let _ = shared.answer(&stream);
                shared.viewers.fetch_sub(1, Ordering::AcqRel);
            });
            match spawned {
                Ok(thread) => {
                    let mut threads = lock(&self.threads);
                    threads.retain(|thread| !thread.is_finished());
                    threads.push(thread);
                }
                Err(_) => {
                    self.viewers.fetch_sub(1, Ordering::AcqRel);
                }
            }
        }
    }

    fn answer(&self, stream: &TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(self.patience))?;
        stream.set_write_timeout(Some(self.patience))?;
        stream.set_nodelay(true)?;
        let request = Request::read(stream)?;
        let mut out = stream;
        if request.method != "GET" {
            return respond(
                &mut out,
                "405 Method Not Allowed",
                "text/plain",
                "only GET\n",
            );
        }
        if !self.is_allowed(&request) {
            let why = "this page needs the link that dbdyno printed\n";
            return respond(&mut out, "403 Forbidden", "text/plain", why);
        }
        match request.path.as_str() {
            "/" => respond(&mut out, "200 OK", "text/html", PAGE),
            "/events" => self.stream(&mut out, request.last_event.as_deref()),
            "/metrics" => {
                let kind = "application/openmetrics-text; version=1.0.0";
                respond(&mut out, "200 OK", kind, &self.hub.metrics())
            }
            _ => respond(&mut out, "404 Not Found", "text/plain", "no such page\n"),
        }
    }

    /// Outside loopback the token counts. On loopback the host name does, so that a foreign page whose name was made
    /// to lead here cannot read.
    fn is_allowed(&self, request: &Request) -> bool {
        match &self.token {
            Some(token) => request.token.as_deref() == Some(token),
            None => {
                let host = request.host.as_deref().unwrap_or_default();
                let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
                let ip = name.trim_matches(['[', ']']).parse::<IpAddr>();
                name == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
            }
        }
    }

    fn stream(&self, out: &mut &TcpStream, last_event: Option<&str>) -> std::io::Result<()> {
        write!(
            out,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{HEADERS}Connection: close\r\n\r\nretry: 1000\n\n"
        )?;
        let number = last_event.and_then(|id| id.strip_prefix(&self.origin)?.strip_prefix('-'));
        let mut last = number.and_then(|n| n.parse().ok()).unwrap_or(0);
        while let Some(events) = self.hub.wait(last, HEARTBEAT) {
            let mut text = String::new();
            for (number, json) in events {
                last = number;
                text.push_str(&format!("id: {}-{number}\ndata: {json}\n\n", self.origin));
            }
            if text.is_empty() {
                text.push_str(": nothing new\n\n");
            }
            if let Err(error) = out.write_all(text.as_bytes()) {
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) {
                    self.hub.drop_viewer();
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

const HEADERS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
    Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; frame-ancestors 'none'\r\n";

fn respond(out: &mut &TcpStream, status: &str, kind: &str, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(
        out,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {length}\r\n{HEADERS}Connection: close\r\n\r\n{body}"
    )
}

struct Request {
    method: String,
    path: String,
    token: Option<String>,
    host: Option<String>,
    last_event: Option<String>,
}

impl Request {
    fn read(stream: &TcpStream) -> std::io::Result<Self> {
        let mut lines = BufReader::new(stream.take(HEAD_MAX)).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        let mut words = first.split(' ');
        let method = words.next().unwrap_or_default().to_owned();
        let target = words.next().unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut token = query
            .split('&')
            .filter_map(|pair| pair.strip_prefix("token="));
        let mut request = Self {
            method,
            path: path.to_owned(),
            token: token.next().map(str::to_owned),
            host: None,
            last_event: None,
        };
        for line in lines {
            let line = line?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            let value = Some(value.trim().to_owned());
            match name.to_ascii_lowercase().as_str() {
                "host" => request.host = value,
                "last-event-id" => request.last_event = value,
                _ => {}
            }
        }
        Ok(request)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn random() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let shown = |text: &str| text.parse::<Address>().map(|a| a.0.to_string());
        assert_eq!(shown("8080").unwrap(), "127.0.0.1:8080");
        assert_eq!(shown("0.0.0.0").unwrap(), "0.0.0.0:7411");
        assert_eq!(shown("[::1]:99").unwrap(), "[::1]:99");
        assert!(shown("here:1").unwrap_err().contains("IP:PORT"));
        assert_eq!(Address::default().0.to_string(), "127.0.0.1:7411");
    }
}
