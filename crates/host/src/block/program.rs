//! The kernel's part: a program that runs on the completion of each block request.
//!
//! It determines device, operation and size, and counts three times in their buckets: from insertion to completion,
//! from insertion to the issue to the device, and from issue to completion. Counts are per processor, without locks.

use super::assembly::{Assembly, By, Cmp, Helper, Label, Reg, With};
use super::buckets::{BUCKETS, PARTS_BITS, TIME_BITS};

pub(super) const SIZES: [u32; 5] = [4096, 8192, 32_768, 131_072, 524_288];
pub(super) const CLASSES: usize = SIZES.len() + 1;
/// Operations by the kernel's numbers: read, write, flush, discard.
pub(super) const OPERATIONS: usize = 4;
const WRITE: i32 = 1;
const FLUSH: i32 = 2;
pub(super) const TIMES: usize = 3;
/// Values of one of these times: the buckets, and the sum of the times in ns.
pub(super) const VALUES: usize = BUCKETS + 1;
/// Longest part of a request that is copied to the stack, which has 512 bytes.
const SPAN_MAX: u32 = 384;

const KEY_SLOT: i16 = -8;
const DEVICE_SLOT: i16 = -16;
const SPAN_END: i16 = -16;

const CONTEXT: Reg = Reg(1);
const RESULT: Reg = Reg(0);
const STACK: Reg = Reg(10);
const TIME: Reg = Reg(2);
// Calls preserve these registers.
const REQUEST: Reg = Reg(6);
const START: Reg = Reg(6);
const NOW: Reg = Reg(7);
const KEY: Reg = Reg(8);
const ENTRY: Reg = Reg(8);
const BYTES: Reg = Reg(9);
const ISSUED: Reg = Reg(9);

/// Byte offsets of members in the kernel's structures.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offsets {
    pub start_ns: u32,
    pub issue_ns: u32,
    pub flags: u32,
    pub part: u32,
    pub device: u32,
}

/// The program for these devices, given by the kernel's numbers of each and of its partitions; `None` if the kernel's
/// structures are larger than the stack.
pub(super) fn program(offsets: &Offsets, devices: &[Vec<u32>], map: i32) -> Option<Vec<u64>> {
    let wanted = [
        (offsets.start_ns, 8),
        (offsets.issue_ns, 8),
        (offsets.flags, 4),
        (offsets.part, 8),
    ];
    let low = wanted.iter().map(|(at, _)| at & !7).min()?;
    let high = wanted.iter().map(|(at, length)| at + length).max()?;
    let span = (high - low).next_multiple_of(8);
    if span > SPAN_MAX {
        return None;
    }
    let base = SPAN_END - i16::try_from(span).ok()?;
    let on_stack = |at: u32| Some(base + i16::try_from(at - low).ok()?);
    let mut text = Assembly::default();
    let out = text.label();
    text.load_u64(BYTES, CONTEXT, 16);
    text.load_u64(REQUEST, CONTEXT, 0);
    text.call(Helper::KtimeNs);
    text.by(By::Copy, NOW, RESULT);
    copy(&mut text, base, span, REQUEST, low);
    slot_of_device(&mut text, offsets, on_stack(offsets.part)?, devices, out);
    operation(&mut text, on_stack(offsets.flags)?, out);
    class_of_size(&mut text);
    text.load_u64(START, STACK, on_stack(offsets.start_ns)?);
    text.load_u64(ISSUED, STACK, on_stack(offsets.issue_ns)?);
    three_times(&mut text, map, out);
    text.here(out);
    text.with(With::Set, RESULT, 0);
    text.exit();
    text.finish()
}

fn copy(text: &mut Assembly, to: i16, length: u32, from: Reg, offset: u32) {
    text.by(By::Copy, Reg(1), STACK);
    text.with(With::Add, Reg(1), to.into());
    text.with(With::Set, Reg(2), length.cast_signed());
    text.by(By::Copy, Reg(3), from);
    text.with(With::Add, Reg(3), offset.cast_signed());
    text.call(Helper::ReadKernel);
}

/// Begins the key with the number of the device; requests of other devices are ignored.
fn slot_of_device(
    text: &mut Assembly,
    offsets: &Offsets,
    part: i16,
    devices: &[Vec<u32>],
    out: Label,
) {
    text.load_u64(Reg(3), STACK, part);
    text.jump_if(Cmp::Equal, Reg(3), 0, out);
    copy(text, DEVICE_SLOT, 4, Reg(3), offsets.device);
    text.load_u32(Reg(1), STACK, DEVICE_SLOT);
    let found = text.label();
    for (slot, numbers) in (0..).zip(devices) {
        text.with(With::Set, KEY, slot);
        for number in numbers {
            text.jump_if(Cmp::Equal, Reg(1), number.cast_signed(), found);
        }
    }
    text.jump_always(out);
    text.here(found);
}

/// Adds the operation to the key. A write without data is only a flush; the request by which the kernel then executes
/// one or more of them belongs to no device and is not counted.
fn operation(text: &mut Assembly, flags: i16, out: Label) {
    let found = text.label();
    text.load_u32(Reg(1), STACK, flags);
    text.with(With::And, Reg(1), 0xff);
    text.jump_if(Cmp::Greater, Reg(1), OPERATIONS as i32 - 1, out);
    text.jump_if(Cmp::NotEqual, Reg(1), WRITE, found);
    text.jump_if(Cmp::NotEqual, BYTES, 0, found);
    text.with(With::Set, Reg(1), FLUSH);
    text.here(found);
    text.with(With::Multiply, KEY, OPERATIONS as i32);
    text.by(By::Add, KEY, Reg(1));
}

fn class_of_size(text: &mut Assembly) {
    let found = text.label();
    for (class, most) in (0..).zip(SIZES) {
        text.with(With::Set, Reg(2), class);
        let larger = text.label();
        text.jump_if(Cmp::Greater, BYTES, most.cast_signed(), larger);
        text.jump_always(found);
        text.here(larger);
    }
    text.with(With::Set, Reg(2), SIZES.len() as i32);
    text.here(found);
    text.with(With::Multiply, KEY, CLASSES as i32);
    text.by(By::Add, KEY, Reg(2));
}

/// Counts the times that the kernel records: of a device without statistics none, of one without a limit of writeback
/// not the time of issue.
fn three_times(text: &mut Assembly, map: i32, out: Label) {
    text.jump_if(Cmp::Equal, START, 0, out);
    text.store_u32(STACK, KEY_SLOT, KEY);
    text.load_map(Reg(1), map);
    text.by(By::Copy, Reg(2), STACK);
    text.with(With::Add, Reg(2), KEY_SLOT.into());
    text.call(Helper::MapLookup);
    text.jump_if(Cmp::Equal, RESULT, 0, out);
    text.by(By::Copy, ENTRY, RESULT);
    text.by(By::Copy, TIME, NOW);
    text.by(By::Subtract, TIME, START);
    count(text, 0, out);
    text.jump_if(Cmp::Equal, ISSUED, 0, out);
    text.by(By::Copy, TIME, ISSUED);
    // It was merged into a request that had been issued, so it was in no queue.
    let issued = text.label();
    text.jump_if_less(START, ISSUED, issued);
    text.by(By::Copy, TIME, START);
    text.here(issued);
    text.by(By::Subtract, TIME, START);
    count(text, 1, out);
    text.by(By::Copy, TIME, NOW);
    text.by(By::Subtract, TIME, ISSUED);
    count(text, 2, out);
}

/// Counts a time in its buckets of the entry; `which` is 0, 1 or 2.
fn count(text: &mut Assembly, which: usize, out: Label) {
    let (begin, sum) = (which * VALUES * 8, (which * VALUES + BUCKETS) * 8);
    bucket(text);
    // The kernel's verifier demands this bound of an index.
    text.jump_if(Cmp::Greater, Reg(4), BUCKETS as i32 - 1, out);
    text.with(With::ShiftLeft, Reg(4), 3);
    text.by(By::Copy, Reg(1), ENTRY);
    text.by(By::Add, Reg(1), Reg(4));
    text.load_u64(Reg(3), Reg(1), begin as i16);
    text.with(With::Add, Reg(3), 1);
    text.store_u64(Reg(1), begin as i16, Reg(3));
    text.load_u64(Reg(3), ENTRY, sum as i16);
    text.by(By::Add, Reg(3), TIME);
    text.store_u64(ENTRY, sum as i16, Reg(3));
}

/// Sets register 4 to the bucket of the time.
fn bucket(text: &mut Assembly) {
    let (found, long, short) = (text.label(), text.label(), text.label());
    text.by(By::Copy, Reg(5), TIME);
    text.with(With::ShiftRight, Reg(5), TIME_BITS as i32);
    text.jump_if(Cmp::NotEqual, Reg(5), 0, long);
    text.by(By::Copy, Reg(5), TIME);
    text.with(With::Set, Reg(3), 0);
    for bits in [32, 16, 8, 4, 2, 1] {
        let unset = text.label();
        text.by(By::Copy, Reg(4), Reg(5));
        text.with(With::ShiftRight, Reg(4), bits);
        text.jump_if(Cmp::Equal, Reg(4), 0, unset);
        text.by(By::Copy, Reg(5), Reg(4));
        text.with(With::Add, Reg(3), bits);
        text.here(unset);
    }
    text.by(By::Copy, Reg(4), TIME);
    text.jump_if(Cmp::Less, Reg(3), PARTS_BITS as i32, short);
    text.by(By::Copy, Reg(5), Reg(3));
    text.with(With::Subtract, Reg(5), PARTS_BITS as i32);
    text.by(By::ShiftRight, Reg(4), Reg(5));
    text.with(With::And, Reg(4), (1 << PARTS_BITS) - 1);
    text.with(With::Subtract, Reg(3), PARTS_BITS as i32 - 1);
    text.with(With::ShiftLeft, Reg(3), PARTS_BITS as i32);
    text.by(By::Or, Reg(4), Reg(3));
    text.jump_always(found);
    text.here(short);
    text.jump_always(found);
    text.here(long);
    text.with(With::Set, Reg(4), BUCKETS as i32 - 1);
    text.here(found);
}
