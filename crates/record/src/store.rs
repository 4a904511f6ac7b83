//! Storage for rows of many subjects: bytes in records of one size, each with the number of its subject's previous
//! record. Records are written one after the other, whatever their subjects, so that writing a row touches nearby
//! memory only.
//!
//! All stores of a run share a memory limit. Beyond it, every full page goes to a file. The file has no name while
//! rows are written, and is gone when the run ends or is killed. If it cannot be created or written (a full disk),
//! pages stay in memory. Once all records of a page in the file are freed, another page reuses its place. If a page
//! cannot be read again, the rows behind it are missing, and [`StoreBudget::unreadable`] says so: the run has no
//! result.

use std::env::temp_dir;
use std::fmt::Debug;
#[cfg(unix)]
use std::fs::File;
use std::io;
use std::iter::successors;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Row bytes per record.
pub const ROOM: usize = 84;
/// Bytes of a record; the number of the previous record comes first.
const RECORD: usize = LINK + ROOM;
const LINK: usize = size_of::<u32>();
/// Words of a record.
const WORDS: usize = RECORD / size_of::<u64>();
/// Records per page.
const PAGE: usize = 200;
/// Bytes per page.
const PAGE_BYTES: u64 = (PAGE * RECORD) as u64;
/// Marks the absence of a record.
pub const NONE: u32 = u32::MAX;

/// Memory and file shared by all stores of a run.
#[derive(Debug)]
pub struct StoreBudget {
    /// Bytes of memory still available.
    left: AtomicU64,
    /// Number of pages in the file.
    far: AtomicU64,
    places: Mutex<Places>,
    open: OpenDisk,
    disk: OnceLock<Option<Box<dyn Disk>>>,
    /// First page that could not be read: the reason.
    unreadable: OnceLock<String>,
}

/// Free places for pages in the file.
#[derive(Debug, Default)]
struct Places {
    /// End of the file.
    end: u64,
    /// Places of freed pages, used first.
    free: Vec<u64>,
}

impl StoreBudget {
    /// Limits memory to `bytes`, plus one page per store and one number per record.
    pub fn new(bytes: u64) -> Arc<StoreBudget> {
        StoreBudget::on(bytes, || nameless(&temp_dir()))
    }

    /// As [`StoreBudget::new`], with another disk.
    pub fn on(bytes: u64, open: OpenDisk) -> Arc<StoreBudget> {
        Arc::new(StoreBudget {
            left: AtomicU64::new(bytes),
            far: AtomicU64::new(0),
            places: Mutex::default(),
            open,
            disk: OnceLock::new(),
            unreadable: OnceLock::new(),
        })
    }

    /// Reserves memory for a page; returns whether it was available.
    fn take(&self) -> bool {
        self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(PAGE_BYTES)).is_ok()
    }

    fn disk(&self) -> Option<&dyn Disk> {
        self.disk.get_or_init(self.open).as_deref()
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a page to the file and returns its place; `None` if that fails.
    fn put_away(&self, page: &[u8]) -> Option<u64> {
        let disk = self.disk()?;
        let at = self.place();
        if disk.write(page, at).is_err() {
            self.places().free.push(at);
            return None;
        }
        self.far.fetch_add(1, Relaxed);
        Some(at)
    }

    /// Takes a place for a page.
    fn place(&self) -> u64 {
        let mut places = self.places();
        places.free.pop().unwrap_or_else(|| {
            places.end += PAGE_BYTES;
            places.end - PAGE_BYTES
        })
    }

    /// Frees the place of a page.
    fn give_back(&self, at: u64) {
        self.places().free.push(at);
        self.far.fetch_sub(1, Relaxed);
    }

    /// Reads bytes of the file; returns whether that succeeded.
    fn read(&self, to: &mut [u8], at: u64) -> bool {
        let read = self.disk().map_or_else(|| Err(io::ErrorKind::NotFound.into()), |disk| disk.read(to, at));
        if let Err(error) = &read {
            self.unreadable.get_or_init(|| error.to_string());
        }
        read.is_ok()
    }

    /// Message for the user if a page of the file could not be read again: rows are missing.
    pub fn unreadable(&self) -> Option<String> {
        self.unreadable.get().map(|why| {
            format!(
                "rows of the timeline that were written to a file in {} (TMPDIR) cannot be read again: {why}; set \
                 TMPDIR to a folder of another disk and run again, or run without measure.timeline",
                temp_dir().display()
            )
        })
    }
}

/// Function that opens the disk of a run; `None`: there is none.
pub type OpenDisk = fn() -> Option<Box<dyn Disk>>;

/// File that holds pages outside memory.
pub trait Disk: Debug + Send + Sync {
    /// Writes a page from byte `at` on.
    fn write(&self, page: &[u8], at: u64) -> io::Result<()>;
    /// Reads the bytes from `at` on, as many as `to` has.
    fn read(&self, to: &mut [u8], at: u64) -> io::Result<()>;
}

#[cfg(unix)]
impl Disk for File {
    fn write(&self, page: &[u8], at: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, page, at)
    }

    fn read(&self, to: &mut [u8], at: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, to, at)
    }
}

/// Number of names to try for the file before it is unlinked. A process of the same number may have left files, if it
/// was killed before unlinking.
#[cfg(unix)]
const NAMES: u32 = 1000;

/// Creates a file in a folder and unlinks it at once: it is gone when it is closed.
#[cfg(unix)]
fn nameless(folder: &Path) -> Option<Box<dyn Disk>> {
    for number in 0..NAMES {
        let path = folder.join(format!("incast-timeline-{}-{number}", std::process::id()));
        match File::options().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return std::fs::remove_file(&path).ok().map(|()| -> Box<dyn Disk> { Box::new(file) }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => return None,
        }
    }
    None
}

#[cfg(not(unix))]
fn nameless(_: &Path) -> Option<Box<dyn Disk>> {
    None
}

#[derive(Debug)]
enum Page {
    /// In memory.
    Near(Box<[u8]>),
    /// In the file, from byte `at` on; the numbers of the previous records stay in memory. `back` records are freed.
    Far { at: u64, before: Box<[u32]>, back: usize },
    /// All records are freed, and so is their place in the file.
    Gone,
}

/// Store of rows; only one thread at a time may write to it.
#[derive(Clone, Debug)]
pub struct Store(Arc<Inner>);

/// The open page is written without a lock, because a lock would wait for all pending memory writes.
#[derive(Debug)]
struct Inner {
    open: Box<[AtomicU64]>,
    /// Number of the first record of the open page, and the number of records taken there.
    first: AtomicU32,
    taken: AtomicU32,
    /// First free record of the full pages in memory; its link is the number of the next free record.
    free: AtomicU32,
    full: Mutex<Vec<Page>>,
    room: Arc<StoreBudget>,
    /// Set while a thread writes; checked by debug builds only.
    writes: AtomicBool,
}

impl Store {
    /// An empty store.
    pub fn new(room: &Arc<StoreBudget>) -> Store {
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

    /// An empty store for another thread; it shares memory and file with this one.
    pub fn sibling(&self) -> Store {
        Store::new(&self.0.room)
    }

    /// Row bytes in the file, for all stores that share it.
    pub fn far(&self) -> u64 {
        self.0.room.far.load(Relaxed) * PAGE_BYTES
    }

    /// Writes `bytes`, which follow those of record `before`, and returns the number of their record. Only one thread
    /// may call it at a time.
    #[inline]
    pub fn put(&self, before: u32, bytes: &[u8; ROOM]) -> u32 {
        debug_assert!(!self.0.writes.swap(true, Relaxed), "two threads write rows of one store");
        let number = self.put_alone(before, bytes);
        debug_assert!(self.0.writes.swap(false, Relaxed));
        number
    }

    #[inline]
    fn put_alone(&self, before: u32, bytes: &[u8; ROOM]) -> u32 {
        let Inner { first, taken, free, .. } = &*self.0;
        if free.load(Relaxed) != NONE {
            return self.put_again(before, bytes);
        }
        let place = taken.load(Relaxed);
        let number = first.load(Relaxed) + place;
        self.write_open(place, before, bytes);
        taken.store(place + 1, Relaxed);
        if place as usize + 1 == PAGE {
            self.close();
        }
        number
    }

    /// Writes a record of the open page.
    #[inline]
    fn write_open(&self, place: u32, before: u32, bytes: &[u8; ROOM]) {
        let record = &self.0.open[place as usize * WORDS..][..WORDS];
        let (head, rest) = bytes.split_at(LINK);
        record[0].store(u64::from(before) | u64::from(number_in(head)) << 32, Relaxed);
        for (word, bytes) in record[1..].iter().zip(rest.as_chunks().0) {
            word.store(u64::from_le_bytes(*bytes), Relaxed);
        }
    }

    /// Message for the user if rows of a store that shares the file [could not be read](StoreBudget::unreadable).
    pub fn unreadable(&self) -> Option<String> {
        self.0.room.unreadable()
    }

    /// Appends the contents of `records`, up to the first that cannot be read. Returns whether all were read.
    #[must_use]
    pub fn read(&self, records: impl Iterator<Item = u32>, into: &mut Vec<u8>) -> bool {
        let full = self.full();
        for number in records {
            let (page, at) = place(number);
            match full.get(page) {
                Some(Page::Near(page)) => into.extend_from_slice(&page[at + LINK..][..ROOM]),
                Some(Page::Far { at: from, .. }) => {
                    let mut bytes = [0; ROOM];
                    if !self.0.room.read(&mut bytes, from + (at + LINK) as u64) {
                        return false;
                    }
                    into.extend_from_slice(&bytes);
                }
                // a freed record is never read
                Some(Page::Gone) => {}
                None => into.extend_from_slice(self.open(number).as_ref().map_or(&[], |record| &record[LINK..])),
            }
        }
        true
    }

    /// Numbers of the records that lead to `last`, in order.
    pub fn chain(&self, last: u32) -> Vec<u32> {
        let full = self.full();
        let before = |number: u32| {
            let (page, at) = place(number);
            match full.get(page) {
                Some(Page::Near(bytes)) => number_in(&bytes[at..]),
                Some(Page::Far { before, .. }) => before[at / RECORD],
                Some(Page::Gone) => NONE,
                None => self.open(number).map_or(NONE, |record| number_in(&record)),
            }
        };
        let one = |number: u32| (number != NONE).then_some(number);
        let mut chain: Vec<u32> = successors(one(last), |number| one(before(*number))).collect();
        chain.reverse();
        chain
    }

    /// Frees records; each may be freed once. Full pages in memory reuse records one by one. The file reuses whole
    /// pages only.
    pub fn give_back(&self, records: &[u32]) {
        let mut full = self.full();
        // the free list returns the first records first
        for number in records.iter().rev() {
            let (page, at) = place(*number);
            match full.get_mut(page) {
                Some(Page::Near(bytes)) => {
                    bytes[at..at + LINK].copy_from_slice(&self.0.free.load(Relaxed).to_le_bytes());
                    self.0.free.store(*number, Relaxed);
                }
                Some(Page::Far { back, .. }) if *back + 1 < PAGE => *back += 1,
                Some(far @ Page::Far { .. }) => {
                    if let Page::Far { at, .. } = std::mem::replace(far, Page::Gone) {
                        self.0.room.give_back(at);
                    }
                }
                Some(Page::Gone) | None => {}
            }
        }
    }

    /// Writes the records `whole` in place of `records`; records in memory are overwritten. Returns the number of the
    /// last one. Only one thread may write at a time.
    pub fn put_over(&self, records: &[u32], whole: &[[u8; ROOM]]) -> u32 {
        debug_assert!(!self.0.writes.swap(true, Relaxed), "two threads write rows of one store");
        let (mut before, mut rest, mut unused) = (NONE, whole.iter(), Vec::new());
        let mut full = self.full();
        for number in records {
            let (page, at) = place(*number);
            let kept = match full.get_mut(page) {
                Some(Page::Near(page)) => rest.next().map(|bytes| {
                    let (link, room) = page[at..at + RECORD].split_at_mut(LINK);
                    link.copy_from_slice(&before.to_le_bytes());
                    room.copy_from_slice(bytes);
                }),
                Some(Page::Far { .. } | Page::Gone) => None,
                None => rest.next().map(|bytes| self.write_open(*number % PAGE as u32, before, bytes)),
            };
            match kept {
                Some(()) => before = *number,
                None => unused.push(*number),
            }
        }
        drop(full);
        let last = rest.fold(before, |before, bytes| self.put_alone(before, bytes));
        self.give_back(&unused);
        debug_assert!(self.0.writes.swap(false, Relaxed));
        last
    }

    /// As [`Store::put_alone`], in a freed record.
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

    /// Closes the full page and opens the next one.
    #[cold]
    fn close(&self) {
        let Inner { open, first, taken, room, .. } = &*self.0;
        let page: Box<[u8]> = open.iter().flat_map(|word| word.load(Relaxed).to_le_bytes()).collect();
        let far = if room.take() { None } else { room.put_away(&page) };
        self.full().push(match far {
            Some(at) => Page::Far { at, before: page.chunks_exact(RECORD).map(number_in).collect(), back: 0 },
            None => Page::Near(page),
        });
        first.store(first.load(Relaxed) + PAGE as u32, Relaxed);
        taken.store(0, Relaxed);
    }

    fn full(&self) -> MutexGuard<'_, Vec<Page>> {
        self.0.full.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Contents of record `number`, if it is in the open page.
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

/// Number at the start of a record.
fn number_in(record: &[u8]) -> u32 {
    record.first_chunk().map_or(NONE, |number| u32::from_le_bytes(*number))
}

/// Page of a record, and its first byte there.
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

    /// Writes `count` records of two subjects in turn.
    fn filled(store: &Store, count: u32) -> [u32; 2] {
        let mut last = [NONE; 2];
        (0..count).for_each(|i| last[i as usize % 2] = store.put(last[i as usize % 2], &bytes(i)));
        last
    }

    fn read(store: &Store, last: u32) -> Vec<[u8; ROOM]> {
        let mut bytes = Vec::new();
        assert!(store.read(store.chain(last).into_iter(), &mut bytes));
        bytes.as_chunks().0.to_vec()
    }

    fn of(subject: u32, count: u32) -> Vec<[u8; ROOM]> {
        (subject..count).step_by(2).map(bytes).collect()
    }

    const COUNT: u32 = 10 * PAGE as u32 + 7;

    #[test]
    fn records_come_back_from_memory_and_from_the_file() {
        for pages in [0, 1, 4, 100] {
            let room = StoreBudget::new(pages * PAGE_BYTES);
            let store = Store::new(&room);
            let last = filled(&store, COUNT);
            let far = if cfg!(unix) { 10_u64.saturating_sub(pages) } else { 0 };
            assert_eq!(store.far(), far * PAGE_BYTES, "{pages} pages in memory");
            assert_eq!(read(&store, last[0]), of(0, COUNT));
            assert_eq!(read(&store, last[1]), of(1, COUNT));
        }
    }

    #[test]
    fn stores_share_room_and_file() {
        let room = StoreBudget::new(3 * PAGE_BYTES);
        let stores = [Store::new(&room), Store::new(&room)];
        let lasts = stores.each_ref().map(|store| filled(store, COUNT));
        for (store, last) in stores.iter().zip(lasts) {
            assert_eq!(read(store, last[1]), of(1, COUNT));
        }
        assert_eq!(stores.map(|store| store.far()), [if cfg!(unix) { 17 } else { 0 } * PAGE_BYTES; 2]);
    }

    #[test]
    fn records_that_are_given_back_are_taken_again_and_no_other_is_lost() {
        for pages in [0, 2, 100] {
            let room = StoreBudget::new(pages * PAGE_BYTES);
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

    /// Disk with space for a number of pages, and its bytes.
    #[derive(Debug)]
    struct Small(u64, Arc<Mutex<Vec<u8>>>);

    /// Stores with all pages on a disk that has space for some, and the bytes of that disk.
    fn on_disk(pages: u64) -> (Arc<StoreBudget>, Arc<Mutex<Vec<u8>>>) {
        let (budget, bytes) = (StoreBudget::new(0), Arc::default());
        assert!(budget.disk.set(Some(Box::new(Small(pages, Arc::clone(&bytes))))).is_ok());
        (budget, bytes)
    }

    impl Disk for Small {
        fn write(&self, page: &[u8], at: u64) -> io::Result<()> {
            if at + page.len() as u64 > self.0 * PAGE_BYTES {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let (mut bytes, at) = (self.1.lock().unwrap(), at as usize);
            let length = bytes.len().max(at + page.len());
            bytes.resize(length, 0);
            bytes[at..at + page.len()].copy_from_slice(page);
            Ok(())
        }

        fn read(&self, to: &mut [u8], at: u64) -> io::Result<()> {
            let (bytes, at) = (self.1.lock().unwrap(), at as usize);
            to.copy_from_slice(bytes.get(at..at + to.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        }
    }

    #[test]
    fn what_a_full_disk_has_no_room_for_stays_in_memory() {
        for pages in [0, 1, 6] {
            let store = Store::new(&on_disk(pages).0);
            let last = filled(&store, COUNT);
            assert_eq!(store.far(), pages * PAGE_BYTES);
            assert_eq!([read(&store, last[0]), read(&store, last[1])], [of(0, COUNT), of(1, COUNT)], "{pages} pages");
        }
    }

    #[test]
    fn a_page_of_the_file_is_taken_again_once_all_its_records_are_given_back() {
        let store = Store::new(&on_disk(10).0);
        let mut last = filled(&store, COUNT);
        // half of each page: no page is free
        store.give_back(&store.chain(last[0]));
        assert_eq!(store.far(), 10 * PAGE_BYTES);
        store.give_back(&store.chain(last[1]));
        assert_eq!(store.far(), 0);
        // the disk is full
        for _ in 0..5 {
            last = filled(&store, 10 * PAGE as u32);
            assert_eq!(store.far(), 10 * PAGE_BYTES);
            assert_eq!([0, 1].map(|i| read(&store, last[i])), [0, 1].map(|i| of(i as u32, 10 * PAGE as u32)));
            last.iter().for_each(|last| store.give_back(&store.chain(*last)));
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told_of_with_its_folder() {
        let (room, disk) = on_disk(10);
        let store = Store::new(&room);
        let last = filled(&store, COUNT);
        assert_eq!(store.unreadable(), None);
        // of the file only the first page is left
        disk.lock().unwrap().truncate(PAGE_BYTES as usize);
        let mut bytes = Vec::new();
        assert!(!store.read(store.chain(last[0]).into_iter(), &mut bytes), "records of later pages are lost");
        assert_eq!(bytes.as_chunks().0, of(0, PAGE as u32), "those of the first are read");
        let words = store.sibling().unreadable().unwrap();
        let expected = "(TMPDIR) cannot be read again: unexpected end of file; set TMPDIR to a folder of another disk";
        assert!(words.contains(expected) && words.contains(temp_dir().to_str().unwrap()), "{words}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_has_no_name_and_those_of_killed_processes_are_left_alone() {
        let folder = temp_dir().join(format!("incast-names-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let left = |number| folder.join(format!("incast-timeline-{}-{number}", std::process::id()));
        (0..3).for_each(|number| std::fs::write(left(number), "left").unwrap());
        let disk = nameless(&folder);
        let names = std::fs::read_dir(&folder).unwrap().count();
        let texts: Vec<_> = (0..3).map(|number| std::fs::read_to_string(left(number)).unwrap()).collect();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((names, texts), (3, vec!["left".to_string(); 3]));
        let (disk, mut read) = (disk.unwrap(), [0; 3]);
        disk.write(b"abc", 5).unwrap();
        disk.read(&mut read, 5).unwrap();
        assert_eq!(&read, b"abc");
        assert!(nameless(&folder).is_none(), "a folder that is gone");
    }
}
