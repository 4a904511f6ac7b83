//! Rows of frames as bytes. The rows of one subject (a flow, a port) are stored in the order of frames, each as its
//! difference from the row before, in whole numbers of variable length.

mod numbers;

use numbers::LONGEST;
pub use numbers::{Packer, add_zigzag, take, zigzag_difference};

use crate::store::{NONE, ROOM, Store, StoreBudget};
use std::fmt::{self, Debug, Formatter};
use std::vec::IntoIter;

/// Row of a frame that can be packed.
pub trait Framed: Copy {
    /// Part of a row against which the next row is packed.
    type Base: Copy + Default + Debug + PartialEq;

    /// Frame of the row.
    fn frame(&self) -> u32;
    /// The row, moved to another frame.
    fn at(self, frame: u32) -> Self;
    /// The row, given to another subject.
    fn of(self, subject: u32) -> Self;
    /// Adds a later row of the same frame.
    fn add(&mut self, later: &Self);
    /// Base for packing the next row.
    fn base(&self) -> Self::Base;
    /// Frame of the row that `base` belongs to.
    fn frame_of(base: &Self::Base) -> u32;
    /// Appends the row, packed after a row of base `before`.
    fn pack(&self, before: Self::Base, into: &mut Packer);
    /// Unpacks a row that was packed after one of base `before`, and removes it from `from`.
    fn unpack(before: Self::Base, from: &mut &[u8]) -> Option<Self>;
}

/// Rows of one subject, in the order of frames. The latest rows are in the series itself, so that most writes touch no
/// further memory. The others are in a [`Store`]; their records belong to this series, which frees them.
#[derive(Debug)]
#[repr(C)]
pub struct FrameSeries<R: Framed> {
    base: R::Base,
    /// Number of bytes in the tail, which follows the records.
    length: u8,
    tail: [u8; ROOM],
    /// Last record before the tail.
    last: u32,
    store: Option<Store>,
}

impl<R: Framed> Default for FrameSeries<R> {
    fn default() -> Self {
        FrameSeries { base: R::Base::default(), length: 0, tail: [0; ROOM], last: NONE, store: None }
    }
}

impl<R: Framed + PartialEq> PartialEq for FrameSeries<R> {
    /// Compares the rows; their storage does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.rows().eq(other.rows())
    }
}

impl<R: Framed> FrameSeries<R> {
    /// An empty series with its rows in `store`; without a store it creates its own.
    pub fn stored(store: &Store) -> FrameSeries<R> {
        FrameSeries { store: Some(store.clone()), ..FrameSeries::default() }
    }

    /// Takes the rows out and leaves the series empty.
    pub fn take(&mut self) -> FrameSeries<R> {
        let empty = FrameSeries { store: self.store.clone(), ..FrameSeries::default() };
        std::mem::replace(self, empty)
    }

    /// A store for another thread, which shares memory and file with that of this series.
    pub fn sibling_store(&self) -> Store {
        self.store.as_ref().map_or_else(|| Store::new(&StoreBudget::new(u64::MAX)), Store::sibling)
    }

    /// Appends a row; its frame is not before the last one. Rows of one frame are added up when read.
    #[inline]
    pub fn push(&mut self, row: &R) {
        let mut packer = Packer::default();
        row.pack(self.base, &mut packer);
        self.base = row.base();
        let (length, more) = (self.length as usize, packer.bytes());
        match self.tail.get_mut(length..length + more.len()) {
            Some(room) if length + more.len() < ROOM => copy(room, more),
            _ => self.spill(more),
        }
        self.length = ((length + more.len()) % ROOM) as u8;
    }

    /// Appends bytes that do not fit the tail.
    #[cold]
    fn spill(&mut self, more: &[u8]) {
        let mut length = self.length as usize;
        let store = own(&mut self.store);
        let mut more = more;
        while !more.is_empty() {
            let (now, rest) = more.split_at(more.len().min(ROOM - length));
            self.tail[length..length + now.len()].copy_from_slice(now);
            length += now.len();
            if length == ROOM {
                self.last = store.put(self.last, &self.tail);
                length = 0;
            }
            more = rest;
        }
    }

    /// Merges frames in pairs. The remaining rows reuse the records.
    #[cold]
    pub fn coarsen(&mut self) {
        let records = self.records();
        let mut kept = Kept { base: R::Base::default(), bytes: Vec::with_capacity(records.len() * ROOM / 2 + ROOM) };
        let mut last: Option<R> = None;
        for row in self.read(records.clone(), usize::MAX) {
            let row = row.at(row.frame() / 2);
            match &mut last {
                Some(last) if last.frame() == row.frame() => last.add(&row),
                _ => last.replace(row).into_iter().for_each(|row| kept.push(row)),
            }
        }
        last.into_iter().for_each(|row| kept.push(row));
        let (whole, tail) = kept.bytes.as_chunks::<ROOM>();
        (self.base, self.length) = (kept.base, tail.len() as u8);
        self.tail[..tail.len()].copy_from_slice(tail);
        // rows may take more bytes than before, and fill the first record
        self.last =
            if records.is_empty() && whole.is_empty() { NONE } else { own(&mut self.store).put_over(&records, whole) };
    }

    /// Frame of the last row.
    pub fn last(&self) -> Option<u32> {
        (!self.is_empty()).then(|| R::frame_of(&self.base))
    }

    /// Rows, one per frame.
    pub fn rows(&self) -> Rows<'_, R> {
        self.read(self.records(), 1)
    }

    /// Rows, one per frame, all read at once.
    pub fn all_rows(&self) -> Rows<'_, R> {
        self.read(self.records(), usize::MAX)
    }

    fn records(&self) -> Vec<u32> {
        self.store.as_ref().map_or_else(Vec::new, |store| store.chain(self.last))
    }

    fn read(&self, records: Vec<u32>, step: usize) -> Rows<'_, R> {
        let (records, base) = (records.into_iter(), R::Base::default());
        let mut rows = Rows { series: self, records, step, bytes: Vec::new(), from: 0, tail: true, base, ahead: None };
        rows.ahead = rows.following();
        rows
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.length == 0 && self.last == NONE
    }
}

/// Store of a series; creates one if there is none.
fn own(store: &mut Option<Store>) -> &Store {
    store.get_or_insert_with(|| Store::new(&StoreBudget::new(u64::MAX)))
}

/// Rows packed one after the other.
struct Kept<R: Framed> {
    base: R::Base,
    bytes: Vec<u8>,
}

impl<R: Framed> Kept<R> {
    fn push(&mut self, row: R) {
        let mut packer = Packer::default();
        row.pack(self.base, &mut packer);
        self.base = row.base();
        self.bytes.extend_from_slice(packer.bytes());
    }
}

/// Copies a few bytes, without a call for the usual row lengths.
#[inline]
fn copy(to: &mut [u8], from: &[u8]) {
    let last = from.len().saturating_sub(8);
    match (to.first_chunk_mut::<8>(), from.first_chunk::<8>()) {
        (Some(a), Some(b)) if last <= 8 => {
            *a = *b;
            to[last..].copy_from_slice(&from[last..][..8]);
        }
        _ => to.copy_from_slice(from),
    }
}

/// Rows of a series.
#[derive(Clone, Debug)]
pub struct Rows<'a, R: Framed> {
    series: &'a FrameSeries<R>,
    /// Records not read yet, and whether the tail is still to be read.
    records: IntoIter<u32>,
    tail: bool,
    /// Number of records read at once.
    step: usize,
    /// Bytes read, and the start of the next row in them.
    bytes: Vec<u8>,
    from: usize,
    base: R::Base,
    /// Next row; later rows of its frame are still to be added.
    ahead: Option<R>,
}

/// Next frame of a series without further rows.
const NO_FRAME: u64 = u64::MAX;

impl<R: Framed> Rows<'_, R> {
    /// Frame of the next row, or [`NO_FRAME`].
    fn next_frame(&self) -> u64 {
        self.ahead.as_ref().map_or(NO_FRAME, |row| row.frame().into())
    }

    /// Unpacks the next pushed row.
    #[inline]
    fn following(&mut self) -> Option<R> {
        if self.bytes.len() - self.from < LONGEST {
            self.read();
        }
        let mut bytes = &self.bytes[self.from..];
        let row = R::unpack(self.base, &mut bytes)?;
        self.from = self.bytes.len() - bytes.len();
        self.base = row.base();
        Some(row)
    }

    /// Reads until a whole row is available, or everything is read. What follows an unreadable record is no row.
    fn read(&mut self) {
        let FrameSeries { store, tail, length, .. } = self.series;
        while self.tail && self.bytes.len() - self.from < LONGEST {
            self.bytes.drain(..std::mem::take(&mut self.from));
            match store {
                Some(store) if !self.records.as_slice().is_empty() => {
                    self.tail = store.read(self.records.by_ref().take(self.step), &mut self.bytes);
                }
                _ => {
                    self.bytes.extend_from_slice(&tail[..*length as usize]);
                    self.tail = false;
                }
            }
        }
    }
}

impl<R: Framed> Iterator for Rows<'_, R> {
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        let mut row = self.ahead.take()?;
        while let Some(later) = self.following() {
            if later.frame() != row.frame() {
                self.ahead = Some(later);
                break;
            }
            row.add(&later);
        }
        Some(row)
    }
}

/// Rows of all subjects of a kind.
#[derive(PartialEq)]
pub struct FrameTable<R: Framed> {
    of: Vec<FrameSeries<R>>,
}

impl<R: Framed> Default for FrameTable<R> {
    fn default() -> Self {
        FrameTable { of: Vec::new() }
    }
}

impl<R: Framed + Debug> Debug for FrameTable<R> {
    /// Shows the rows.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows()).finish()
    }
}

impl<R: Framed> From<Vec<FrameSeries<R>>> for FrameTable<R> {
    /// One series per subject, in the order of subjects.
    fn from(of: Vec<FrameSeries<R>>) -> Self {
        FrameTable { of }
    }
}

impl<R: Framed> FrameTable<R> {
    /// All rows by (frame, subject).
    pub fn rows(&self) -> ByFrame<'_, R> {
        ByFrame::new(self.of.iter().map(FrameSeries::rows).collect())
    }

    /// Bytes of rows in the file, for all stores that share it.
    pub fn far(&self) -> u64 {
        self.store().map_or(0, Store::far)
    }

    /// Message for the user if rows of these stores [could not be read](crate::store::StoreBudget::unreadable).
    pub fn unreadable(&self) -> Option<String> {
        self.store().and_then(Store::unreadable)
    }

    fn store(&self) -> Option<&Store> {
        self.of.iter().find_map(|series| series.store.as_ref())
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.of.iter().all(FrameSeries::is_empty)
    }
}

/// Most rows in a block of frames, if every series had one in each; a block has at least one frame.
const MAX: usize = 1 << 20;
/// Most frames in a block.
const FRAMES: usize = 1 << 12;

/// Rows of all series, frame by frame. They are unpacked in blocks of frames, series by series: going from series to
/// series for every frame would miss the cache each time.
#[derive(Debug)]
pub struct ByFrame<'a, R: Framed> {
    table: Vec<Rows<'a, R>>,
    /// Frame of the next row of each series: most series of a block have no row in it, and are not touched.
    following: Vec<u64>,
    /// Frames in a block, and the first frame of the next one.
    block: usize,
    first: u32,
    /// Rows of the block, series by series, and their places in the order of frames.
    rows: Vec<R>,
    order: Vec<u32>,
    /// Number of rows taken.
    taken: usize,
}

impl<'a, R: Framed> ByFrame<'a, R> {
    /// Rows of these series, numbered from 0.
    fn new(table: Vec<Rows<'a, R>>) -> ByFrame<'a, R> {
        let following = table.iter().map(Rows::next_frame).collect();
        let block = (MAX / table.len().max(1)).clamp(1, FRAMES);
        ByFrame { table, following, block, first: 0, rows: Vec::new(), order: Vec::new(), taken: 0 }
    }

    /// Unpacks the next block; `None` at the end.
    #[cold]
    fn take_block(&mut self) -> Option<()> {
        let next = self.following.iter().copied().min().filter(|frame| *frame != NO_FRAME)?;
        let first = self.first.max(next as u32);
        let end = u64::from(first) + self.block as u64;
        // first row of each frame
        let mut places = vec![0; self.block + 1];
        self.rows.clear();
        for ((subject, series), next) in (0..).zip(&mut self.table).zip(&mut self.following) {
            while *next < end
                && let Some(row) = series.next()
            {
                places[(row.frame() - first) as usize + 1] += 1;
                self.rows.push(row.of(subject));
                *next = series.next_frame();
            }
        }
        let mut before = 0;
        places.iter_mut().for_each(|place| {
            before += *place;
            *place = before;
        });
        self.order.resize(self.rows.len(), 0);
        for (i, row) in (0..).zip(&self.rows) {
            let place = &mut places[(row.frame() - first) as usize];
            self.order[*place as usize] = i;
            *place += 1;
        }
        (self.taken, self.first) = (0, first.saturating_add(self.block as u32));
        Some(())
    }
}

impl<R: Framed> Iterator for ByFrame<'_, R> {
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        while self.taken == self.order.len() {
            self.take_block()?;
        }
        let row = self.rows[self.order[self.taken] as usize];
        self.taken += 1;
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Disk;
    use std::io;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicU64;
    use std::sync::atomic::Ordering::Relaxed;

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
        fn frame_of(base: &(u32, u64)) -> u32 {
            base.0
        }
        fn pack(&self, before: (u32, u64), into: &mut Packer) {
            into.put((self.0 - before.0) as u64);
            into.put(zigzag_difference(self.2, before.1));
        }
        fn unpack(before: (u32, u64), from: &mut &[u8]) -> Option<Row> {
            Some(Row(before.0 + take(from)? as u32, 0, add_zigzag(before.1, take(from)?)))
        }
    }

    fn series(rows: &[(u32, u64)]) -> FrameSeries<Row> {
        let mut series = FrameSeries::default();
        rows.iter().for_each(|(frame, value)| series.push(&Row(*frame, 0, *value)));
        series
    }

    #[test]
    fn rows_of_a_frame_become_one_and_frames_may_be_joined() {
        let mut one = series(&[(0, 3), (0, 4), (5, u64::MAX - 9), (6, 1), (7, 2)]);
        let rows = |series: &FrameSeries<Row>| series.rows().map(|row| (row.0, row.2)).collect::<Vec<_>>();
        assert_eq!(rows(&one), [(0, 7), (5, u64::MAX - 9), (6, 1), (7, 2)]);
        one.coarsen();
        assert_eq!(rows(&one), [(0, 7), (2, u64::MAX - 9), (3, 3)]);
        assert_eq!(rows(&FrameSeries::default()), []);
    }

    #[test]
    fn rows_come_back_from_the_tail_of_a_lane_and_from_before_it() {
        let rows: Vec<_> = (0..200).map(|i| (i * 3, 1_u64 << (i % 64))).collect();
        for many in 0..rows.len() {
            let series = series(&rows[..many]);
            assert!(series.rows().map(|row| (row.0, row.2)).eq(rows[..many].iter().copied()), "{many} rows");
            assert_eq!(series.last(), rows[..many].last().map(|row| row.0));
            assert_eq!(series.is_empty(), many == 0);
        }
    }

    #[test]
    fn lanes_whose_frames_become_longer_give_the_file_back_what_they_had() {
        let store = Store::new(&StoreBudget::new(0));
        let table = (0..200).map(|_| FrameSeries::stored(&store)).collect();
        let mut table = FrameTable { of: table };
        let fill = |table: &mut FrameTable<Row>, from: u32| {
            (from..1000).for_each(|t| table.of.iter_mut().for_each(|series| series.push(&Row(t, 0, (t as u64) << 40))));
            table.far()
        };
        let first = fill(&mut table, 0);
        assert_eq!(first > 1_000_000, cfg!(unix), "{first} bytes");
        for _ in 0..6 {
            table.of.iter_mut().for_each(FrameSeries::coarsen);
            assert!(table.far() <= first * 6 / 10, "{} of {first} bytes", table.far());
            assert!(fill(&mut table, 500) <= first * 11 / 10);
        }
        assert_eq!(table.rows().count(), 200 * 1000);
    }

    #[test]
    fn rows_of_lanes_whose_frames_become_longer_stay_as_they_are_wherever_they_lie() {
        for bytes in [0, 40_000, u64::MAX] {
            let store = Store::new(&StoreBudget::new(bytes));
            let mut table: Vec<FrameSeries<Row>> = (0..30).map(|_| FrameSeries::stored(&store)).collect();
            let mut expected: Vec<Vec<(u32, u64)>> = vec![Vec::new(); table.len()];
            let mut frame = 0;
            for round in 0..5 {
                for t in frame..frame + 400 {
                    for (i, (series, rows)) in table.iter_mut().zip(&mut expected).enumerate() {
                        // some series have few rows, and some small ones
                        if (t as usize).is_multiple_of(i % 7 + 1) {
                            let value = (t as u64 * 7919 + i as u64) << (i % 5 * 8);
                            series.push(&Row(t, 0, value));
                            rows.push((t, value));
                        }
                    }
                }
                for (series, rows) in table.iter_mut().zip(&mut expected) {
                    series.coarsen();
                    rows.iter_mut().for_each(|row| row.0 /= 2);
                    rows.dedup_by(|later, row| {
                        later.0 == row.0 && {
                            row.1 += later.1;
                            true
                        }
                    });
                    assert!(
                        series.rows().map(|row| (row.0, row.2)).eq(rows.iter().copied()),
                        "{bytes} B, round {round}"
                    );
                    assert_eq!(series.last(), rows.last().map(|row| row.0));
                }
                frame = (frame + 400) / 2;
            }
        }
    }

    /// Disk that can be read up to a byte.
    #[derive(Debug, Default)]
    struct Torn(Mutex<Vec<u8>>);

    static WHOLE: AtomicU64 = AtomicU64::new(u64::MAX);

    impl Disk for Torn {
        fn write(&self, page: &[u8], at: u64) -> io::Result<()> {
            let mut bytes = self.0.lock().unwrap();
            let length = bytes.len().max(at as usize + page.len());
            bytes.resize(length, 0);
            bytes[at as usize..][..page.len()].copy_from_slice(page);
            Ok(())
        }

        fn read(&self, to: &mut [u8], at: u64) -> io::Result<()> {
            if at + to.len() as u64 > WHOLE.load(Relaxed) {
                return Err(io::Error::other("the disk is torn"));
            }
            to.copy_from_slice(&self.0.lock().unwrap()[at as usize..][..to.len()]);
            Ok(())
        }
    }

    #[test]
    fn rows_end_where_the_file_cannot_be_read_and_the_table_says_so() {
        let store = Store::new(&StoreBudget::on(0, || Some(Box::<Torn>::default())));
        let mut table = FrameTable { of: vec![FrameSeries::stored(&store), FrameSeries::stored(&store)] };
        (0..20_000).for_each(|t| table.of.iter_mut().for_each(|series| series.push(&Row(t, 0, (t as u64) << 40))));
        assert_eq!((table.rows().count(), table.unreadable()), (40_000, None));
        WHOLE.store(table.far() / 2, Relaxed);
        for _ in 0..3 {
            let rows: Vec<_> = table.of[0].rows().collect();
            assert!((5_000..15_000).contains(&rows.len()), "{} of 20,000 rows", rows.len());
            assert!(rows.iter().enumerate().all(|(t, row)| *row == Row(t as u32, 0, (t as u64) << 40)));
            assert!(table.unreadable().is_some_and(|words| words.contains("cannot be read again: the disk is torn")));
        }
        // what is merged in pairs is written anew, where it cannot be read either
        table.of[0].coarsen();
        assert!(table.of[0].rows().count() < 10_000);
    }

    #[test]
    fn lanes_are_alike_whose_rows_are() {
        assert_eq!(series(&[(0, 3), (0, 4), (2, 1)]), series(&[(0, 7), (2, 1)]));
        assert_ne!(series(&[(0, 3)]), series(&[(1, 3)]));
    }

    #[test]
    fn rows_of_all_lanes_come_by_frame_and_subject() {
        let (one, two) = ([(1, 10), (2, 11), (9, 12)], [(0, 20), (1, 21), (9, 22), (10, 23)]);
        let table = FrameTable::from(Vec::from([&one[..], &[], &two, &[(1, 30), (4, 31)]].map(series)));
        let rows: Vec<_> = table.rows().map(|row| (row.0, row.1, row.2)).collect();
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

    #[test]
    fn rows_that_take_more_bytes_when_they_are_coarsened_are_kept() {
        // the sums of two of three rows are far from the third
        let much = 1 << 40;
        let mut series = FrameSeries::default();
        (0..13).flat_map(|i| [4 * i, 4 * i + 1, 4 * i + 2]).for_each(|frame| series.push(&Row(frame, 0, much)));
        assert!(series.store.is_none(), "all are in the tail");
        series.coarsen();
        let expected: Vec<_> = (0..13).flat_map(|i| [Row(2 * i, 0, 2 * much), Row(2 * i + 1, 0, much)]).collect();
        assert_eq!(series.rows().collect::<Vec<_>>(), expected);
    }
}
