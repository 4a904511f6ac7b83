//! Rows of frames as bytes: those of one subject (a flow, a port) in the order of frames, each as what differs from the
//! row before, in whole numbers of as many bytes as they need.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};

/// A row of a frame that packs.
pub trait Framed: Copy {
    /// What of a row the next one is packed against.
    type Base: Copy + Default + Debug + PartialEq;

    /// Its frame.
    fn frame(&self) -> u32;
    /// The same of another frame,
    fn at(self, frame: u32) -> Self;
    /// ... or of a subject.
    fn of(self, subject: u32) -> Self;
    /// Adds what a later row says of the same frame.
    fn add(&mut self, later: &Self);
    /// What the next row is packed against.
    fn base(&self) -> Self::Base;
    /// Appends it, after a row of base `before`.
    fn pack(&self, before: Self::Base, into: &mut Vec<u8>);
    /// Takes the row off that was packed after one of base `before`.
    fn unpack(before: Self::Base, from: &mut &[u8]) -> Option<Self>;
}

/// Appends a whole number: seven bits a byte, the lowest first.
#[inline]
pub fn put(mut number: u64, into: &mut Vec<u8>) {
    while number > 0x7f {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

/// Takes a whole number off.
#[inline]
pub fn take(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// The difference to another number, small where these are near.
pub fn apart(number: u64, other: u64) -> u64 {
    let by = number.wrapping_sub(other) as i64;
    ((by << 1) ^ (by >> 63)) as u64
}

/// The number that is so far from another.
pub fn beside(other: u64, apart: u64) -> u64 {
    let by = (apart >> 1) as i64 ^ -((apart & 1) as i64);
    other.wrapping_add(by as u64)
}

/// The rows of one subject, in the order of frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane<R: Framed> {
    bytes: Vec<u8>,
    base: R::Base,
    /// The last row, to which more may be added.
    last: Option<R>,
}

impl<R: Framed> Default for Lane<R> {
    fn default() -> Self {
        Lane { bytes: Vec::new(), base: R::Base::default(), last: None }
    }
}

impl<R: Framed> Lane<R> {
    /// Adds a row that is not before those that are there.
    #[inline]
    pub fn push(&mut self, row: R) {
        if let Some(last) = &mut self.last {
            if last.frame() == row.frame() {
                return last.add(&row);
            }
            last.pack(self.base, &mut self.bytes);
            self.base = last.base();
        }
        self.last = Some(row);
    }

    /// Two frames become one.
    #[cold]
    pub fn coarsen(&mut self) {
        let fine = std::mem::take(self);
        fine.rows().for_each(|row| self.push(row.at(row.frame() / 2)));
    }

    /// The frame of its last row.
    pub fn last(&self) -> Option<u32> {
        self.last.map(|row| row.frame())
    }

    /// Its rows.
    pub fn rows(&self) -> Rows<'_, R> {
        Rows { bytes: &self.bytes, base: R::Base::default(), last: self.last }
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        (size_of::<Self>() + self.bytes.capacity()) as u64
    }

    /// Gives back what it does not need.
    pub fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// None at all.
    pub fn is_empty(&self) -> bool {
        self.last.is_none()
    }
}

/// The rows of a lane.
#[derive(Clone, Debug)]
pub struct Rows<'a, R: Framed> {
    bytes: &'a [u8],
    base: R::Base,
    last: Option<R>,
}

impl<R: Framed> Iterator for Rows<'_, R> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        if self.bytes.is_empty() {
            return self.last.take();
        }
        let row = R::unpack(self.base, &mut self.bytes)?;
        self.base = row.base();
        Some(row)
    }
}

/// The rows of all subjects of a kind.
#[derive(Clone, PartialEq)]
pub struct Lanes<R: Framed> {
    of: Vec<Lane<R>>,
}

impl<R: Framed> Default for Lanes<R> {
    fn default() -> Self {
        Lanes { of: Vec::new() }
    }
}

impl<R: Framed + Debug> Debug for Lanes<R> {
    /// As the rows are.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows()).finish()
    }
}

impl<R: Framed> From<Vec<Lane<R>>> for Lanes<R> {
    /// One a subject, in their order.
    fn from(of: Vec<Lane<R>>) -> Self {
        Lanes { of }
    }
}

impl<R: Framed> Lanes<R> {
    /// All rows by (frame, subject).
    pub fn rows(&self) -> ByFrame<'_, R> {
        let mut all = ByFrame {
            lanes: self.of.iter().map(|lane| (lane.rows(), None)).collect(),
            later: BTreeMap::new(),
            following: (0, Vec::new()),
            open: Vec::new(),
        };
        (0..self.of.len() as u32).for_each(|subject| all.go_on(subject));
        all
    }

    /// Nothing is in them.
    pub fn is_empty(&self) -> bool {
        self.of.iter().all(Lane::is_empty)
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> u64 {
        self.of.iter().map(Lane::bytes).sum()
    }
}

/// The rows of all lanes, frame by frame.
#[derive(Debug)]
pub struct ByFrame<'a, R: Framed> {
    /// What is left of each lane, and its next row.
    lanes: Vec<(Rows<'a, R>, Option<R>)>,
    /// Lanes by the frames of their next rows: those of the frame after the open one, and of later ones.
    following: (u32, Vec<u32>),
    later: BTreeMap<u32, Vec<u32>>,
    /// Lanes with a row of the open frame, the last first.
    open: Vec<u32>,
}

impl<R: Framed> ByFrame<'_, R> {
    /// A lane waits for the frame of its next row.
    fn go_on(&mut self, subject: u32) {
        let (rows, next) = &mut self.lanes[subject as usize];
        *next = rows.next();
        let Some(frame) = next.map(|row| row.frame()) else { return };
        if frame == self.following.0 {
            self.following.1.push(subject);
        } else {
            self.later.entry(frame).or_default().push(subject);
        }
    }

    /// Opens the next frame of which there is a row.
    fn open_next(&mut self) -> Option<()> {
        let (following, list) = (self.following.0, std::mem::take(&mut self.following.1));
        if !list.is_empty() {
            self.later.entry(following).or_default().extend(list);
        }
        let (frame, mut subjects) = self.later.pop_first()?;
        subjects.sort_unstable();
        subjects.reverse();
        self.open = subjects;
        self.following.0 = frame + 1;
        Some(())
    }
}

impl<R: Framed> Iterator for ByFrame<'_, R> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        if self.open.is_empty() {
            self.open_next()?;
        }
        let subject = self.open.pop()?;
        let row = self.lanes[subject as usize].1.take()?;
        self.go_on(subject);
        Some(row.of(subject))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Row(u32, u32, u64);

    impl Framed for Row {
        type Base = (u32, u64);
        fn frame(&self) -> u32 {
            self.0
        }
        fn at(self, frame: u32) -> Row {
            Row(frame, self.1, self.2)
        }
        fn of(self, subject: u32) -> Row {
            Row(self.0, subject, self.2)
        }
        fn add(&mut self, later: &Row) {
            self.2 += later.2;
        }
        fn base(&self) -> (u32, u64) {
            (self.0, self.2)
        }
        fn pack(&self, before: (u32, u64), into: &mut Vec<u8>) {
            put((self.0 - before.0) as u64, into);
            put(apart(self.2, before.1), into);
        }
        fn unpack(before: (u32, u64), from: &mut &[u8]) -> Option<Row> {
            Some(Row(before.0 + take(from)? as u32, 0, beside(before.1, take(from)?)))
        }
    }

    fn lane(rows: &[(u32, u64)]) -> Lane<Row> {
        let mut lane = Lane::default();
        rows.iter().for_each(|(frame, value)| lane.push(Row(*frame, 0, *value)));
        lane
    }

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 1 << 21, u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put(number, &mut bytes);
            assert_eq!(take(&mut bytes.as_slice()), Some(number));
            assert_eq!(take(&mut &bytes[..bytes.len() - 1]), None);
            for other in [0, 5, u64::MAX / 2, u64::MAX] {
                assert_eq!(beside(other, apart(number, other)), number);
            }
        }
        assert_eq!((apart(7, 7), apart(6, 7), apart(8, 7)), (0, 1, 2));
    }

    #[test]
    fn rows_of_a_frame_become_one_and_frames_may_be_joined() {
        let mut one = lane(&[(0, 3), (0, 4), (5, u64::MAX - 9), (6, 1), (7, 2)]);
        let rows = |lane: &Lane<Row>| lane.rows().map(|row| (row.0, row.2)).collect::<Vec<_>>();
        assert_eq!(rows(&one), [(0, 7), (5, u64::MAX - 9), (6, 1), (7, 2)]);
        one.coarsen();
        assert_eq!(rows(&one), [(0, 7), (2, u64::MAX - 9), (3, 3)]);
        assert_eq!(rows(&Lane::default()), []);
    }

    #[test]
    fn rows_of_all_lanes_come_by_frame_and_subject() {
        let (one, two) = ([(1, 10), (2, 11), (9, 12)], [(0, 20), (1, 21), (9, 22), (10, 23)]);
        let lanes = Lanes::from([&one[..], &[], &two, &[(1, 30), (4, 31)]].map(lane).to_vec());
        let rows: Vec<_> = lanes.rows().map(|row| (row.0, row.1, row.2)).collect();
        let expected = [
            (0, 2, 20),
            (1, 0, 10),
            (1, 2, 21),
            (1, 3, 30),
            (2, 0, 11),
            (4, 3, 31),
            (9, 0, 12),
            (9, 2, 22),
            (10, 2, 23),
        ];
        assert_eq!(rows, expected);
    }
}
