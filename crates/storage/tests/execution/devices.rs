use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;

use storage::execution::Completion;

use super::loop_device::LoopDevice;
use super::{Played, Workspace};
use testing::Says;

const MIB: u64 = 1 << 20;

fn device(place: &Workspace) -> Result<LoopDevice, String> {
    place.file("backing", 16 * MIB);
    LoopDevice::over(&place.path("backing"))
}

/// Each run finds the device free although the previous one has just ended.
#[test]
fn a_list_of_writes_goes_over_a_device_again_and_again() {
    let place = Workspace::new();
    let device = match device(&place) {
        Ok(device) => device,
        Err(reason) => testing::skip!("{reason}"),
    };
    let text = format!(
        "loop=3\nsd=sd1,lun={},openflags=o_direct\nwd=wd1,sd=sd1,rdpct=0,seekpct=eof,xf=64k\n\
         rd=rd1,wd=wd1,iorate=max,elapsed=60,forthreads=(1,8,32,8)\n",
        device.path().display()
    );
    for _ in 0..3 {
        let played = place.play(&text);
        assert_eq!(played.ended.unwrap(), Completion::Whole);
        assert_eq!(played.onlooker.done.len(), 3 * 4);
        // The device is free as soon as the list ends.
        let alone = std::fs::File::options()
            .read(true)
            .custom_flags(libc::O_EXCL)
            .open(device.path());
        assert!(alone.is_ok(), "{alone:?}");
    }
}

/// Asserts that an error of the second run is reported before the first one, which writes nothing.
fn refused_at_once(place: &Workspace, second_sd: &str, second_run: &str) -> String {
    place.file("first", MIB);
    let text = format!(
        "formatsds=no\nsd=sd1,lun=$dir/first\nsd=sd2,{second_sd}\n\
         rd=rd1,sd=sd1,rdpct=0,iorate=max,elapsed=2\nrd=rd2,sd=sd2,iorate=100,elapsed=2{second_run}\n"
    );
    let Played { ended, onlooker } = place.play(&text);
    assert!(onlooker.done.is_empty(), "{second_sd}: nothing is done");
    let first = std::fs::read(place.path("first")).unwrap();
    assert!(first.iter().all(|byte| *byte == 0), "{second_sd}");
    ended.unwrap_err().to_string()
}

#[test]
fn the_whole_list_is_checked_before_the_first_io() {
    let place = Workspace::new();
    std::fs::create_dir(place.path("folder")).unwrap();
    let fifo = std::ffi::CString::new(place.path("fifo").as_os_str().as_bytes()).unwrap();
    // SAFETY: a C string that outlives the call.
    assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
    std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    place.file("large", 4 * MIB);
    place.file("small", 6000);
    for (sd, run, said) in [
        ("lun=$dir/none", "", "does not exist"),
        ("lun=$dir/folder", "", "is a directory"),
        ("lun=$dir/fifo", "", "is a FIFO"),
        ("lun=$dir/socket", "", "is a socket"),
        ("lun=$dir/small", "", "less than two transfers"),
        ("lun=$dir/large,size=8m", "", "size= is 8388608"),
        (
            "lun=$dir/large,openflags=o_direct",
            ",xf=1000",
            "is not a multiple of",
        ),
        ("lun=$dir/large,threads=40000", "", "I/Os in flight"),
    ] {
        let message = refused_at_once(&place, sd, run);
        assert!(message.contains(said), "{sd}: {message}");
    }
}

/// A device in use is reported at once, although the list writes to it only in its second run.
#[test]
fn a_device_in_use_is_reported_before_the_first_io() {
    let place = Workspace::new();
    let device = match device(&place) {
        Ok(device) => device,
        Err(reason) => testing::skip!("{reason}"),
    };
    let mut alone = std::fs::File::options();
    let holder = alone.read(true).custom_flags(libc::O_EXCL);
    let _held = holder.open(device.path()).unwrap();
    let sd = format!("lun={},openflags=o_direct", device.path().display());
    let message = refused_at_once(&place, &sd, ",rdpct=0");
    assert!(message.contains("mounted or otherwise in use"), "{message}");
}

/// The files exceed the space of any machine, so nothing is created.
#[test]
fn files_that_there_is_no_room_for_are_not_begun() {
    let place = Workspace::new();
    let text = "sd=sd1,lun=$dir/f,size=900000t\nrd=rd1,sd=sd1,iorate=100,elapsed=2\n";
    let message = place.play(text).ended.unwrap_err().to_string();
    message.says_all(&["need 989560464998400000 bytes", "are free"]);
    assert!(!place.path("f").exists());
}
