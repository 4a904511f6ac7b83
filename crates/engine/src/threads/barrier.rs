//! A barrier that spins for a short time and then sleeps, and that breaks when one of the threads panics.

#[cfg(loom)]
use loom::hint::spin_loop;
#[cfg(loom)]
use loom::sync::{
    Condvar, Mutex,
    atomic::{
        AtomicBool, AtomicU32, AtomicUsize,
        Ordering::{Relaxed, SeqCst},
    },
};
#[cfg(not(loom))]
use std::hint::spin_loop;
#[cfg(not(loom))]
use std::sync::{
    Condvar, Mutex,
    atomic::{
        AtomicBool, AtomicU32, AtomicUsize,
        Ordering::{Relaxed, SeqCst},
    },
};

/// Turns that a thread spins for the others before it sleeps, where every thread has a core: tens of microseconds.
const SPINS: u32 = if cfg!(loom) { 1 } else { 1_000 };
/// Once a thread had to sleep, so many waits sleep at once: another process may have a core of one of the threads, and
/// who spins takes time from all.
const CALM: u32 = 16;

/// One of the threads panicked: no other waits for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Broken;

/// Lets `parties` threads wait until all have come, again and again.
#[derive(Debug)]
pub struct Barrier {
    parties: usize,
    spins: u32,
    /// Waits to come that sleep at once.
    calm: AtomicU32,
    arrived: AtomicUsize,
    /// How often all have come.
    turn: AtomicU32,
    broken: AtomicBool,
    sleeping: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

impl Barrier {
    /// For `parties` threads. With more threads than cores spinning takes time from those that are waited for.
    pub fn new(parties: usize, cores: usize) -> Barrier {
        Barrier {
            parties,
            spins: if parties <= cores { SPINS } else { 0 },
            calm: AtomicU32::new(0),
            arrived: AtomicUsize::new(0),
            turn: AtomicU32::new(0),
            broken: AtomicBool::new(false),
            sleeping: AtomicUsize::new(0),
            bed: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// Waits for all others. What each did before is seen by all after it.
    ///
    /// # Errors
    /// The barrier is broken.
    pub fn wait(&self) -> Result<(), Broken> {
        let turn = self.turn.load(SeqCst);
        if self.arrived.fetch_add(1, SeqCst) + 1 == self.parties {
            self.arrived.store(0, SeqCst);
            self.turn.store(turn.wrapping_add(1), SeqCst);
            self.ring();
        } else {
            self.wait_for_turn(turn);
        }
        if self.broken.load(SeqCst) { Err(Broken) } else { Ok(()) }
    }

    /// Breaks the barrier: all that wait, or will, are told.
    pub fn break_up(&self) {
        self.broken.store(true, SeqCst);
        self.ring();
    }

    /// Whether there is something to wait for after turn `turn`.
    fn waits(&self, turn: u32) -> bool {
        self.turn.load(SeqCst) == turn && !self.broken.load(SeqCst)
    }

    /// Wakes those that sleep. Whoever is about to either sees the new turn, or is counted.
    fn ring(&self) {
        if self.sleeping.load(SeqCst) > 0 {
            drop(self.bed.lock());
            self.bell.notify_all();
        }
    }

    fn wait_for_turn(&self, turn: u32) {
        let calm = self.calm.load(Relaxed);
        if calm > 0 {
            self.calm.store(calm - 1, Relaxed);
        }
        for _ in 0..if calm > 0 { 0 } else { self.spins } {
            if !self.waits(turn) {
                return;
            }
            spin_loop();
        }
        if calm == 0 {
            self.calm.store(CALM, Relaxed);
        }
        // a thread that panics does so outside of this lock
        let Ok(mut bed) = self.bed.lock() else { return };
        self.sleeping.fetch_add(1, SeqCst);
        while self.waits(turn) {
            match self.bell.wait(bed) {
                Ok(still) => bed = still,
                Err(_) => return,
            }
        }
        self.sleeping.fetch_sub(1, SeqCst);
    }
}
