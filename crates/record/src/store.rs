//! Where rows of many subjects lie: bytes in records of one size, each with the number of its subject's record before.
//! They are written one after the other, whatever their subjects, so that to keep a row touches no memory that is far.
//!
//! All stores of a run keep so many bytes in memory together. What is more goes to a file as soon as a page is full.
//! The file has no name: nothing is left of it, however the run ends. Without one (a full disk), memory is taken.

use std::fs::File;
use std::iter::successors;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Bytes of rows in a record.
pub const ROOM: usize = 84;
/// Bytes of a record: the number of the one before comes first.
const RECORD: usize = LINK + ROOM;
const LINK: usize = size_of::<u32>();
/// ... and in words.
const WORDS: usize = RECORD / size_of::<u64>();
/// Records of a page.
const PAGE: usize = 200;
/// Number of no record.
pub const NONE: u32 = u32::MAX;

/// What all stores of a run share.
#[derive(Debug)]
pub struct Room {
    /// Bytes that may still be taken from memory.
    left: AtomicU64,
    /// Where the next page lies in the file.
    end: AtomicU64,
    file: OnceLock<Option<File>>,
}

impl Room {
    /// So many `bytes` lie in memory at most, but for a page a store and a number a record.
    pub fn new(bytes: u64) -> Arc<Room> {
        Arc::new(Room { left: AtomicU64::new(bytes), end: AtomicU64::new(0), file: OnceLock::new() })
    }

    /// Takes a page's room of what is left in memory, if there is so much.
    fn take(&self) -> bool {
        let less = |left: u64| left.checked_sub((PAGE * RECORD) as u64);
        self.left.fetch_update(Relaxed, Relaxed, less).is_ok()
    }

    fn file(&self) -> Option<&File> {
        self.file.get_or_init(nameless).as_ref()
    }

    /// Writes a page to the file, if that is possible: where it lies.
    fn put_away(&self, page: &[u8]) -> Option<u64> {
        let file = self.file()?;
        let at = self.end.fetch_add(page.len() as u64, Relaxed);
        write_at(file, page, at).then_some(at)
    }

    fn read(&self, to: &mut [u8], at: u64) {
        let read = self.file().map(|file| read_at(file, to, at));
        assert!(matches!(read, Some(Ok(()))), "rows of a timeline that were written cannot be read: {read:?}");
    }

    /// Bytes in the file.
    pub fn far(&self) -> u64 {
        self.end.load(Relaxed)
    }
}

/// A file that is gone when it is closed, in the folder for such (`TMPDIR`).
#[cfg(unix)]
fn nameless() -> Option<File> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Relaxed);
    let path = std::env::temp_dir().join(format!("incast-timeline-{}-{number}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path).ok()?;
    std::fs::remove_file(&path).ok()?;
    Some(file)
}

#[cfg(not(unix))]
fn nameless() -> Option<File> {
    None
}

#[cfg(unix)]
fn write_at(file: &File, page: &[u8], at: u64) -> bool {
    std::os::unix::fs::FileExt::write_all_at(file, page, at).is_ok()
}

#[cfg(not(unix))]
fn write_at(_: &File, _: &[u8], _: u64) -> bool {
    false
}

#[cfg(unix)]
fn read_at(file: &File, to: &mut [u8], at: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, to, at)
}

#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[derive(Debug)]
enum Page {
    /// In memory.
    Near(Box<[u8]>),
    /// In the file, from byte `at` on; the numbers of the records before are in memory.
    Far { at: u64, before: Box<[u32]> },
}

/// Where rows lie that one thread at a time writes.
#[derive(Clone, Debug)]
pub struct Store(Arc<Inner>);

/// The page that is being filled is written without a lock, which would wait for all that is on its way to memory.
#[derive(Debug)]
struct Inner {
    open: Box<[AtomicU64]>,
    /// Number of the first record of the open page, and how many of these are taken.
    first: AtomicU32,
    taken: AtomicU32,
    /// A record of a full page that is free: the number in it is that of the next.
    free: AtomicU32,
    full: Mutex<Vec<Page>>,
    room: Arc<Room>,
    /// Some thread writes; looked at by debug builds alone.
    writes: AtomicBool,
}

impl Store {
    /// Nothing lies there yet.
    pub fn new(room: &Arc<Room>) -> Store {
        Store(Arc::new(Inner {
            open: std::iter::repeat_with(AtomicU64::default).take(PAGE * WORDS).collect(),
            first: AtomicU32::new(0),
            taken: AtomicU32::new(0),
            free: AtomicU32::new(NONE),
            full: Mutex::default(),
            room: Arc::clone(room),
            writes: AtomicBool::new(false),
        }))
    }

    /// An empty one for another thread, with which it shares what all stores of a run do.
    pub fn beside(&self) -> Store {
        Store::new(&self.0.room)
    }

    /// Keeps `bytes`, which follow those of record `before`. The number of their record. No other thread does so at the
    /// same time.
    #[inline]
    pub fn put(&self, before: u32, bytes: &[u8; ROOM]) -> u32 {
        debug_assert!(!self.0.writes.swap(true, Relaxed), "two threads write rows of one store");
        let number = self.put_alone(before, bytes);
        debug_assert!(self.0.writes.swap(false, Relaxed));
        number
    }

    #[inline]
    fn put_alone(&self, before: u32, bytes: &[u8; ROOM]) -> u32 {
        let Inner { open, first, taken, free, .. } = &*self.0;
        if free.load(Relaxed) != NONE {
            return self.put_again(before, bytes);
        }
        let place = taken.load(Relaxed);
        let number = first.load(Relaxed) + place;
        let record = &open[place as usize * WORDS..][..WORDS];
        let (head, rest) = bytes.split_at(LINK);
        record[0].store(u64::from(before) | u64::from(number_in(head)) << 32, Relaxed);
        for (word, bytes) in record[1..].iter().zip(rest.as_chunks().0) {
            word.store(u64::from_le_bytes(*bytes), Relaxed);
        }
        taken.store(place + 1, Relaxed);
        if place as usize + 1 == PAGE {
            self.close();
        }
        number
    }

    /// Appends what records hold.
    ///
    /// # Panics
    ///
    /// If the file that they were written to cannot be read.
    pub fn read(&self, records: impl Iterator<Item = u32>, into: &mut Vec<u8>) {
        let full = self.full();
        for number in records {
            let (page, at) = place(number);
            match full.get(page) {
                Some(Page::Near(page)) => into.extend_from_slice(&page[at + LINK..][..ROOM]),
                Some(Page::Far { at: from, .. }) => {
                    let mut bytes = [0; ROOM];
                    self.0.room.read(&mut bytes, from + (at + LINK) as u64);
                    into.extend_from_slice(&bytes);
                }
                None => into.extend_from_slice(self.open(number).as_ref().map_or(&[], |record| &record[LINK..])),
            }
        }
    }

    /// The numbers of the records that lead to `last`, in order.
    pub fn chain(&self, last: u32) -> Vec<u32> {
        let full = self.full();
        let before = |number: u32| {
            let (page, at) = place(number);
            match full.get(page) {
                Some(Page::Near(bytes)) => number_in(&bytes[at..]),
                Some(Page::Far { before, .. }) => before[at / RECORD],
                None => self.open(number).map_or(NONE, |record| number_in(&record)),
            }
        };
        let one = |number: u32| (number != NONE).then_some(number);
        let mut chain: Vec<u32> = successors(one(last), |number| one(before(*number))).collect();
        chain.reverse();
        chain
    }

    /// Nobody needs these records any more: others take their place, where they lie in memory and their page is full.
    pub fn give_back(&self, records: &[u32]) {
        let mut full = self.full();
        // those that are taken first are the first ones
        for number in records.iter().rev() {
            let (page, at) = place(*number);
            if let Some(Page::Near(bytes)) = full.get_mut(page) {
                bytes[at..at + LINK].copy_from_slice(&self.0.free.load(Relaxed).to_le_bytes());
                self.0.free.store(*number, Relaxed);
            }
        }
    }

    /// As [`Store::put_alone`], in a record that was given back.
    #[cold]
    fn put_again(&self, before: u32, bytes: &[u8; ROOM]) -> u32 {
        let number = self.0.free.load(Relaxed);
        let (page, at) = place(number);
        if let Some(Page::Near(page)) = self.full().get_mut(page) {
            let (link, rest) = page[at..at + RECORD].split_at_mut(LINK);
            self.0.free.store(number_in(link), Relaxed);
            link.copy_from_slice(&before.to_le_bytes());
            rest.copy_from_slice(bytes);
        }
        number
    }

    /// The open page is full.
    #[cold]
    fn close(&self) {
        let Inner { open, first, taken, room, .. } = &*self.0;
        let page: Box<[u8]> = open.iter().flat_map(|word| word.load(Relaxed).to_le_bytes()).collect();
        let far = if room.take() { None } else { room.put_away(&page) };
        self.full().push(match far {
            Some(at) => Page::Far { at, before: page.chunks_exact(RECORD).map(number_in).collect() },
            None => Page::Near(page),
        });
        first.store(first.load(Relaxed) + PAGE as u32, Relaxed);
        taken.store(0, Relaxed);
    }

    fn full(&self) -> MutexGuard<'_, Vec<Page>> {
        self.0.full.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Record `number`, if it is one of the open page.
    fn open(&self, number: u32) -> Option<[u8; RECORD]> {
        let place = number.checked_sub(self.0.first.load(Relaxed))? as usize;
        let mut record = [0; RECORD];
        let words = self.0.open.get(place * WORDS..)?.iter();
        for (to, word) in record.as_chunks_mut().0.iter_mut().zip(words) {
            *to = word.load(Relaxed).to_le_bytes();
        }
        Some(record)
    }
}

/// The number that a record begins with.
fn number_in(record: &[u8]) -> u32 {
    record.first_chunk().map_or(NONE, |number| u32::from_le_bytes(*number))
}

/// The page of a record, and the byte there that it begins with.
fn place(number: u32) -> (usize, usize) {
    (number as usize / PAGE, number as usize % PAGE * RECORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(i: u32) -> [u8; ROOM] {
        let mut bytes = [i as u8; ROOM];
        bytes[..4].copy_from_slice(&i.to_le_bytes());
        bytes
    }

    /// Two subjects in turn, of so many records together.
    fn filled(store: &Store, count: u32) -> [u32; 2] {
        let mut last = [NONE; 2];
        (0..count).for_each(|i| last[i as usize % 2] = store.put(last[i as usize % 2], &bytes(i)));
        last
    }

    fn read(store: &Store, last: u32) -> Vec<[u8; ROOM]> {
        let mut bytes = Vec::new();
        store.read(store.chain(last).into_iter(), &mut bytes);
        bytes.as_chunks().0.to_vec()
    }

    fn of(subject: u32, count: u32) -> Vec<[u8; ROOM]> {
        (subject..count).step_by(2).map(bytes).collect()
    }

    const COUNT: u32 = 10 * PAGE as u32 + 7;

    #[test]
    fn records_come_back_from_memory_and_from_the_file() {
        for pages in [0, 1, 4, 100] {
            let room = Room::new(pages * (PAGE * RECORD) as u64);
            let store = Store::new(&room);
            let last = filled(&store, COUNT);
            let far = if cfg!(unix) { 10_u64.saturating_sub(pages) } else { 0 };
            assert_eq!(room.far(), far * (PAGE * RECORD) as u64, "{pages} pages in memory");
            assert_eq!(read(&store, last[0]), of(0, COUNT));
            assert_eq!(read(&store, last[1]), of(1, COUNT));
        }
    }

    #[test]
    fn stores_share_room_and_file() {
        let room = Room::new(3 * (PAGE * RECORD) as u64);
        let stores = [Store::new(&room), Store::new(&room)];
        let lasts = stores.each_ref().map(|store| filled(store, COUNT));
        for (store, last) in stores.iter().zip(lasts) {
            assert_eq!(read(store, last[1]), of(1, COUNT));
        }
        assert_eq!(room.far(), if cfg!(unix) { 17 } else { 0 } * (PAGE * RECORD) as u64);
    }

    #[test]
    fn records_that_are_given_back_are_taken_again_and_no_other_is_lost() {
        for pages in [0, 2, 100] {
            let room = Room::new(pages * (PAGE * RECORD) as u64);
            let store = Store::new(&room);
            let last = filled(&store, COUNT);
            let near = |store: &Store| store.full().len();
            let before = near(&store);
            store.give_back(&store.chain(last[0]));
            let more = (0..COUNT / 2).fold(NONE, |before, i| store.put(before, &bytes(i)));
            assert_eq!(read(&store, more), (0..COUNT / 2).map(bytes).collect::<Vec<_>>(), "{pages} pages in memory");
            assert_eq!(read(&store, last[1]), of(1, COUNT));
            if pages == 100 {
                assert_eq!(near(&store), before);
            }
        }
    }
}
