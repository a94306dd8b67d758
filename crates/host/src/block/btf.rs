//! Offsets of members in structures of the running kernel, from its own description of its types (BTF).

use std::collections::HashMap;
use std::path::Path;

/// Longest description that is read; today's have 6 MB.
const BYTES_MAX: u64 = 64 << 20;
const MAGIC: u16 = 0xeb9f;
const DEPTH_MAX: u32 = 8;
const STRUCT: u32 = 4;
const UNION: u32 = 5;

/// Byte offsets of members within their structures, in the order requested; `None` if the kernel lacks one, or its
/// offset is not a whole number of bytes.
pub(super) fn offsets<const N: usize>(
    path: &Path,
    members: [(&'static str, &'static str); N],
) -> Result<[u32; N], String> {
    let unreadable = |e: std::io::Error| format!("{} cannot be read ({e})", path.display());
    let length = std::fs::metadata(path).map_err(unreadable)?.len();
    if length > BYTES_MAX {
        return Err(format!("{} is longer than 64 MiB", path.display()));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let types = Types::parse(&bytes)
        .ok_or_else(|| format!("{} is not valid BTF type information", path.display()))?;
    let mut found = [0; N];
    for (offset, (structure, member)) in found.iter_mut().zip(members) {
        let bits = types.offset_bits(structure, member);
        *offset = bits
            .filter(|bits| bits % 8 == 0)
            .map(|bits| bits / 8)
            .ok_or_else(|| format!("the kernel's struct {structure} has no member {member}"))?;
    }
    Ok(found)
}

struct Structure {
    name: u32,
    members_at: usize,
    members: u32,
    /// True if offsets of members hold the length of a bit field in their upper byte.
    has_bit_fields: bool,
}

struct Types<'a> {
    types: &'a [u8],
    strings: &'a [u8],
    structures: HashMap<u32, Structure>,
}

impl<'a> Types<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        if u16_at(bytes, 0)? != MAGIC {
            return None;
        }
        let header = u32_at(bytes, 4)? as usize;
        let section = |at: usize| {
            let begin = header.checked_add(u32_at(bytes, at)? as usize)?;
            let length = u32_at(bytes, at + 4)? as usize;
            bytes.get(begin..begin.checked_add(length)?)
        };
        let (types, strings) = (section(8)?, section(16)?);
        let mut structures = HashMap::new();
        let (mut at, mut number) = (0, 0);
        while at < types.len() {
            number += 1;
            let (name, info) = (u32_at(types, at)?, u32_at(types, at + 4)?);
            let (kind, members) = (info >> 24 & 0x1f, info & 0xffff);
            at += 12;
            if kind == STRUCT || kind == UNION {
                let structure = Structure {
                    name,
                    members_at: at,
                    members,
                    has_bit_fields: info >> 31 == 1,
                };
                structures.insert(number, structure);
            }
            at += trailing_bytes(kind, members as usize)?;
        }
        Some(Self {
            types,
            strings,
            structures,
        })
    }

    fn offset_bits(&self, structure: &str, member: &str) -> Option<u32> {
        let mut named = self.structures.values();
        named.find_map(|s| {
            if self.is_named(s.name, structure) {
                self.offset_within(s, member, DEPTH_MAX)
            } else {
                None
            }
        })
    }

    /// Searches members without a name as well, which belong to the enclosing structure.
    fn offset_within(&self, structure: &Structure, member: &str, depth: u32) -> Option<u32> {
        (0..structure.members as usize).find_map(|n| {
            let at = structure.members_at + 12 * n;
            let (name, of_type) = (u32_at(self.types, at)?, u32_at(self.types, at + 4)?);
            let offset = u32_at(self.types, at + 8)?;
            let offset = if structure.has_bit_fields {
                offset & 0xff_ffff
            } else {
                offset
            };
            if self.is_named(name, member) {
                return Some(offset);
            }
            let inner = self.structures.get(&of_type)?;
            let is_nested = depth > 0 && self.is_named(name, "");
            let within = is_nested.then(|| self.offset_within(inner, member, depth - 1));
            Some(offset + within??)
        })
    }

    fn is_named(&self, at: u32, name: &str) -> bool {
        let string = self.strings.get(at as usize..).unwrap_or_default();
        string.starts_with(name.as_bytes()) && string.get(name.len()) == Some(&0)
    }
}

fn trailing_bytes(kind: u32, members: usize) -> Option<usize> {
    Some(match kind {
        // integers, variables, tags of declarations
        1 | 14 | 17 => 4,
        // arrays
        3 => 12,
        STRUCT | UNION => 12 * members,
        // enumerations and parameters of functions
        6 | 13 => 8 * members,
        // sections of data, enumerations of 64 bits
        15 | 19 => 12 * members,
        // pointers, forwards, typedefs, qualifiers, functions, floats, tags of types
        2 | 7..=12 | 16 | 18 => 0,
        _ => return None,
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_ne_bytes(bytes.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `struct s { int a; struct { int b; struct { int c; }; }; }` after an integer.
    fn description() -> Vec<u8> {
        let strings = b"\0int\0s\0a\0b\0c\0";
        let int = [1_u32, 1 << 24, 4, 0x20];
        let inner = [0, STRUCT << 24 | 1, 4, 11, 1, 0];
        let middle = [0, STRUCT << 24 | 2, 8, 9, 1, 0, 0, 2, 32];
        let outer = [5, STRUCT << 24 | 2, 12, 7, 1, 0, 0, 3, 32];
        let types: Vec<u32> = [&int[..], &inner, &middle, &outer].concat();
        let types: Vec<u8> = types.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let (types_length, strings_length) = (types.len() as u32, strings.len() as u32);
        let mut bytes = MAGIC.to_ne_bytes().to_vec();
        bytes.extend([1, 0]);
        for word in [24, 0, types_length, types_length, strings_length] {
            bytes.extend(u32::to_ne_bytes(word));
        }
        [&bytes[..], &types, strings].concat()
    }

    #[test]
    fn members_are_found_also_in_structures_without_a_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), description()).unwrap();
        let found = offsets(file.path(), [("s", "a"), ("s", "b"), ("s", "c")]);
        assert_eq!(found, Ok([0, 4, 8]));
        let missing = offsets(file.path(), [("s", "d")]).unwrap_err();
        assert_eq!(missing, "the kernel's struct s has no member d");
        assert!(offsets(file.path(), [("t", "a")]).is_err());
    }

    #[test]
    fn what_is_cut_off_is_refused() {
        let whole = description();
        let file = tempfile::NamedTempFile::new().unwrap();
        for length in 0..whole.len() - 14 {
            std::fs::write(file.path(), &whole[..length]).unwrap();
            assert!(offsets(file.path(), [("s", "c")]).is_err(), "{length}");
        }
    }
}
