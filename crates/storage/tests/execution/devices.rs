//! Lists on block devices.

use storage::execution::Completion;

use super::Place;
use super::loop_device::LoopDevice;

const MIB: u64 = 1 << 20;

/// A device of 16 MiB.
fn device(place: &Place) -> LoopDevice {
    place.file("backing", 16 * MIB);
    LoopDevice::over(&place.path("backing")).unwrap()
}

/// Each run asks for the device for itself, and gets it although the one before has just ended.
#[test]
fn a_list_of_writes_goes_over_a_device_again_and_again() {
    let place = Place::new();
    let device = device(&place);
    let text = format!(
        "sd=sd1,lun={},openflags=o_direct\nwd=wd1,sd=sd1,rdpct=0,seekpct=eof,xf=64k\n\
         rd=rd1,wd=wd1,iorate=max,elapsed=60,forthreads=(1,8,32,8)\n",
        device.path().display()
    );
    for _ in 0..3 {
        let played = place.play(&format!("loop=3\n{text}"));
        assert_eq!(played.ended.unwrap(), Completion::Whole);
        assert_eq!(played.onlooker.done.len(), 3 * 4);
    }
}
