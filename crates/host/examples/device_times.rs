//! Cost of timing a device's requests and of cutting them into intervals:
//!
//! ```sh
//! cargo run --release -p host --example device_times -- FILE SECONDS
//! ```
//!
//! Writes blocks of 4 KiB to a new file, each past the page cache, and prints requests, the program's time for each,
//! and the processor time of the sampler with and without intervals. Needs root.

use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use archive::Purpose;
use host::{HostWatch, Sampler, SamplerOptions, Stack};

/// A buffer whose address the device takes.
#[repr(align(4096))]
struct Block([u8; 4096]);

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let file = PathBuf::from(arguments.next().ok_or("FILE SECONDS")?);
    let seconds: f64 = arguments.next().ok_or("FILE SECONDS")?.parse()?;
    let length = Duration::from_secs_f64(seconds);
    let (stack, _) = Stack::of(&[(Purpose::Data, file.clone())])?;
    println!("devices: {}", stack.names().join(", "));

    let sampler = Sampler::start(SamplerOptions {
        devices: stack.clone(),
        ..SamplerOptions::default()
    })?;
    let mark = sampler.mark();
    work(&file, length)?;
    let without = sampler.finish(mark);
    drop(sampler);
    let watch = HostWatch::here(Duration::from_secs(1), Ok(stack))?;
    let mark = watch.mark(Err("nobody asks"));
    let mut done = Ok(());
    let cost = watch.requests()?.cost_ns(|| done = work(&file, length))?;
    done?;
    let with = watch.finish(mark);
    std::fs::remove_file(&file)?;

    let requests: u64 = with
        .devices
        .iter()
        .filter_map(|d| d.writes)
        .map(|w| w.count)
        .sum();
    println!(
        "{requests} writes, {} runs of the program, {:.0} ns each",
        cost.0, cost.1
    );
    let share = |used: &host::HostUse| 100.0 * used.sampler_cpu_s / used.rates.elapsed_s;
    println!(
        "sampler: {:.3} % of a processor without intervals of requests, {:.3} % with them",
        share(&without),
        share(&with)
    );
    for device in &with.devices {
        println!("{}: {} intervals", device.name, device.samples.len() / 3);
    }
    Ok(())
}

fn work(file: &Path, length: Duration) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .create(true)
        .custom_flags(libc::O_DIRECT);
    let file = options.open(file)?;
    let block = Box::new(Block([7; 4096]));
    let begun = Instant::now();
    for number in 0.. {
        if begun.elapsed() >= length {
            break;
        }
        file.write_all_at(&block.0, number % 4096 * 4096)?;
    }
    Ok(())
}
