//! Constant-rate writes during ON periods.
//!
//! The application ticks at its rate. While the send buffer is full every tick fails, and the write is retried at the
//! next one. Between two acknowledgements only accepted writes change the free space, so the result of all ticks since
//! the last call is computed at once, and no event is scheduled for a failing tick.

use super::application::{Application, Start};
use incast_cc::{Rate, Time};

/// Writes of `write` bytes at `rate` during ON periods. A write that does not fit is retried at the next tick, as in
/// ns-3's OnOffApplication.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OnOff {
    /// Application rate.
    pub rate: Rate,
    /// Length of an ON period.
    pub on: Time,
    /// Length of an OFF period. Zero: no pause (constant rate).
    pub off: Time,
    /// Bytes a write.
    pub write: u64,
    /// Start of the application.
    pub begin: Begin,
}

/// Start of an [`OnOff`] application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Begin {
    /// With an ON period when the connection opens. The first write follows one tick later.
    Open,
    /// With an OFF period when the connection opens (ns-3's OnOffApplication).
    Off,
    /// With a write when the flow starts. Bytes written before the connection opens wait in the send buffer (an
    /// application that writes right after connect()).
    Connect,
}

/// State of an on-off application. Boxed, since it is larger than a bulk application.
pub type State = Box<Ticks>;

/// Ticks of an on-off application.
#[derive(Clone, Debug)]
pub struct Ticks {
    app: OnOff,
    /// Time between two ticks: one write at the rate.
    tick: Time,
    stop: Time,
    /// Start time of the flow.
    start: Time,
    /// Start of the first ON period.
    on_from: Time,
    /// Ticks whose write has been tried.
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

    /// Tries the write of every tick up to `now`.
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

    /// Time of the next tick not yet done.
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
    /// Number of writes at the start of the first ON period, before its first tick.
    fn at_once(&self) -> u64 {
        (self.app.begin == Begin::Connect) as u64
    }

    /// Ticks up to and including `t`. The remainder of a tick at the end of an ON period counts towards the first tick
    /// of the next one, as if the OFF period were cut out. A tick at the very end of an ON period comes at the start of
    /// the next (ns-3's OnOffApplication).
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
