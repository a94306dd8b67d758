//! The kernel's page cache under data files.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{Advice, fadvise};

use crate::Cooled;

/// Part of a file that is mapped at once to count its pages.
const WINDOW_BYTES: usize = 1 << 30;

/// Writes a file's dirty pages out and asks the kernel to forget all its pages.
///
/// Needs no rights beyond reading the file. Pages that another process has mapped stay.
///
/// # Errors
/// When the file cannot be opened or synced, or the file system refuses the advice.
pub fn forget_cached_pages(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    // Dirty pages cannot be dropped, so they are written first.
    file.sync_all()?;
    forget_clean_pages(&file)
}

/// Asks the kernel to forget the pages of a file that are on its device.
///
/// # Errors
/// When the file system refuses the advice.
pub fn forget_clean_pages(file: &File) -> io::Result<()> {
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// The same, with the proof: what stays makes it lukewarm.
///
/// # Errors
/// As [`forget_cached_pages`].
pub fn cool(path: &Path) -> io::Result<Cooled> {
    forget_cached_pages(path)?;
    Ok(match cached_bytes(&File::open(path)?)? {
        0 => Cooled::Cold,
        bytes => Cooled::Lukewarm(format!(
            "{} KiB of {} are still in the page cache",
            bytes >> 10,
            path.display()
        )),
    })
}

/// How much of a file is in the page cache.
///
/// # Errors
/// When it cannot be mapped.
pub fn cached_bytes(file: &File) -> io::Result<u64> {
    let page_bytes = rustix::param::page_size();
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut pages = 0;
    let mut begin = 0;
    while begin < length {
        let window = WINDOW_BYTES.min(length - begin);
        let mut resident = vec![0_u8; window.div_ceil(page_bytes)];
        // SAFETY: a new mapping that nobody reads through; the vector has a byte for each of its pages.
        let code = unsafe {
            let address = libc::mmap(
                std::ptr::null_mut(),
                window,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                begin as libc::off_t,
            );
            if address == libc::MAP_FAILED {
                return Err(io::Error::last_os_error());
            }
            let code = libc::mincore(address, window, resident.as_mut_ptr());
            libc::munmap(address, window);
            code
        };
        if code != 0 {
            return Err(io::Error::last_os_error());
        }
        pages += resident.iter().filter(|page| **page & 1 == 1).count();
        begin += window;
    }
    Ok((pages * page_bytes) as u64)
}
