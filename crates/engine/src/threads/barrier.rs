//! A barrier that spins briefly and then sleeps, and that breaks when one of the threads panics.

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

/// Polls before a thread sleeps, where every thread has a core.
const SPINS: u32 = if cfg!(loom) { 1 } else { 1_000 };
/// Number of epochs during which threads sleep at once, after one had to sleep: another process may occupy the core of
/// one of the threads, and spinning takes time from all.
const CALM: u32 = 16;

/// The barrier is broken: one of the threads panicked or could not start, and no other waits for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Broken;

/// A value in its own cache lines, so that arriving threads do not disturb those that poll the epoch.
#[derive(Debug)]
#[repr(align(128))]
struct CachePadded<T>(T);

/// Lets `parties` threads wait until all have arrived, repeatedly.
#[derive(Debug)]
pub struct Barrier {
    parties: usize,
    spins: u32,
    /// Epoch before which waiting threads sleep at once.
    calm_until: AtomicU32,
    arrived: CachePadded<AtomicUsize>,
    /// Number of epochs: times that all threads have arrived.
    epoch: CachePadded<AtomicU32>,
    broken: AtomicBool,
    /// Number of sleeping threads.
    sleeping: Mutex<usize>,
    wakeup: Condvar,
}

impl Barrier {
    /// A barrier for `parties` threads. With more threads than cores there is no spinning, which would take time from
    /// the threads that others wait for.
    pub fn new(parties: usize, cores: usize) -> Barrier {
        Barrier {
            parties,
            spins: if parties <= cores { SPINS } else { 0 },
            calm_until: AtomicU32::new(0),
            arrived: CachePadded(AtomicUsize::new(0)),
            epoch: CachePadded(AtomicU32::new(0)),
            broken: AtomicBool::new(false),
            sleeping: Mutex::new(0),
            wakeup: Condvar::new(),
        }
    }

    /// Waits for all others. All threads then see everything that each did before.
    ///
    /// # Errors
    /// The barrier is broken.
    pub fn wait(&self) -> Result<(), Broken> {
        let epoch = self.epoch.0.load(SeqCst);
        if self.arrived.0.fetch_add(1, SeqCst) + 1 == self.parties {
            self.arrived.0.store(0, SeqCst);
            self.epoch.0.store(epoch.wrapping_add(1), SeqCst);
            self.ring();
        } else {
            self.wait_for_epoch(epoch);
        }
        if self.broken.load(SeqCst) { Err(Broken) } else { Ok(()) }
    }

    /// Breaks the barrier. All present and future waits return the error.
    pub fn break_up(&self) {
        self.broken.store(true, SeqCst);
        self.ring();
    }

    /// True if epoch `epoch` is still to be waited for.
    fn waits(&self, epoch: u32) -> bool {
        self.epoch.0.load(SeqCst) == epoch && !self.broken.load(SeqCst)
    }

    /// Wakes the sleeping threads. A thread about to sleep holds the lock while it checks the epoch: it either sees the
    /// new epoch or is counted.
    fn ring(&self) {
        if self.sleeping.lock().is_ok_and(|sleeping| *sleeping > 0) {
            self.wakeup.notify_all();
        }
    }

    fn wait_for_epoch(&self, epoch: u32) {
        let left = self.calm_until.load(Relaxed).wrapping_sub(epoch);
        let calm = (1..=CALM).contains(&left);
        for _ in 0..if calm { 0 } else { self.spins } {
            if !self.waits(epoch) {
                return;
            }
            spin_loop();
        }
        if !calm {
            self.calm_until.store(epoch.wrapping_add(CALM), Relaxed);
        }
        // no thread panics while it holds this lock
        let Ok(mut sleeping) = self.sleeping.lock() else { return };
        *sleeping += 1;
        while self.waits(epoch) {
            match self.wakeup.wait(sleeping) {
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

    /// Explores all interleavings with at most three preemptions. Without the limit there are too many for two epochs.
    fn model(run: impl Fn() + Sync + Send + 'static) {
        let mut builder = Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(run);
    }

    #[test]
    fn what_one_thread_did_before_an_epoch_the_other_sees_after_it() {
        model(|| {
            let shared = Arc::new((Barrier::new(2, 2), [AtomicUsize::new(0), AtomicUsize::new(0)]));
            let run = |me: usize, shared: Arc<(Barrier, [AtomicUsize; 2])>| {
                for epoch in 1..=2 {
                    shared.1[me].store(epoch, Relaxed);
                    shared.0.wait().expect("nobody breaks it");
                    assert!(shared.1[1 - me].load(Relaxed) >= epoch);
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
