//! Threads for work without order: the set-up of a run, and its outcome.

use super::clock::thread_time;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Parts of the work for each thread. Faster threads do more parts.
const PARTS_A_THREAD: usize = 4;
/// Minimum number of parts of work that can be stopped: the caller asks after each of its own.
const MONITORED_PARTS: usize = 64;

/// `items` cut by `ranges`, each with the number of its first item.
pub fn split<'a, T>(mut items: &'a mut [T], ranges: &[Range<usize>]) -> Vec<(usize, &'a mut [T])> {
    let part = |range: &Range<usize>| Some((range.start, items.split_off_mut(..range.len())?));
    ranges.iter().filter_map(part).collect()
}

/// Concatenates parts with `count` items in total.
fn joined<T>(count: usize, parts: Vec<Vec<T>>) -> Vec<T> {
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_default();
    all.reserve_exact(count - all.len());
    parts.for_each(|mut part| all.append(&mut part));
    all
}

/// Number of threads for set-up work, and their processor time.
#[derive(Debug)]
pub struct ThreadPool {
    threads: usize,
    /// Processor time of all threads except the caller's so far, ns.
    time: AtomicU64,
}

impl ThreadPool {
    /// A pool of `threads`, including the caller's.
    pub fn new(threads: usize) -> ThreadPool {
        ThreadPool { threads, time: AtomicU64::new(0) }
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Processor time of the work on threads other than the caller's.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.time.load(Relaxed))
    }

    /// Ranges of `count` items. A single range if there is one thread.
    pub fn ranges(&self, count: usize) -> Vec<Range<usize>> {
        let parts = if self.threads > 1 { (self.threads * PARTS_A_THREAD).min(count) } else { 1 };
        (0..parts).map(|i| count * i / parts..count * (i + 1) / parts).collect()
    }

    /// Ranges of `count` items, each short enough to ask in between.
    pub fn short_ranges(&self, count: usize) -> Vec<Range<usize>> {
        let parts = MONITORED_PARTS.max(self.threads * PARTS_A_THREAD).min(count);
        (0..parts).map(|i| count * i / parts..count * (i + 1) / parts).collect()
    }

    /// Results of `work` on every part, in the order of parts. If the system refuses a thread, the others do its work.
    pub fn share<P: Send, T: Send>(&self, parts: Vec<P>, work: impl Fn(P) -> T + Sync) -> Vec<T> {
        self.share_monitored(parts, &mut |_| true, work).unwrap_or_default()
    }

    /// Like [`ThreadPool::share`], but can be stopped. After each part done by the caller's thread, calls `goes_on`
    /// with the fraction of the work that has begun, 0 to 1. Returns `None` once that returns false.
    pub fn share_monitored<P: Send, T: Send>(
        &self,
        parts: Vec<P>,
        goes_on: &mut dyn FnMut(f64) -> bool,
        work: impl Fn(P) -> T + Sync,
    ) -> Option<Vec<T>> {
        let count = parts.len();
        let helpers = self.threads.min(count).saturating_sub(1);
        let left = Mutex::new(parts.into_iter().enumerate());
        let stopped = AtomicBool::new(false);
        let next = || {
            let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
            next.filter(|_| !stopped.load(Relaxed))
        };
        let run = |goes_on: &mut dyn FnMut(f64) -> bool| {
            let mut done = Vec::new();
            while let Some((i, part)) = next() {
                done.push((i, work(part)));
                if !goes_on((i + 1) as f64 / count as f64) {
                    stopped.store(true, Relaxed);
                }
            }
            done
        };
        let mut done = thread::scope(|scope| {
            let help = || {
                let done = run(&mut |_| true);
                self.time.fetch_add(thread_time().as_nanos() as u64, Relaxed);
                done
            };
            let helpers: Vec<_> =
                (0..helpers).map_while(|_| thread::Builder::new().spawn_scoped(scope, help).ok()).collect();
            let mut done = run(goes_on);
            for helper in helpers {
                done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            done
        });
        done.sort_by_key(|(i, _)| *i);
        let whole = !stopped.load(Relaxed);
        whole.then(|| done.into_iter().map(|(_, result)| result).collect())
    }

    /// Results of `work` for `count` items, in order. `work` returns the results of a range.
    pub fn list<T: Send>(&self, count: usize, work: impl Fn(Range<usize>) -> Vec<T> + Sync) -> Vec<T> {
        joined(count, self.share(self.ranges(count), work))
    }

    /// Like [`ThreadPool::list`], stopped like [`ThreadPool::share_monitored`].
    pub fn list_monitored<T: Send>(
        &self,
        count: usize,
        goes_on: &mut dyn FnMut(f64) -> bool,
        work: impl Fn(Range<usize>) -> Vec<T> + Sync,
    ) -> Option<Vec<T>> {
        Some(joined(count, self.share_monitored(self.short_ranges(count), goes_on, work)?))
    }
}

#[cfg(test)]
mod tests {
    use super::ThreadPool;
    use std::ops::Range;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn results_are_in_the_order_of_parts() {
        for threads in [1, 2, 3, 7] {
            let thread_pool = ThreadPool::new(threads);
            for count in [0, 1, 5, 1000] {
                let squares = thread_pool.list(count, |range| range.map(|i| i * i).collect());
                assert_eq!(squares, (0..count).map(|i| i * i).collect::<Vec<_>>(), "{threads} threads, {count}");
            }
        }
    }

    #[test]
    fn who_watches_is_told_how_far_the_work_has_come_and_ends_it() {
        let mut reported = Vec::new();
        let work = |range: Range<usize>| range.collect();
        let mut goes_on = |part| {
            reported.push(part);
            reported.len() < 3
        };
        assert_eq!(ThreadPool::new(1).list_monitored(640, &mut goes_on, work), None);
        assert_eq!(reported, [1.0 / 64.0, 2.0 / 64.0, 3.0 / 64.0]);
        for threads in [1, 3] {
            assert_eq!(ThreadPool::new(threads).list_monitored(640, &mut |_| true, work), Some((0..640).collect()));
        }
    }

    #[test]
    fn a_panic_on_any_thread_is_the_callers() {
        let work = |i: usize| assert!(i != 5, "a mistake in part 5");
        let run = || ThreadPool::new(3).share((0..12).collect(), work);
        let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("the work goes on");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a mistake in part 5"));
    }
}
