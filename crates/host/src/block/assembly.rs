//! The instructions of the kernel's virtual machine (BPF) that the program needs, with labels for its jumps.

/// A register; number 10 points to the end of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reg(pub u8);

#[derive(Debug, Clone, Copy)]
pub(super) struct Label(usize);

#[derive(Debug, Clone, Copy)]
pub(super) enum Helper {
    MapLookup = 1,
    KtimeNs = 5,
    ReadKernel = 113,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cmp {
    Equal = 0x15,
    NotEqual = 0x55,
    Greater = 0x25,
    Less = 0xa5,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum With {
    Add = 0x07,
    Subtract = 0x17,
    Multiply = 0x27,
    And = 0x57,
    ShiftLeft = 0x67,
    ShiftRight = 0x77,
    Set = 0xb7,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    Add = 0x0f,
    Subtract = 0x1f,
    Or = 0x4f,
    ShiftRight = 0x7f,
    Copy = 0xbf,
}

struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    constant: i32,
    jumps_to: Option<Label>,
}

#[derive(Default)]
pub(super) struct Assembly {
    instructions: Vec<Instruction>,
    /// Index of the instruction at each label.
    labels: Vec<Option<usize>>,
}

impl Assembly {
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    pub fn here(&mut self, label: Label) {
        self.labels[label.0] = Some(self.instructions.len());
    }

    pub fn with(&mut self, what: With, to: Reg, constant: i32) {
        self.push(what as u8, to, Reg(0), 0, constant);
    }

    pub fn by(&mut self, what: By, to: Reg, from: Reg) {
        self.push(what as u8, to, from, 0, 0);
    }

    pub fn load_u64(&mut self, to: Reg, from: Reg, offset: i16) {
        self.push(0x79, to, from, offset, 0);
    }

    pub fn load_u32(&mut self, to: Reg, from: Reg, offset: i16) {
        self.push(0x61, to, from, offset, 0);
    }

    pub fn store_u64(&mut self, to: Reg, offset: i16, from: Reg) {
        self.push(0x7b, to, from, offset, 0);
    }

    pub fn store_u32(&mut self, to: Reg, offset: i16, from: Reg) {
        self.push(0x63, to, from, offset, 0);
    }

    /// Loads the address of the map with this file descriptor.
    pub fn load_map(&mut self, to: Reg, map: i32) {
        // The source register marks the constant as the descriptor of a map.
        self.push(0x18, to, Reg(1), 0, map);
        self.push(0, Reg(0), Reg(0), 0, 0);
    }

    pub fn call(&mut self, helper: Helper) {
        self.push(0x85, Reg(0), Reg(0), 0, helper as i32);
    }

    pub fn jump_if(&mut self, what: Cmp, left: Reg, right: i32, label: Label) {
        self.push(what as u8, left, Reg(0), 0, right);
        self.jump(label);
    }

    pub fn jump_if_less(&mut self, left: Reg, right: Reg, label: Label) {
        self.push(0xad, left, right, 0, 0);
        self.jump(label);
    }

    pub fn jump_always(&mut self, label: Label) {
        self.push(0x05, Reg(0), Reg(0), 0, 0);
        self.jump(label);
    }

    pub fn exit(&mut self) {
        self.push(0x95, Reg(0), Reg(0), 0, 0);
    }

    /// The program in the kernel's encoding; `None` if a label is undefined, or too far off.
    pub fn finish(self) -> Option<Vec<u64>> {
        let encode = |(at, i): (usize, &Instruction)| {
            let offset = match i.jumps_to {
                None => i.offset,
                Some(label) => {
                    let to = i64::try_from(self.labels[label.0]?).ok()?;
                    i16::try_from(to - i64::try_from(at).ok()? - 1).ok()?
                }
            };
            let mut bytes = [0; 8];
            bytes[0] = i.code;
            bytes[1] = i.registers;
            bytes[2..4].copy_from_slice(&offset.to_ne_bytes());
            bytes[4..].copy_from_slice(&i.constant.to_ne_bytes());
            Some(u64::from_ne_bytes(bytes))
        };
        self.instructions.iter().enumerate().map(encode).collect()
    }

    fn push(&mut self, code: u8, to: Reg, from: Reg, offset: i16, constant: i32) {
        let registers = if cfg!(target_endian = "little") {
            to.0 | from.0 << 4
        } else {
            to.0 << 4 | from.0
        };
        self.instructions.push(Instruction {
            code,
            registers,
            offset,
            constant,
            jumps_to: None,
        });
    }

    fn jump(&mut self, label: Label) {
        let last = self.instructions.last_mut();
        last.into_iter().for_each(|i| i.jumps_to = Some(label));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_encoded_as_the_kernel_reads_them() {
        let mut text = Assembly::default();
        let out = text.label();
        text.load_u64(Reg(6), Reg(1), 8);
        text.jump_if(Cmp::Equal, Reg(6), 7, out);
        text.with(With::Add, Reg(6), -1);
        text.here(out);
        text.exit();
        let bytes: Vec<[u8; 8]> = (text.finish().unwrap().iter())
            .map(|word| word.to_ne_bytes())
            .collect();
        if cfg!(target_endian = "little") {
            let expected = [
                [0x79, 0x16, 8, 0, 0, 0, 0, 0],
                [0x15, 0x06, 1, 0, 7, 0, 0, 0],
                [0x07, 0x06, 0, 0, 0xff, 0xff, 0xff, 0xff],
                [0x95, 0, 0, 0, 0, 0, 0, 0],
            ];
            assert_eq!(bytes, expected);
        }
    }

    #[test]
    fn a_jump_to_nowhere_is_no_program() {
        let mut text = Assembly::default();
        let nowhere = text.label();
        text.jump_always(nowhere);
        assert_eq!(text.finish(), None);
    }
}
