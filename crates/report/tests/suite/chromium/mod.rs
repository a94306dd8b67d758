//! A headless Chromium for tests: pictures, printed pages, the parsed document, the log of requests.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest time for a page, even on a loaded machine.
const TIME_MAX: Duration = Duration::from_secs(600);

/// A browser with a temporary profile and a folder for its output.
pub struct Chromium {
    folder: tempfile::TempDir,
}

pub struct Open(std::process::Child);

impl Drop for Open {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<[u8; 3]>,
}

impl Chromium {
    pub fn new() -> Self {
        let program = program();
        assert!(
            Path::new(&program).exists(),
            "{program} is not there; get it with `apt-get install chromium-headless-shell`, or name another one in $CHROMIUM"
        );
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Writes a file next to the profile and returns its path.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A picture of the top of a page.
    pub fn picture(&self, page: &Path, size: (u32, u32), more: &[&str]) -> Picture {
        let png = self.folder.path().join("picture.png");
        let _ = std::fs::remove_file(&png);
        let mut options = vec![
            format!("--screenshot={}", png.display()),
            format!("--window-size={},{}", size.0, size.1),
            "--hide-scrollbars".to_owned(),
        ];
        options.extend(more.iter().map(|o| (*o).to_owned()));
        self.run(page, &options);
        keep(&png, page, more);
        Picture::read(&png)
    }

    pub fn pdf(&self, page: &Path) -> Vec<u8> {
        let pdf = self.folder.path().join("page.pdf");
        let options = [
            format!("--print-to-pdf={}", pdf.display()),
            "--no-pdf-header-footer".to_owned(),
        ];
        self.run(page, &options);
        keep(&pdf, page, &[]);
        std::fs::read(&pdf).expect("Chromium wrote no PDF")
    }

    /// The document after its scripts have run.
    pub fn document(&self, page: &Path) -> String {
        self.run(
            page,
            &[
                "--dump-dom".to_owned(),
                "--virtual-time-budget=3000".to_owned(),
            ],
        )
    }

    /// Addresses that the page requested from the network. Requests of the browser itself carry "not an origin" as their initiator and are
    /// left out.
    pub fn requests(&self, page: &Path) -> Vec<String> {
        let log = self.folder.path().join("net.json");
        self.run(
            page,
            &[
                format!("--log-net-log={}", log.display()),
                "--dump-dom".to_owned(),
            ],
        );
        let text = std::fs::read_to_string(&log).expect("Chromium wrote no log of the network");
        let log: serde_json::Value = serde_json::from_str(&text).unwrap();
        let started = &log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"];
        assert!(started.is_number(), "the log knows no requests");
        let events = log["events"].as_array().unwrap();
        events
            .iter()
            .filter(|e| &e["type"] == started && e["params"]["url"].is_string())
            .filter(|e| e["params"]["initiator"] != "not an origin")
            .filter_map(|e| e["params"]["url"].as_str().map(str::to_owned))
            .filter(|url| !url.starts_with("file:") && !url.starts_with("data:"))
            .collect()
    }

    /// Opens an address until the returned value is dropped.
    pub fn open(&self, address: &str) -> Open {
        let mut command = self.command();
        // Without a task the browser would end at once.
        command.arg("--remote-debugging-port=0").arg(address);
        command.stdout(Stdio::null());
        Open(command.spawn().unwrap())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(program());
        command
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
            ])
            .arg(format!(
                "--user-data-dir={}",
                self.folder.path().join("profile").display()
            ))
            .stderr(Stdio::null());
        command
    }

    fn run(&self, page: &Path, options: &[String]) -> String {
        let out = self.folder.path().join("stdout");
        let mut child = self
            .command()
            .args(options)
            .arg(format!("file://{}", page.display()))
            .stdout(std::fs::File::create(&out).unwrap())
            .spawn()
            .unwrap();
        let started = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success(), "Chromium ended with {status}");
                return std::fs::read_to_string(&out).unwrap();
            }
            if started.elapsed() > TIME_MAX {
                let _ = child.kill();
                let _ = child.wait();
                panic!("Chromium did not finish {} in {TIME_MAX:?}", page.display());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The build without windows, which draws the same pages with less than half of the CPU time; else the usual one. The script of that name
/// in /usr/bin is avoided, because killing it leaves the browser running.
fn program() -> String {
    const USUAL: &str = "/usr/bin/chromium";
    const WITHOUT_WINDOWS: &str = "/usr/lib/chromium/chromium-headless-shell";
    std::env::var("CHROMIUM").unwrap_or_else(|_| {
        let is_there = Path::new(WITHOUT_WINDOWS).exists();
        if is_there { WITHOUT_WINDOWS } else { USUAL }.to_owned()
    })
}

/// Copies the output and the page into $REPORT_PICTURES for inspection.
fn keep(made: &Path, page: &Path, options: &[&str]) {
    if let Ok(folder) = std::env::var("REPORT_PICTURES") {
        let stem = page.file_stem().unwrap().to_string_lossy().into_owned();
        let dark = if options.is_empty() { "" } else { "-dark" };
        let end = made.extension().unwrap().to_string_lossy().into_owned();
        std::fs::copy(page, Path::new(&folder).join(format!("{stem}.html"))).unwrap();
        std::fs::copy(made, Path::new(&folder).join(format!("{stem}{dark}.{end}"))).unwrap();
    }
}

impl Picture {
    fn read(path: &Path) -> Self {
        let file = std::fs::File::open(path).expect("Chromium made no picture");
        let mut reader = png::Decoder::new(std::io::BufReader::new(file))
            .read_info()
            .unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        let channels = info.color_type.samples();
        Self {
            width: info.width as usize,
            height: info.height as usize,
            pixels: bytes[..info.buffer_size()]
                .chunks_exact(channels)
                .map(|p| [p[0], p[1], p[2]])
                .collect(),
        }
    }

    pub fn count(&self, colour: [u8; 3]) -> usize {
        self.pixels.iter().filter(|p| **p == colour).count()
    }

    /// Share of pixels that are not the colour of the corner.
    pub fn inked(&self) -> f64 {
        let paper = self.pixels[0];
        let inked = self.pixels.iter().filter(|p| **p != paper).count();
        inked as f64 / self.pixels.len() as f64
    }
}
