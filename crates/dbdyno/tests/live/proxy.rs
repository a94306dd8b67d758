//! A proxy between a browser and the server of the live page: it breaks the first stream of events, and the page sends its text to it after
//! the run.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// A browser without any output for this long hangs.
const TIME_MAX: Duration = Duration::from_secs(120);

/// Sends the page's text when the run is over and drawn.
const SEND_SCRIPT: &str = "<script>const send = () => {\
    if (document.body.dataset.over && document.getElementById('state').textContent === 'complete')\
      fetch('/text', {method: 'POST', body: document.body.innerText});\
    else setTimeout(send, 50) }; send()</script>";

pub struct Proxy {
    address: SocketAddr,
    cut: Receiver<()>,
    text: Receiver<String>,
    came_back: Arc<AtomicBool>,
}

#[derive(Clone)]
struct Shared {
    server: SocketAddr,
    /// Number of events before the first stream is cut.
    cut_after: usize,
    streams: Arc<AtomicUsize>,
    came_back: Arc<AtomicBool>,
    cut: Sender<()>,
    text: Sender<String>,
}

impl Proxy {
    pub fn start(server: SocketAddr, cut_after: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (cut_sender, cut) = channel();
        let (text_sender, text) = channel();
        let came_back = Arc::new(AtomicBool::new(false));
        let shared = Shared {
            server,
            cut_after,
            streams: Arc::default(),
            came_back: Arc::clone(&came_back),
            cut: cut_sender,
            text: text_sender,
        };
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = shared.clone();
                // A browser may hang up at any time.
                std::thread::spawn(move || shared.serve(stream.unwrap()));
            }
        });
        Self {
            address,
            cut,
            text,
            came_back,
        }
    }

    pub fn link(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub fn wait_until_cut(&mut self) {
        self.cut.recv_timeout(TIME_MAX).expect("no browser came");
    }

    pub fn wait_for_text(&mut self) -> String {
        let text = self.text.recv_timeout(TIME_MAX);
        text.expect("the page did not come to the end of the run")
    }

    /// True if a later stream was requested from the last received event on.
    pub fn came_back_with_an_id(&self) -> bool {
        self.came_back.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn serve(&self, browser: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(browser.try_clone()?);
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 || line == "\r\n" {
                break;
            }
            head.push(line);
        }
        let first = head.first().map(String::as_str).unwrap_or_default();
        match first.split(' ').nth(1).unwrap_or_default() {
            "/" => self.page(browser),
            "/events" => self.events(browser, &head),
            "/text" => {
                let length = value(&head, "content-length").and_then(|v| v.parse().ok());
                let mut body = vec![0; length.unwrap_or(0)];
                reader.read_exact(&mut body)?;
                let _ = self.text.send(String::from_utf8_lossy(&body).into_owned());
                (&browser).write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
            }
            _ => (&browser).write_all(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n"),
        }
    }

    fn ask(&self, path: &str, more: &str) -> std::io::Result<TcpStream> {
        let mut server = TcpStream::connect(self.server)?;
        write!(
            server,
            "GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n"
        )?;
        Ok(server)
    }

    /// The page without its policy, which would forbid the added script.
    fn page(&self, mut browser: TcpStream) -> std::io::Result<()> {
        let mut text = String::new();
        self.ask("/", "")?.read_to_string(&mut text)?;
        let (_, page) = text.split_once("\r\n\r\n").unwrap_or_default();
        let page = page.replace("</html>", &format!("{SEND_SCRIPT}</html>"));
        write!(
            browser,
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
            page.len()
        )
    }

    fn events(&self, mut browser: TcpStream, head: &[String]) -> std::io::Result<()> {
        let is_first = self.streams.fetch_add(1, Ordering::SeqCst) == 0;
        let last = value(head, "last-event-id");
        if !is_first && last.is_some() {
            self.came_back.store(true, Ordering::SeqCst);
        }
        let more = last.map(|id| format!("Last-Event-ID: {id}\r\n"));
        let server = self.ask("/events", &more.unwrap_or_default())?;
        let mut sent = 0;
        for line in BufReader::new(server).lines() {
            let line = line?;
            writeln!(browser, "{line}")?;
            // An event ends with an empty line.
            sent += usize::from(line.starts_with("data: "));
            if is_first && sent == self.cut_after && line.is_empty() {
                browser.shutdown(std::net::Shutdown::Both)?;
                let _ = self.cut.send(());
                return Ok(());
            }
        }
        Ok(())
    }
}

fn value<'h>(head: &'h [String], name: &str) -> Option<&'h str> {
    let mut pairs = head.iter().filter_map(|line| line.split_once(':'));
    let found = pairs.find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.trim())
}
