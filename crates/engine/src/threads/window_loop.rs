//! Loops over windows, run by one thread alone, or by several in step, each with a share of the work.

use super::barrier::Broken;
use super::clock::thread_time;
use super::cores;
use super::mode::ModeControl;
use super::progress::Monitor;
use super::workers::{Report, Workers};
use incast_cc::Time;
use std::io;
use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

/// One thread's share of a run, or all of it.
pub trait Share: Send {
    /// Batch that one share passes to another when a window opens.
    type Batch: Default + Send;
    /// State of an open window.
    type Open;
    /// End of a run.
    type End: Send;

    /// State that the other shares need before the next window.
    fn report(&self) -> Report;

    /// Opens the next window in which any share has work, given the merged report. Or returns the end of the run, the
    /// same for all shares.
    ///
    /// # Errors
    /// The end of the run.
    fn open(&mut self, all: &Report, monitor: &mut Monitor) -> Result<Self::Open, Self::End>;

    /// Fills `batch`, an empty batch, for share number `to`. Returns whether it holds anything.
    fn pack(&mut self, to: usize, batch: &mut Self::Batch) -> bool;

    /// Empties a batch into the open window.
    fn unpack(&mut self, open: &mut Self::Open, batch: &mut Self::Batch);

    /// Does the work of the window.
    fn pass(&mut self, open: Self::Open, monitor: &mut Monitor);
}

/// Reason why several threads stop: the end of the run, or `None` if `mode` changes the mode. Second, the processor
/// time of all threads except the caller's.
pub type Stop<End> = (Option<End>, Vec<Duration>);

/// Runs windows alone. Returns the end of the run, or `None` if `mode` wants several threads.
pub fn single_thread<S: Share>(share: &mut S, monitor: &mut Monitor, mode: &mut ModeControl) -> Option<S::End> {
    loop {
        let all = share.report();
        let open = match share.open(&all, monitor) {
            Ok(open) => open,
            Err(end) => return Some(end),
        };
        share.pass(open, monitor);
        if mode.passed(all.hops) {
            return None;
        }
    }
}

/// Runs windows in step, one thread for each share; the first share has the caller's thread.
///
/// # Errors
/// The number of threads when the system refused one, and the reason. No window was opened.
pub fn in_step<S: Share>(
    shares: &mut [S],
    monitor: &mut Monitor,
    mode: &mut ModeControl,
) -> Result<Stop<S::End>, (usize, io::Error)> {
    let workers = &Workers::new(shares.len(), cores());
    let Some((first, others)) = shares.split_first_mut() else { return Ok((None, Vec::new())) };
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(others.len());
        for (i, share) in (1..).zip(others) {
            let run = move || {
                let begun = thread_time();
                let end = step(workers, i, share, &mut Monitor::new(&mut |_| true, Time::NEVER), None);
                (end, thread_time() - begun)
            };
            match thread::Builder::new().spawn_scoped(scope, run) {
                Ok(thread) => threads.push(thread),
                Err(refusal) => {
                    workers.break_up();
                    return Err((threads.len() + 1, refusal));
                }
            }
        }
        let end = step(workers, 0, first, monitor, Some(mode));
        let times = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)).1);
        let times = times.collect();
        let Ok(end) = end else { unreachable!("a barrier breaks by a panic, which has gone on") };
        Ok((end, times))
    })
}

/// Runs windows in step with the other threads. The thread with a `mode` decides when they part.
fn step<S: Share>(
    workers: &Workers<S::Batch>,
    me: usize,
    share: &mut S,
    monitor: &mut Monitor,
    mut mode: Option<&mut ModeControl>,
) -> Result<Option<S::End>, Broken> {
    let _guard = workers.guard();
    let mut parts = false;
    loop {
        let all = workers.agree(me, Report { parts, ..share.report() })?;
        if all.parts {
            return Ok(None);
        }
        let mut open = match share.open(&all, monitor) {
            Ok(open) => open,
            Err(end) => return Ok(Some(end)),
        };
        let unpack = |share: &mut S, batch: &mut S::Batch| share.unpack(&mut open, batch);
        workers.exchange(me, share, S::pack, unpack)?;
        share.pass(open, monitor);
        parts = mode.as_mut().is_some_and(|mode| mode.passed(all.hops));
    }
}

/// Like [`in_step`], but one share after the other on the caller's thread.
pub fn sequential<S: Share>(shares: &mut [S], monitor: &mut Monitor, mode: &mut ModeControl) -> Option<S::End> {
    let count = shares.len();
    let mut batches: Vec<S::Batch> = (0..count * count).map(|_| S::Batch::default()).collect();
    loop {
        let all = shares.iter().map(Share::report).fold(Report::NOTHING, Report::and);
        let mut windows = Vec::new();
        for share in shares.iter_mut() {
            match share.open(&all, monitor) {
                Ok(window) => windows.push(window),
                Err(end) => return Some(end),
            }
        }
        for from in 0..count {
            for to in (0..count).filter(|to| *to != from) {
                let batch = &mut batches[from * count + to];
                if shares[from].pack(to, batch) {
                    shares[to].unpack(&mut windows[to], batch);
                }
            }
        }
        for (share, window) in shares.iter_mut().zip(windows) {
            share.pass(window, monitor);
        }
        if mode.passed(all.hops) {
            return None;
        }
    }
}
