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

/// Looks at the turn before a thread sleeps, where every thread has a core.
const SPINS: u32 = if cfg!(loom) { 1 } else { 1_000 };
/// Once a thread had to sleep, those that wait sleep at once for so many turns: another process may have a core of one
/// of the threads, and who spins takes time from all.
const CALM: u32 = 16;

/// One of the threads does not come, because it panicked or could not begin: no other waits for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Broken;

/// In cache lines of its own: who comes does not disturb those that look at the turn.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

/// Lets `parties` threads wait until all have come, again and again.
#[derive(Debug)]
pub struct Barrier {
    parties: usize,
    spins: u32,
    /// Until this turn those that wait sleep at once.
    calm_until: AtomicU32,
    arrived: Apart<AtomicUsize>,
    /// How often all have come.
    turn: Apart<AtomicU32>,
    broken: AtomicBool,
    /// How many sleep.
    sleeping: Mutex<usize>,
    bell: Condvar,
}

impl Barrier {
    /// For `parties` threads. With more threads than cores spinning takes time from those that are waited for.
    pub fn new(parties: usize, cores: usize) -> Barrier {
        Barrier {
            parties,
            spins: if parties <= cores { SPINS } else { 0 },
            calm_until: AtomicU32::new(0),
            arrived: Apart(AtomicUsize::new(0)),
            turn: Apart(AtomicU32::new(0)),
            broken: AtomicBool::new(false),
            sleeping: Mutex::new(0),
            bell: Condvar::new(),
        }
    }

    /// Waits for all others. What each did before is seen by all after it.
    ///
    /// # Errors
    /// The barrier is broken.
    pub fn wait(&self) -> Result<(), Broken> {
        let turn = self.turn.0.load(SeqCst);
        if self.arrived.0.fetch_add(1, SeqCst) + 1 == self.parties {
            self.arrived.0.store(0, SeqCst);
            self.turn.0.store(turn.wrapping_add(1), SeqCst);
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
        self.turn.0.load(SeqCst) == turn && !self.broken.load(SeqCst)
    }

    /// Wakes those that sleep. Whoever is about to holds the lock while it looks at the turn: it either sees the new
    /// one, or is counted.
    fn ring(&self) {
        if self.sleeping.lock().is_ok_and(|sleeping| *sleeping > 0) {
            self.bell.notify_all();
        }
    }

    fn wait_for_turn(&self, turn: u32) {
        let left = self.calm_until.load(Relaxed).wrapping_sub(turn);
        let calm = (1..=CALM).contains(&left);
        for _ in 0..if calm { 0 } else { self.spins } {
            if !self.waits(turn) {
                return;
            }
            spin_loop();
        }
        if !calm {
            self.calm_until.store(turn.wrapping_add(CALM), Relaxed);
        }
        // a thread that panics does so outside of this lock
        let Ok(mut sleeping) = self.sleeping.lock() else { return };
        *sleeping += 1;
        while self.waits(turn) {
            match self.bell.wait(sleeping) {
                Ok(still) => sleeping = still,
                Err(_) => return,
            }
        }
        *sleeping -= 1;
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::{Barrier, Broken};
    use loom::model::Builder;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use loom::thread;

    /// Goes through all interleavings in which a thread is taken off its core at most three times: all of them are too
    /// many for two turns.
    fn model(run: impl Fn() + Sync + Send + 'static) {
        let mut builder = Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(run);
    }

    #[test]
    fn what_one_thread_did_before_a_turn_the_other_sees_after_it() {
        model(|| {
            let shared = Arc::new((Barrier::new(2, 2), [AtomicUsize::new(0), AtomicUsize::new(0)]));
            let run = |me: usize, shared: Arc<(Barrier, [AtomicUsize; 2])>| {
                for turn in 1..=2 {
                    shared.1[me].store(turn, Relaxed);
                    shared.0.wait().expect("nobody breaks it");
                    assert!(shared.1[1 - me].load(Relaxed) >= turn);
                    shared.0.wait().expect("nobody breaks it");
                }
            };
            let other = thread::spawn({
                let shared = shared.clone();
                move || run(1, shared)
            });
            run(0, shared);
            other.join().expect("the other thread has no failure");
        });
    }

    #[test]
    fn who_waits_is_told_that_the_barrier_broke() {
        model(|| {
            let barrier = Arc::new(Barrier::new(2, 2));
            let waits = thread::spawn({
                let barrier = barrier.clone();
                move || barrier.wait()
            });
            barrier.break_up();
            assert_eq!(waits.join().expect("the other thread has no failure"), Err(Broken));
        });
    }
}
