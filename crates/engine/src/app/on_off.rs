//! Writes at a rate during ON times.
//!
//! It ticks at its rate; while the send buffer is full every tick fails and the write is retried at the next one.
//! Between two acknowledgements the free space only shrinks by accepted writes, so what the ticks since the last look
//! achieved is arithmetic, and no event is spent on a failing tick.

use super::application::{Application, Start};
use incast_cc::{Rate, Time};

/// Writes of `write` bytes at `rate` during ON times. A write that does not fit is retried at the next tick of the
/// rate, as ns-3's OnOffApplication does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OnOff {
    /// Application rate.
    pub rate: Rate,
    /// Length of an ON time.
    pub on: Time,
    /// Length of an OFF time; zero never pauses (constant rate).
    pub off: Time,
    /// Bytes a write.
    pub write: u64,
    /// When it begins.
    pub begin: Begin,
}

/// When an [`OnOff`] begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begin {
    /// With an ON time as the connection opens; the first write comes after its time at the rate.
    Open,
    /// With an OFF time then (ns-3's OnOffApplication).
    Off,
    /// With a write as the flow starts: what is written before the connection is open waits in the send buffer
    /// (an application that writes as soon as it has called connect()).
    Connect,
}

/// Where it stands; in a box, since it is larger than a bulk application.
pub type State = Box<Ticks>;

/// Its ticks.
#[derive(Clone, Debug)]
pub struct Ticks {
    app: OnOff,
    /// Time of a write at the rate.
    tick: Time,
    stop: Time,
    /// The flow starts then.
    start: Time,
    /// First ON time begins.
    on_from: Time,
    /// Ticks that have tried their write.
    done: u64,
}

impl Application for State {
    type Parameters = OnOff;

    fn new(app: OnOff, start: Start) -> State {
        let tick = app.rate.serialize(app.write).max(Time(1));
        Box::new(Ticks { app, tick, stop: start.stop, start: start.at, on_from: Time::NEVER, done: 0 })
    }

    fn rate(&self, _: u32) -> f64 {
        self.app.rate.as_f64()
    }

    fn open(&mut self, now: Time) {
        self.on_from = match self.app.begin {
            Begin::Open => now,
            Begin::Off => now.saturating_add(self.app.off),
            Begin::Connect => self.start,
        };
    }

    /// Lets every tick up to `now` try its write.
    #[inline]
    fn catch_up(&mut self, now: Time, _: u64, space: u64) -> u64 {
        let ticks = self.ticks_by(now);
        let tries = ticks - self.done;
        if tries == 0 {
            return 0;
        }
        self.done = ticks;
        tries.min(space / self.app.write) * self.app.write
    }

    /// When the next tick after those done comes.
    fn next_at(&self, space: u64) -> Option<Time> {
        let OnOff { on, off, write, .. } = self.app;
        if self.on_from == Time::NEVER || space < write {
            return None;
        }
        let worked = (self.done + 1 - self.at_once()).checked_mul(self.tick.0)?;
        let paused = if off == Time::ZERO { 0 } else { (worked / on.0).checked_mul(off.0)? };
        let at = self.on_from.0.checked_add(worked)?.checked_add(paused)?;
        Some(Time(at)).filter(|at| *at < self.stop)
    }
}

impl Ticks {
    /// Writes as its first ON time begins, before a tick of it.
    fn at_once(&self) -> u64 {
        (self.app.begin == Begin::Connect) as u64
    }

    /// Ticks up to and including `t`. What an ON time leaves of a tick counts towards the first
    /// tick of the next, as if the OFF time were cut out; a tick that falls on the end of an ON
    /// time comes with the beginning of the next (ns-3's OnOffApplication).
    fn ticks_by(&self, t: Time) -> u64 {
        let OnOff { on, off, .. } = self.app;
        let t = t.min(self.stop.saturating_sub(Time(1)));
        if t < self.on_from {
            return 0;
        }
        let since = t - self.on_from;
        if off == Time::ZERO {
            return since / self.tick + self.at_once();
        }
        let cycle = on + off;
        (on * (since / cycle) + (since % cycle).min(on - Time(1))) / self.tick + self.at_once()
    }
}
