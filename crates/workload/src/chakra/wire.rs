//! Fields of protobuf messages: numbers, and parts of fixed or given length.

/// Value of a field.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value<'a> {
    /// Variable-length number.
    Number(u64),
    /// 8 bytes, little endian.
    Eight(u64),
    /// Text, message or packed numbers.
    Part(&'a [u8]),
    /// 4 bytes, little endian.
    Four(u32),
}

/// Variable-length number at the begin of some bytes, and the bytes behind it.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0u64;
    for (i, byte) in bytes.iter().enumerate().take(10) {
        value |= u64::from(byte & 0x7f).checked_shl(7 * i as u32)?;
        if byte & 0x80 == 0 {
            return Some((value, &bytes[i + 1..]));
        }
    }
    None
}

/// Fields of a message in order; ends with `None` inside where the message is broken.
pub(super) struct Fields<'a>(pub &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Option<(u64, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let (key, rest) = varint(self.0)?;
        let (value, rest) = match key & 7 {
            0 => varint(rest).map(|(value, rest)| (Value::Number(value), rest))?,
            1 => {
                let (bytes, rest) = rest.split_at_checked(8)?;
                (Value::Eight(u64::from_le_bytes(bytes.try_into().ok()?)), rest)
            }
            2 => {
                let (length, rest) = varint(rest)?;
                let (part, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                (Value::Part(part), rest)
            }
            5 => {
                let (bytes, rest) = rest.split_at_checked(4)?;
                (Value::Four(u32::from_le_bytes(bytes.try_into().ok()?)), rest)
            }
            _ => return None,
        };
        self.0 = rest;
        Some((key >> 3, value))
    }
}
