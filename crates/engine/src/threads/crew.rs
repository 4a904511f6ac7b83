//! What the threads of a run agree on between two windows, and what they hand to one another.

use crate::threads::barrier::{Barrier, Broken};
use incast_cc::Time;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What one thread tells the others at the end of a window, or all of them together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// The next window in which a packet arrives.
    pub window: u64,
    /// The next event of a domain's own.
    pub wake: Time,
    /// So many flows and queries of a known size have finished.
    pub finished: u64,
    /// The last of them did then.
    pub finished_at: Time,
    /// Hops so far.
    pub hops: u64,
    /// Bytes of records so far.
    pub kept: u64,
    /// Whoever waits for the run wants it to stop.
    pub stopped: bool,
    /// The instant at which a domain found an endless loop.
    pub endless: Time,
    /// The threads part after this window: the run goes on in the other [mode](crate::threads::pace).
    pub parts: bool,
}

impl Report {
    /// Nothing is left to happen, and nothing has happened.
    pub const NOTHING: Report = Report {
        window: u64::MAX,
        wake: Time::NEVER,
        finished: 0,
        finished_at: Time::ZERO,
        hops: 0,
        kept: 0,
        stopped: false,
        endless: Time::NEVER,
        parts: false,
    };

    /// Two together.
    pub fn and(self, other: Report) -> Report {
        Report {
            window: self.window.min(other.window),
            wake: self.wake.min(other.wake),
            finished: self.finished + other.finished,
            finished_at: self.finished_at.max(other.finished_at),
            hops: self.hops + other.hops,
            kept: self.kept + other.kept,
            stopped: self.stopped || other.stopped,
            endless: self.endless.min(other.endless),
            parts: self.parts || other.parts,
        }
    }
}

/// The report of one thread, in cache lines of its own. Written before a barrier and read after it, which orders both.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Board {
    figures: [AtomicU64; 7],
    stopped: AtomicBool,
    parts: AtomicBool,
}

impl Board {
    fn write(&self, report: &Report) {
        let Report { window, wake, finished, finished_at, hops, kept, stopped, endless, parts } = *report;
        let figures = [window, wake.0, finished, finished_at.0, hops, kept, endless.0];
        self.figures.iter().zip(figures).for_each(|(at, figure)| at.store(figure, Relaxed));
        self.stopped.store(stopped, Relaxed);
        self.parts.store(parts, Relaxed);
    }

    fn read(&self) -> Report {
        let [window, wake, finished, finished_at, hops, kept, endless] =
            [0, 1, 2, 3, 4, 5, 6].map(|i| self.figures[i].load(Relaxed));
        let (wake, finished_at, endless) = (Time(wake), Time(finished_at), Time(endless));
        let (stopped, parts) = (self.stopped.load(Relaxed), self.parts.load(Relaxed));
        Report { window, wake, finished, finished_at, hops, kept, stopped, endless, parts }
    }
}

/// The way of parcels `P` from one thread to another, in cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Mailbox<P> {
    full: AtomicBool,
    parcel: Mutex<P>,
}

/// The threads of a run.
#[derive(Debug)]
pub struct Crew<P> {
    barrier: Barrier,
    boards: Vec<Board>,
    /// From thread `i` to thread `j` at `i * threads + j`.
    mailboxes: Vec<Mailbox<P>>,
}

impl<P: Default> Crew<P> {
    /// Of `threads` on a machine of `cores`.
    pub fn new(threads: usize, cores: usize) -> Crew<P> {
        Crew {
            barrier: Barrier::new(threads, cores),
            boards: (0..threads).map(|_| Board::default()).collect(),
            mailboxes: (0..threads * threads).map(|_| Mailbox::default()).collect(),
        }
    }

    /// How many there are.
    pub fn threads(&self) -> usize {
        self.boards.len()
    }

    /// Gives the report of all, as soon as everyone has made theirs.
    ///
    /// # Errors
    /// A thread panicked.
    pub fn agree(&self, me: usize, report: Report) -> Result<Report, Broken> {
        self.boards[me].write(&report);
        self.barrier.wait()?;
        Ok(self.boards.iter().map(Board::read).fold(Report::NOTHING, Report::and))
    }

    /// Hands parcels over: `pack` fills the one for each other thread and says whether something is in it, and once
    /// all have done so `unpack` empties what has come, in the order of threads.
    ///
    /// # Errors
    /// A thread panicked.
    pub fn exchange<W>(
        &self,
        me: usize,
        work: &mut W,
        mut pack: impl FnMut(&mut W, usize, &mut P) -> bool,
        mut unpack: impl FnMut(&mut W, &mut P),
    ) -> Result<(), Broken> {
        let others = || (0..self.threads()).filter(|other| *other != me);
        for to in others() {
            let mailbox = &self.mailboxes[me * self.threads() + to];
            let full = pack(work, to, &mut mailbox.open());
            mailbox.full.store(full, Relaxed);
        }
        self.barrier.wait()?;
        for from in others() {
            let mailbox = &self.mailboxes[from * self.threads() + me];
            if mailbox.full.load(Relaxed) {
                unpack(work, &mut mailbox.open());
            }
        }
        Ok(())
    }

    /// Ends the waiting of all: one of the threads does not come.
    pub fn break_up(&self) {
        self.barrier.break_up();
    }

    /// While what it gives lives, a panic of this thread ends the waiting of all others.
    pub fn guard(&self) -> Guard<'_> {
        Guard { barrier: &self.barrier }
    }
}

impl<P> Mailbox<P> {
    /// No other thread has it open: a barrier lies between filling and emptying.
    fn open(&self) -> MutexGuard<'_, P> {
        self.parcel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Breaks the barrier when its thread panics.
pub struct Guard<'a> {
    barrier: &'a Barrier,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.barrier.break_up();
        }
    }
}
