//! `openflags=`, and bounds in percent or bytes, for SDs, WDs and RDs.

use super::error::Result;
use super::lexer::Parameter;
use super::value::Unit;
use crate::run::{OpenFlags, Range};

const O_DSYNC: u32 = 0x1000;
const O_DIRECT: u32 = 0x4000;

/// Bits that would change the kind of file, or create, truncate or append: `O_CREAT`, `O_EXCL`, `O_TRUNC`,
/// `O_APPEND`, and the access mode, which the engine chooses.
const REFUSED_BITS: u32 = 0o3 | 0o100 | 0o200 | 0o1000 | 0o2000;

pub(super) fn open_flags(parameter: &Parameter) -> Result<OpenFlags> {
    let mut flags = OpenFlags::default();
    for word in &parameter.values {
        let word = word.to_ascii_lowercase();
        match word.as_str() {
            "o_direct" | "directio" => flags.direct = true,
            "o_dsync" | "o_rsync" | "o_sync" => flags.data_sync = true,
            "fsync" => flags.fsync_at_close = true,
            "fdatasync" => flags.sync_each = true,
            _ => {
                let digits = word.strip_prefix("0x");
                let bits = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                let bits = bits.ok_or_else(|| {
                    parameter.wrong(
                        "supported values are o_direct, directio, o_dsync, o_rsync, o_sync, fsync, \
                                     fdatasync and a number such as 0x4000",
                    )
                })?;
                if bits & REFUSED_BITS != 0 {
                    return Err(parameter.wrong(format!(
                        "0x{bits:x} has bits that would create, truncate or append to \
                                                        files; leave them out"
                    )));
                }
                flags.direct |= bits & O_DIRECT != 0;
                flags.data_sync |= bits & O_DSYNC != 0;
                flags.bits |= bits & !(O_DIRECT | O_DSYNC);
            }
        }
    }
    Ok(flags)
}

/// `(low,high)` in percent up to 200, in bytes above.
pub(super) fn range(parameter: &Parameter) -> Result<Range> {
    let numbers = parameter.numbers(Unit::Amount)?;
    let [low, high] = numbers[..] else {
        return Err(parameter.wrong("give (low,high), in percent or in bytes"));
    };
    if low < 0.0 || high <= low {
        return Err(parameter.wrong("the range is empty or reversed; give the lower bound first"));
    }
    if low <= 100.0 && high <= 200.0 {
        return Ok(Range::Percent {
            low_pct: low,
            high_pct: high,
        });
    }
    let bytes = |value| parameter.whole_of(value, 0, i64::MAX as u64);
    Ok(Range::Bytes {
        low: bytes(low)?,
        high: bytes(high)?,
    })
}
