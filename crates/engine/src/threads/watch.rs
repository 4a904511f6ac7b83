//! Whoever waits for a run: is told now and then how far it has come, and says whether it goes on.

use incast_cc::Time;
use std::time::{Duration, Instant};

/// How far a run has come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Part of the set-up that is done, 0 to 1.
    pub set_up: f64,
    /// Simulated time reached.
    pub now: Time,
    /// Simulated end.
    pub end: Time,
    /// Hops so far.
    pub hops: u64,
}

/// Takes the progress of a run, and says whether it goes on.
pub type Listener<'a> = &'a mut dyn FnMut(Progress) -> bool;

/// Where in the set-up a step of it begins and ends, 0 to 1.
pub type Step = (f64, f64);

/// Time between two questions.
const INTERVAL: Duration = Duration::from_millis(20);
/// Events between two looks at the clock. Most take 0.1 us; one that acknowledges very many writes may take a
/// millisecond.
const EVENTS: u32 = 128;

/// Asks the listener of a run in the middle of long work, too.
pub struct Watch<'a> {
    listener: Listener<'a>,
    progress: Progress,
    asked: Instant,
    events: u32,
    stopped: bool,
}

impl<'a> Watch<'a> {
    /// Over a run that ends at `end`.
    pub fn new(listener: Listener<'a>, end: Time) -> Watch<'a> {
        let progress = Progress { set_up: 0.0, now: Time::ZERO, end, hops: 0 };
        Watch { listener, progress, asked: Instant::now(), events: 0, stopped: false }
    }

    /// The run is to stop.
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// Takes how far the run has come.
    #[inline]
    pub fn reached(&mut self, now: Time, hops: u64) {
        (self.progress.now, self.progress.hops) = (now, hops);
    }

    /// Asks at once.
    pub fn ask(&mut self) {
        // who has said no is not asked again
        self.stopped = self.stopped || !(self.listener)(self.progress);
        self.asked = Instant::now();
    }

    /// So many events have passed: whether the run goes on.
    #[inline]
    pub fn passed(&mut self, events: u32) -> bool {
        self.events += events;
        self.events < EVENTS || self.look()
    }

    /// Takes which part of a step of the set-up is done, and says whether the run goes on.
    pub fn step(&mut self, (from, to): Step) -> impl FnMut(f64) -> bool {
        move |part| self.set_up(from + part * (to - from))
    }

    /// So much of the set-up is done: whether the run goes on.
    pub fn set_up(&mut self, part: f64) -> bool {
        self.progress.set_up = part;
        self.look()
    }

    /// Asks unless it did so a moment ago.
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
    use super::{Progress, Watch};
    use incast_cc::Time;

    #[test]
    fn long_work_is_ended_by_who_listens() {
        let mut told = Vec::new();
        let mut listener = |progress: Progress| {
            told.push(progress.hops);
            told.len() < 2
        };
        let mut watch = Watch::new(&mut listener, Time::ms(1));
        watch.reached(Time::us(3), 7);
        watch.ask();
        while watch.passed(1) {}
        assert!(watch.stopped() && !watch.set_up(0.5));
        assert_eq!(told, [7, 7]);
    }
}
