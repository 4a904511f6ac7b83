//! Writes at a rate during ON times.
//!
//! It ticks at its rate; while the send buffer is full every tick fails and the write is retried at the next one.
//! Between two acknowledgements the free space only shrinks by accepted writes, so what the ticks since the last look
//! achieved is arithmetic, and no event is spent on a failing tick.

use incast_cc::Time;

/// An application that is ON and OFF in turn.
#[derive(Clone, Debug)]
pub struct OnOff {
    /// Length of an ON time.
    pub on: Time,
    /// Length of an OFF time; 0 never pauses.
    pub off: Time,
    /// Bytes a write.
    pub write: u64,
    /// Starts with an OFF time.
    pub off_first: bool,
    /// Time of a write at the rate.
    pub tick: Time,
    /// Nothing is written at or after it.
    pub stop: Time,
    /// First ON time begins.
    pub on_from: Time,
    /// Ticks that have tried their write.
    pub ticks_done: u64,
}

impl OnOff {
    /// Starts.
    pub fn open(&mut self, now: Time) {
        self.on_from = if self.off_first { now.saturating_add(self.off) } else { now };
    }

    /// Ticks up to and including `t`. What an ON time leaves of a tick counts towards the first
    /// tick of the next, as if the OFF time were cut out; a tick that falls on the end of an ON
    /// time comes with the beginning of the next (ns-3's OnOffApplication).
    fn ticks_by(&self, t: Time) -> u64 {
        let t = t.min(self.stop.saturating_sub(Time::ps(1)));
        let Some(since) = (t >= self.on_from).then(|| t - self.on_from) else { return 0 };
        if self.off == Time::ZERO {
            return since / self.tick;
        }
        let cycle = self.on + self.off;
        (self.on * (since / cycle) + (since % cycle).min(self.on - Time::ps(1))) / self.tick
    }

    /// Lets every tick up to `now` try its write; what `space` bytes take of them.
    #[inline]
    pub fn catch_up(&mut self, now: Time, space: u64) -> u64 {
        let ticks = self.ticks_by(now);
        let tries = ticks - self.ticks_done;
        if tries == 0 {
            return 0;
        }
        self.ticks_done = ticks;
        tries.min(space / self.write) * self.write
    }

    /// When the next tick after those done comes; `None` if there is none.
    pub fn next_at(&self) -> Option<Time> {
        if self.on_from == Time::NEVER {
            return None;
        }
        let worked = self.tick.saturating_mul(self.ticks_done + 1);
        let paused = if self.off == Time::ZERO { Time::ZERO } else { self.off.saturating_mul(worked / self.on) };
        let at = self.on_from.saturating_add(worked).saturating_add(paused);
        (at < self.stop).then_some(at)
    }
}
