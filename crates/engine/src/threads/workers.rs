//! Agreement of a run's threads between two windows, and the batches that they exchange.

use crate::threads::barrier::{Barrier, Broken};
use incast_cc::Time;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Report of one thread to the others at the end of a window, or of all threads together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// The next window in which a packet arrives.
    pub window: u64,
    /// Time of the next event in a domain's own queue.
    pub wake: Time,
    /// Number of flows and queries of known size that have finished.
    pub finished: u64,
    /// Time at which the latest of them finished.
    pub finished_at: Time,
    /// Hops so far.
    pub hops: u64,
    /// Bytes of records so far.
    pub kept: u64,
    /// The listener wants the run to stop.
    pub stopped: bool,
    /// Earliest instant at which a domain found an endless loop.
    pub endless: Time,
    /// The threads part after this window: the run goes on in the other [mode](crate::threads::mode).
    pub parts: bool,
}

impl Report {
    /// A report of no events, past or future.
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

    /// Merges two reports.
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

/// Report of one thread, in its own cache lines. Written before a barrier and read after it, which orders both.
#[derive(Debug, Default)]
#[repr(align(128))]
struct ReportSlot {
    figures: [AtomicU64; 7],
    stopped: AtomicBool,
    parts: AtomicBool,
}

impl ReportSlot {
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

/// Channel for batches `P` from one thread to another, in its own cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Mailbox<P> {
    full: AtomicBool,
    batch: Mutex<P>,
}

/// The threads of a run.
#[derive(Debug)]
pub struct Workers<P> {
    barrier: Barrier,
    slots: Vec<ReportSlot>,
    /// Mailbox from thread `i` to thread `j`, at `i * threads + j`.
    mailboxes: Vec<Mailbox<P>>,
}

impl<P: Default> Workers<P> {
    /// For `threads` threads on a machine of `cores` cores.
    pub fn new(threads: usize, cores: usize) -> Workers<P> {
        Workers {
            barrier: Barrier::new(threads, cores),
            slots: (0..threads).map(|_| ReportSlot::default()).collect(),
            mailboxes: (0..threads * threads).map(|_| Mailbox::default()).collect(),
        }
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.slots.len()
    }

    /// Returns the merged report of all threads, once all have reported.
    ///
    /// # Errors
    /// A thread panicked.
    pub fn agree(&self, me: usize, report: Report) -> Result<Report, Broken> {
        self.slots[me].write(&report);
        self.barrier.wait()?;
        Ok(self.slots.iter().map(ReportSlot::read).fold(Report::NOTHING, Report::and))
    }

    /// Exchanges batches. `pack` fills the batch for each other thread and returns whether it holds anything. Once all
    /// have done so, `unpack` empties the received batches, in the order of threads.
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

    /// Releases all waiting threads, because one of them will not arrive.
    pub fn break_up(&self) {
        self.barrier.break_up();
    }

    /// Returns a guard. While it lives, a panic of this thread releases all waiting threads.
    pub fn guard(&self) -> Guard<'_> {
        Guard { barrier: &self.barrier }
    }
}

impl<P> Mailbox<P> {
    /// Locks the batch. No other thread holds it: a barrier lies between filling and emptying.
    fn open(&self) -> MutexGuard<'_, P> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
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
