//! A stretch of a run: windows that one thread goes through alone, or several in step, each with a share of the work.

use super::barrier::Broken;
use super::clock::thread_time;
use super::cores;
use super::crew::{Crew, Report};
use super::pace::Pace;
use super::watch::Watch;
use incast_cc::Time;
use std::io;
use std::panic::resume_unwind;
use std::thread;
use std::time::Duration;

/// One thread's share of a run, or all of it.
pub trait Share: Send {
    /// What one share hands to another when a window opens.
    type Parcel: Default + Send;
    /// A window that is open.
    type Open;
    /// How a run ended.
    type End: Send;

    /// State that the other shares need before the next window.
    fn report(&self) -> Report;

    /// Opens the next window in which any share has work by what `all` report, or tells how the run ended: all of them
    /// do the same.
    ///
    /// # Errors
    /// The end.
    fn open(&mut self, all: &Report, watch: &mut Watch) -> Result<Self::Open, Self::End>;

    /// Puts what share number `to` gets now into `parcel`, which is empty. Whether there is any.
    fn pack(&mut self, to: usize, parcel: &mut Self::Parcel) -> bool;

    /// Empties a parcel for the window that is open.
    fn unpack(&mut self, open: &mut Self::Open, parcel: &mut Self::Parcel);

    /// Does what there is to do in the window.
    fn pass(&mut self, open: Self::Open, watch: &mut Watch);
}

/// Why several threads stop: at the run's end, or, without one, because `pace` has the mode changed. Second, the
/// processor time of all threads but the caller's.
pub type Stop<End> = (Option<End>, Vec<Duration>);

/// Goes on alone. How the run ended, or nothing where `pace` has others come.
pub fn alone<S: Share>(share: &mut S, watch: &mut Watch, pace: &mut Pace) -> Option<S::End> {
    loop {
        let all = share.report();
        let open = match share.open(&all, watch) {
            Ok(open) => open,
            Err(end) => return Some(end),
        };
        share.pass(open, watch);
        if pace.passed(all.hops) {
            return None;
        }
    }
}

/// Every share has a thread, the first the caller's.
///
/// # Errors
/// How many threads there were when the system refused one, and why. No window was opened.
pub fn in_step<S: Share>(
    shares: &mut [S],
    watch: &mut Watch,
    pace: &mut Pace,
) -> Result<Stop<S::End>, (usize, io::Error)> {
    let crew = &Crew::new(shares.len(), cores());
    let Some((first, others)) = shares.split_first_mut() else { return Ok((None, Vec::new())) };
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(others.len());
        for (i, share) in (1..).zip(others) {
            let run = move || {
                let begun = thread_time();
                let end = step(crew, i, share, &mut Watch::new(&mut |_| true, Time::NEVER), None);
                (end, thread_time() - begun)
            };
            match thread::Builder::new().spawn_scoped(scope, run) {
                Ok(thread) => threads.push(thread),
                Err(refusal) => {
                    crew.break_up();
                    return Err((threads.len() + 1, refusal));
                }
            }
        }
        let end = step(crew, 0, first, watch, Some(pace));
        let times = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)).1);
        let times = times.collect();
        let Ok(end) = end else { unreachable!("a barrier breaks by a panic, which has gone on") };
        Ok((end, times))
    })
}

/// Goes on in step with the others of the crew; who has a `pace` says when they part.
fn step<S: Share>(
    crew: &Crew<S::Parcel>,
    me: usize,
    share: &mut S,
    watch: &mut Watch,
    mut pace: Option<&mut Pace>,
) -> Result<Option<S::End>, Broken> {
    let _guard = crew.guard();
    let mut parts = false;
    loop {
        let all = crew.agree(me, Report { parts, ..share.report() })?;
        if all.parts {
            return Ok(None);
        }
        let mut open = match share.open(&all, watch) {
            Ok(open) => open,
            Err(end) => return Ok(Some(end)),
        };
        let unpack = |share: &mut S, parcel: &mut S::Parcel| share.unpack(&mut open, parcel);
        crew.exchange(me, share, S::pack, unpack)?;
        share.pass(open, watch);
        parts = pace.as_mut().is_some_and(|pace| pace.passed(all.hops));
    }
}

/// As [`in_step`], but one share after the other on the caller's thread.
pub fn in_turn<S: Share>(shares: &mut [S], watch: &mut Watch, pace: &mut Pace) -> Option<S::End> {
    let count = shares.len();
    let mut parcels: Vec<S::Parcel> = (0..count * count).map(|_| S::Parcel::default()).collect();
    loop {
        let all = shares.iter().map(Share::report).fold(Report::NOTHING, Report::and);
        let mut windows = Vec::new();
        for share in shares.iter_mut() {
            match share.open(&all, watch) {
                Ok(window) => windows.push(window),
                Err(end) => return Some(end),
            }
        }
        for from in 0..count {
            for to in (0..count).filter(|to| *to != from) {
                let parcel = &mut parcels[from * count + to];
                if shares[from].pack(to, parcel) {
                    shares[to].unpack(&mut windows[to], parcel);
                }
            }
        }
        for (share, window) in shares.iter_mut().zip(windows) {
            share.pass(window, watch);
        }
        if pace.passed(all.hops) {
            return None;
        }
    }
}
