//! Progress of a run: reported periodically to a listener, which may stop the run.

use crate::threads::clock::Moment;
use incast_cc::Time;
use std::time::Duration;

/// Progress of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Fraction of the set-up that is done, 0 to 1.
    pub set_up: f64,
    /// Simulated time reached.
    pub now: Time,
    /// Simulated end.
    pub end: Time,
    /// Hops so far.
    pub hops: u64,
    /// Application bytes delivered at receivers in frames that are over, and as of when; only of runs with a timeline
    /// on one thread (`threads = 1`).
    pub delivered: Option<(Time, u64)>,
}

/// Receives the progress of a run. Returns false to stop it.
pub type Listener<'a> = &'a mut dyn FnMut(Progress) -> bool;

/// Start and end of a step within the set-up, 0 to 1.
pub type Step = (f64, f64);

/// Time between two calls of the listener.
const INTERVAL: Duration = Duration::from_millis(20);
/// Events between two readings of the clock. Most take 0.1 us; one that acknowledges very many writes may take a
/// millisecond.
const EVENTS: u32 = 128;

/// Calls the listener of a run, also in the middle of long work.
pub struct Monitor<'a> {
    listener: Listener<'a>,
    progress: Progress,
    asked: Moment,
    events: u32,
    stopped: bool,
}

impl<'a> Monitor<'a> {
    /// Monitors a run that ends at `end`.
    pub fn new(listener: Listener<'a>, end: Time) -> Monitor<'a> {
        let progress = Progress { set_up: 0.0, now: Time::ZERO, end, hops: 0, delivered: None };
        Monitor { listener, progress, asked: Moment::now(), events: 0, stopped: false }
    }

    /// True if the run is to stop.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// Sets the progress of the run.
    #[inline]
    pub fn reached(&mut self, now: Time, hops: u64) {
        (self.progress.now, self.progress.hops) = (now, hops);
    }

    /// Sets the bytes delivered.
    pub fn delivered(&mut self, now: Time, bytes: Option<u64>) {
        self.progress.delivered = bytes.map(|bytes| (now, bytes));
    }

    /// Calls the listener now.
    pub fn ask(&mut self) {
        // not called again once it has stopped the run
        self.stopped = self.stopped || !(self.listener)(self.progress);
        self.asked = Moment::now();
    }

    /// Counts `events`. Returns whether the run goes on.
    #[inline]
    pub fn passed(&mut self, events: u32) -> bool {
        self.events += events;
        self.events < EVENTS || self.look()
    }

    /// Returns a function that reports the fraction of a set-up step done and returns whether the run goes on.
    pub fn step(&mut self, (from, to): Step) -> impl FnMut(f64) -> bool {
        move |part| self.set_up(from + part * (to - from))
    }

    /// Reports the fraction of the set-up done. Returns whether the run goes on.
    pub fn set_up(&mut self, part: f64) -> bool {
        self.progress.set_up = part;
        self.look()
    }

    /// Calls the listener unless it was called a moment ago.
    #[cold]
    fn look(&mut self) -> bool {
        self.events = 0;
        if self.asked.elapsed() >= INTERVAL {
            self.ask();
        }
        !self.stopped
    }
}

#[cfg(test)]
mod tests {
    use super::{Monitor, Progress};
    use incast_cc::Time;

    #[test]
    fn long_work_is_ended_by_who_listens() {
        let mut reported = Vec::new();
        let mut listener = |progress: Progress| {
            reported.push(progress.hops);
            reported.len() < 2
        };
        let mut monitor = Monitor::new(&mut listener, Time::ms(1));
        monitor.reached(Time::us(3), 7);
        monitor.ask();
        while monitor.passed(1) {}
        assert!(monitor.stopped() && !monitor.set_up(0.5));
        assert_eq!(reported, [7, 7]);
    }
}
