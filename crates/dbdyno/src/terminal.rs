//! The terminal while a view fills it: taken over, drawn on, read from, and put back in every case.
//!
//! Ctrl-C stays a signal, so that it ends a run also when nothing is drawn any more.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};
use std::time::Duration;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier};

/// The alternate screen, empty, without a cursor.
const TAKE: &[u8] = b"\x1b[?1049h\x1b[2J\x1b[?25l";
/// The screen as it was.
const PUT_BACK: &[u8] = b"\x1b[0m\x1b[?25h\x1b[?1049l";
/// No terminal is larger; one that says so would cost memory.
const CELLS_MAX: u16 = 1000;

/// Whether it is taken over, and by which descriptor; both for the signal handler.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
static DESCRIPTOR: AtomicI32 = AtomicI32::new(-1);
/// How it was before.
static BEFORE: AtomicPtr<libc::termios> = AtomicPtr::new(std::ptr::null_mut());

/// A terminal that is taken over, until it is dropped.
pub struct Terminal {
    file: File,
    drawn: Buffer,
    is_coloured: bool,
}

impl Terminal {
    /// Whether somebody at a terminal could see and end a view: standard error is one, and this is its job in the foreground.
    pub fn is_there() -> bool {
        io::stderr().is_terminal() && open().is_ok_and(|file| is_in_front(&file))
    }

    /// Takes the terminal over.
    ///
    /// # Errors
    /// When there is none, or it cannot be steered.
    pub fn take() -> io::Result<Self> {
        let file = open()?;
        match is_in_front(&file) {
            true => Self::take_over(file),
            false => Err(io::Error::other("the job is in the background")),
        }
    }

    fn take_over(mut file: File) -> io::Result<Self> {
        let before = attributes(&file)?;
        once_for_all();
        // What was there before is never freed: a handler may be reading it.
        BEFORE.store(Box::into_raw(Box::new(before)), Ordering::SeqCst);
        if DESCRIPTOR.load(Ordering::SeqCst) < 0 {
            // Never closed: a handler may be writing to it.
            DESCRIPTOR.store(file.try_clone()?.into_raw_fd(), Ordering::SeqCst);
        }
        set_attributes(&file, libc::TCSANOW, &without_lines(before))?;
        IS_TAKEN.store(true, Ordering::SeqCst);
        let taken = file.write_all(TAKE);
        let terminal = Self {
            file,
            drawn: Buffer::default(),
            is_coloured: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        };
        taken.map(|()| terminal)
    }

    /// Whether colours are wanted.
    pub fn is_coloured(&self) -> bool {
        self.is_coloured
    }

    /// Whether its size is another one than that of what was drawn.
    pub fn is_resized(&self) -> bool {
        self.area() != self.drawn.area
    }

    fn area(&self) -> Rect {
        // SAFETY: the structure is plain numbers, for which zeros are values.
        let mut size: libc::winsize = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open, and the request writes the structure that it is given.
        let said = unsafe { libc::ioctl(self.file.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
        match (said, size.ws_col, size.ws_row) {
            (0, columns @ 1.., rows @ 1..) => {
                Rect::new(0, 0, columns.min(CELLS_MAX), rows.min(CELLS_MAX))
            }
            _ => Rect::new(0, 0, 80, 24),
        }
    }

    /// Draws a screen; what is as it was is not sent again.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        if !IS_TAKEN.load(Ordering::SeqCst) {
            return Err(io::Error::other("a thread panicked"));
        }
        let area = self.area();
        let mut text = String::new();
        if area != self.drawn.area {
            self.drawn = Buffer::empty(area);
            text.push_str("\x1b[0m\x1b[2J");
        }
        let mut screen = Buffer::empty(area);
        draw(&mut screen);
        sequences(&mut text, &self.drawn, &screen);
        self.drawn = screen;
        self.file.write_all(text.as_bytes())
    }

    /// What was typed, waited for so long; nothing after a signal.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn typed(&mut self, longest: Duration) -> io::Result<Vec<u8>> {
        let mut asked = libc::pollfd {
            fd: self.file.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let longest_ms = longest.as_millis().min(60_000) as libc::c_int;
        // SAFETY: the call reads and writes the one structure that it is given.
        match unsafe { libc::poll(&raw mut asked, 1, longest_ms) } {
            0 => return Ok(Vec::new()),
            1.. if asked.revents & libc::POLLIN != 0 => {}
            1.. => return Err(io::Error::other("the terminal is gone")),
            _ => {
                let error = io::Error::last_os_error();
                return match error.kind() {
                    io::ErrorKind::Interrupted => Ok(Vec::new()),
                    _ => Err(error),
                };
            }
        }
        let mut bytes = vec![0; 256];
        let read = self.file.read(&mut bytes)?;
        bytes.truncate(read);
        match read {
            0 => Err(io::Error::other("the terminal is gone")),
            _ => Ok(bytes),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        put_back();
        // What was typed for the view is not for the shell.
        // SAFETY: the call takes two integers.
        unsafe { libc::tcflush(self.file.as_raw_fd(), libc::TCIFLUSH) };
    }
}

fn open() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open("/dev/tty")
}

/// Whether this job may write settings of its terminal without being stopped for it.
fn is_in_front(file: &File) -> bool {
    // SAFETY: both calls take and give integers.
    unsafe { libc::tcgetpgrp(file.as_raw_fd()) == libc::getpgrp() }
}

fn attributes(file: &File) -> io::Result<libc::termios> {
    // SAFETY: the structure is plain numbers, for which zeros are values.
    let mut found: libc::termios = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, and the call writes the structure that it is given.
    match unsafe { libc::tcgetattr(file.as_raw_fd(), &raw mut found) } {
        0 => Ok(found),
        _ => Err(io::Error::last_os_error()),
    }
}

fn set_attributes(file: &File, when: libc::c_int, to: &libc::termios) -> io::Result<()> {
    // SAFETY: the descriptor is open, and the call reads the structure that it is given.
    match unsafe { libc::tcsetattr(file.as_raw_fd(), when, to) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Keys come one by one and unseen. Signals stay, but for those that would leave the view on the screen.
fn without_lines(before: libc::termios) -> libc::termios {
    let mut set = before;
    set.c_lflag &= !(libc::ICANON | libc::ECHO | libc::IEXTEN);
    set.c_iflag &= !libc::IXON;
    set.c_cc[libc::VMIN] = 1;
    set.c_cc[libc::VTIME] = 0;
    // 0 is no character: Ctrl-Z and Ctrl-\ are.
    set.c_cc[libc::VSUSP] = 0;
    set.c_cc[libc::VQUIT] = 0;
    set
}

/// Puts the terminal back as it was, if it is taken over. Calls nothing that a signal handler may not.
extern "C" fn put_back() {
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let file = DESCRIPTOR.load(Ordering::SeqCst);
    let before = BEFORE.load(Ordering::SeqCst);
    // SAFETY: write touches only a text that stays; what came from a box is never freed nor changed, and the descriptor
    // is never closed.
    unsafe {
        libc::write(file, PUT_BACK.as_ptr().cast(), PUT_BACK.len());
        if !before.is_null() {
            libc::tcsetattr(file, libc::TCSANOW, before);
        }
    }
}

/// Whoever panics says so on the screen as it was, and so does a second Ctrl-C.
fn once_for_all() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: it calls write and tcsetattr alone, which are async-signal-safe, and loads and stores atomics.
        unsafe { lab::signal::at_once_after(put_back) };
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            put_back();
            before(panic);
        }));
    });
}

/// What turns one screen into the other.
fn sequences(text: &mut String, from: &Buffer, to: &Buffer) {
    let mut behind = None;
    let mut style = None;
    for (x, y, cell) in from.diff(to) {
        // Writing to a String cannot fail.
        if behind != Some((x, y)) {
            let _ = write!(text, "\x1b[{};{}H", y + 1, x + 1);
        }
        let wanted = (cell.fg, cell.modifier);
        if style != Some(wanted) {
            style = Some(wanted);
            text.push_str(&graphics(wanted));
        }
        text.push_str(cell.symbol());
        // Of a wide symbol nobody knows how wide the terminal draws it.
        behind = cell.symbol().is_ascii().then_some((x + 1, y));
    }
    if style.is_some() {
        text.push_str("\x1b[0m");
    }
}

fn graphics((colour, modifier): (Color, Modifier)) -> String {
    let mut codes = String::from("\x1b[0");
    let letters = [
        (Modifier::BOLD, ";1"),
        (Modifier::DIM, ";2"),
        (Modifier::REVERSED, ";7"),
    ];
    for (letter, code) in letters {
        if modifier.contains(letter) {
            codes.push_str(code);
        }
    }
    codes.push_str(match colour {
        Color::Red => ";31",
        Color::Green => ";32",
        Color::Yellow => ";33",
        Color::Blue => ";34",
        Color::Magenta => ";35",
        Color::Cyan => ";36",
        Color::Gray => ";37",
        _ => "",
    });
    codes.push('m');
    codes
}

#[cfg(test)]
mod tests {
    use std::os::fd::FromRawFd;

    use ratatui_core::style::Style;

    use super::*;

    #[test]
    fn whoever_panics_puts_the_terminal_back() {
        let (mut ours, mut its) = (-1, -1);
        let nothing = std::ptr::null_mut();
        // SAFETY: the call writes two integers and reads nothing.
        let opened = unsafe {
            let size = std::ptr::null();
            libc::openpty(&raw mut ours, &raw mut its, nothing, nothing.cast(), size)
        };
        assert_eq!(opened, 0);
        // SAFETY: both descriptors are new and nobody else's.
        let (mut ours, its) = unsafe { (File::from_raw_fd(ours), File::from_raw_fd(its)) };
        let local = |file: &File| attributes(file).unwrap().c_lflag;
        let before = local(&its);
        let mut terminal = Terminal::take_over(its.try_clone().unwrap()).unwrap();
        terminal.draw(|_| {}).unwrap();
        assert_eq!(
            local(&its),
            before & !(libc::ICANON | libc::ECHO | libc::IEXTEN)
        );
        let panicked = std::thread::spawn(|| panic!("on purpose, in a test")).join();
        assert!(panicked.is_err());
        assert_eq!(local(&its), before);
        // Nothing is drawn over what is there now.
        assert!(terminal.draw(|_| {}).is_err());
        drop(terminal);
        (&its).write_all(b"<end>").unwrap();
        let mut sent = Vec::new();
        while !sent.ends_with(b"<end>") {
            let mut bytes = [0; 64];
            let read = ours.read(&mut bytes).unwrap();
            sent.extend(&bytes[..read]);
        }
        sent.truncate(sent.len() - "<end>".len());
        let taken = sent
            .windows(PUT_BACK.len())
            .filter(|part| *part == PUT_BACK);
        assert_eq!(taken.count(), 1);
        assert!(sent.starts_with(TAKE) && sent.ends_with(PUT_BACK));
    }

    #[test]
    fn only_what_is_new_is_sent() {
        let area = Rect::new(0, 0, 9, 2);
        let empty = Buffer::empty(area);
        let mut screen = empty.clone();
        let red = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
        screen.set_string(2, 1, "ab", red);
        screen.set_string(4, 1, "c", Style::new());
        let sent = |from, to| {
            let mut text = String::new();
            sequences(&mut text, from, to);
            text
        };
        assert_eq!(
            sent(&empty, &screen),
            "\x1b[2;3H\x1b[0;1;31mab\x1b[0mc\x1b[0m"
        );
        assert_eq!(sent(&screen, &screen), "");
        assert_eq!(sent(&screen, &empty), "\x1b[2;3H\x1b[0m   \x1b[0m");
    }
}
