//! Whole numbers as bytes, of variable length.
//!
//! Trailing zero bits of the first byte give the number of further bytes: a number of up to eight bytes has 7 bits of
//! its own per byte and is written and read at once. A larger number follows a zero byte.

/// Longest encoding of a number, in bytes.
const WIDEST: usize = 9;
/// Most numbers in a row.
const NUMBERS: usize = 9;
/// Longest row, in bytes.
pub(super) const LONGEST: usize = NUMBERS * WIDEST;

/// The numbers of one row.
#[derive(Clone, Debug)]
pub struct Packer {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Default for Packer {
    fn default() -> Self {
        Packer { bytes: [0; LONGEST], length: 0 }
    }
}

impl Packer {
    /// Bytes written so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Appends a whole number. A row has no more than [`NUMBERS`].
    #[inline]
    pub fn put(&mut self, number: u64) {
        let Some(room) = self.bytes.get_mut(self.length..self.length + WIDEST) else { return };
        let more = (number | 1).ilog2() / 7;
        if more < 8 {
            room[..8].copy_from_slice(&((number << 1 | 1) << more).to_le_bytes());
            self.length += more as usize + 1;
        } else {
            room[0] = 0;
            room[1..].copy_from_slice(&number.to_le_bytes());
            self.length += WIDEST;
        }
    }
}

/// Reads a whole number and removes it from `from`.
#[inline]
pub fn take(from: &mut &[u8]) -> Option<u64> {
    let more = from.first()?.trailing_zeros();
    match from.first_chunk() {
        // one load: a copy of a few bytes that is read as a whole stalls
        Some(word) if more < 8 => {
            let beyond = 56 - 8 * more;
            *from = &from[more as usize + 1..];
            Some(u64::from_le_bytes(*word) << beyond >> (beyond + more + 1))
        }
        _ => take_last(from, more as usize),
    }
}

/// As [`take`] for a number of nine bytes, or among the last eight bytes.
#[cold]
fn take_last(from: &mut &[u8], more: usize) -> Option<u64> {
    let (own, rest) = from.split_at_checked(more + 1)?;
    let mut bytes = [0; 8];
    let number = if more < 8 {
        bytes[..=more].copy_from_slice(own);
        u64::from_le_bytes(bytes) >> (more + 1)
    } else {
        bytes.copy_from_slice(&own[1..]);
        u64::from_le_bytes(bytes)
    };
    *from = rest;
    Some(number)
}

/// Difference to another number, zigzag-encoded: small if the two are near.
pub fn zigzag_difference(number: u64, other: u64) -> u64 {
    let by = number.wrapping_sub(other) as i64;
    ((by << 1) ^ (by >> 63)) as u64
}

/// Inverse of [`zigzag_difference`].
pub fn add_zigzag(other: u64, zigzag_difference: u64) -> u64 {
    let by = (zigzag_difference >> 1) as i64 ^ -((zigzag_difference & 1) as i64);
    other.wrapping_add(by as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let edges = (1..9).flat_map(|bytes| [(1 << (7 * bytes)) - 1, 1 << (7 * bytes)]);
        for number in edges.chain([0, 1, 1 << 63, u64::MAX - 1, u64::MAX]) {
            let mut packer = Packer::default();
            packer.put(number);
            let bytes = packer.bytes();
            assert_eq!(bytes.len(), if number < 1 << 56 { (number | 1).ilog2() as usize / 7 + 1 } else { WIDEST });
            let mut twice = [bytes, bytes].concat();
            twice.push(7);
            let mut from = twice.as_slice();
            assert_eq!([take(&mut from), take(&mut from)], [Some(number); 2]);
            assert_eq!(from, [7]);
            assert_eq!(take(&mut &bytes[..bytes.len() - 1]), None);
            for other in [0, 5, u64::MAX / 2, u64::MAX] {
                assert_eq!(add_zigzag(other, zigzag_difference(number, other)), number);
            }
        }
        assert_eq!((zigzag_difference(7, 7), zigzag_difference(6, 7), zigzag_difference(8, 7)), (0, 1, 2));
    }
}
