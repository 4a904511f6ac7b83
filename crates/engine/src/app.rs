//! Sending applications, evaluated lazily.
//!
//! An on-off application ticks at its rate; while the send buffer is full every tick fails and
//! the write is retried at the next one. Between two acknowledgements the free space only
//! shrinks by accepted writes, so what the ticks since the last look achieved is arithmetic, and
//! no event is spent on a failing tick. A tick becomes an event only while the transport has
//! nothing else to send.

use crate::spec::App;
use incast_cc::Time;

/// An application and how far it has come.
#[derive(Clone, Debug)]
pub struct AppState {
    app: App,
    /// First ON time begins, ps.
    on_from: u64,
    /// Nothing is written at or after it, ps.
    stop: u64,
    tick: u64,
    ticks_done: u64,
    /// Bytes accepted.
    pub written: u64,
    /// Extra bytes after the size.
    extra: u64,
    stopped: bool,
}

impl AppState {
    /// An application that stops at `stop`; a sized one writes `extra` more bytes.
    pub fn new(app: App, stop: Time, extra: u64) -> AppState {
        let tick = match app {
            App::OnOff { rate, write, .. } => rate.serialize(write).0.max(1),
            App::Bulk { .. } => 0,
        };
        AppState { app, on_from: u64::MAX, stop: stop.0, tick, ticks_done: 0, written: 0, extra, stopped: false }
    }

    /// The connection is open: the application starts.
    pub fn open(&mut self, now: u64) {
        self.on_from = match self.app {
            App::OnOff { off, off_first: true, .. } => now + off.0,
            _ => now,
        };
    }

    /// Writes nothing more.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Bytes after which the application is done, once that is known.
    pub fn end(&self) -> Option<u64> {
        match self.app {
            _ if self.stopped => Some(self.written),
            App::Bulk { size: Some(size), .. } => Some(size + self.extra),
            _ => None,
        }
    }

    /// Ticks up to and including `t`.
    fn ticks_by(&self, t: u64) -> u64 {
        let App::OnOff { on, off, .. } = self.app else { return 0 };
        let t = t.min(self.stop.saturating_sub(1));
        let Some(since) = t.checked_sub(self.on_from) else { return 0 };
        if off == Time::ZERO {
            return since / self.tick;
        }
        let per_on = on.0.saturating_sub(1) / self.tick;
        let cycle = on.0 + off.0;
        since / cycle * per_on + (since % cycle / self.tick).min(per_on)
    }

    /// When the next tick after those done comes; `None` if there is none.
    pub fn next_tick(&self) -> Option<u64> {
        let App::OnOff { on, off, .. } = self.app else { return None };
        if self.stopped || self.on_from == u64::MAX {
            return None;
        }
        let n = self.ticks_done + 1;
        let at = if off == Time::ZERO {
            self.on_from.checked_add(n.checked_mul(self.tick)?)?
        } else {
            let per_on = on.0.saturating_sub(1) / self.tick;
            if per_on == 0 {
                return None;
            }
            let (cycle, k) = ((n - 1) / per_on, (n - 1) % per_on + 1);
            self.on_from + cycle * (on.0 + off.0) + k * self.tick
        };
        (at < self.stop).then_some(at)
    }

    /// Whether a buffer with `space` bytes free takes a write.
    pub fn fits(&self, space: u64) -> bool {
        let (App::OnOff { write, .. } | App::Bulk { write, .. }) = self.app;
        space >= write
    }

    /// Lets every tick up to `now` try its write; `space` is the free send buffer.
    #[inline]
    pub fn catch_up(&mut self, now: u64, space: u64) {
        if let App::OnOff { write, .. } = self.app {
            if self.stopped {
                return;
            }
            let ticks = self.ticks_by(now);
            let tries = ticks - self.ticks_done;
            if tries > 0 {
                self.ticks_done = ticks;
                self.written += tries.min(space / write) * write;
            }
        }
    }

    /// A bulk application's next write, as the transport would see it while its window is open.
    pub fn write_one(&mut self, space: u64) {
        if let App::Bulk { size, write } = self.app
            && !self.stopped
        {
            let left = size.map_or(u64::MAX, |s| s + self.extra - self.written);
            self.written += write.min(left).min(space);
        }
    }

    /// A bulk application fills the buffer while the transport's window is shut.
    pub fn fill(&mut self, space: u64) {
        if let App::Bulk { size, .. } = self.app
            && !self.stopped
        {
            let left = size.map_or(u64::MAX, |s| s + self.extra - self.written);
            self.written += left.min(space);
        }
    }
}
