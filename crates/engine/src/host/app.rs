//! Sending applications, evaluated lazily.
//!
//! An on-off application ticks at its rate; while the send buffer is full every tick fails and
//! the write is retried at the next one. Between two acknowledgements the free space only
//! shrinks by accepted writes, so what the ticks since the last look achieved is arithmetic, and
//! no event is spent on a failing tick. A tick becomes an event only while the transport has
//! nothing else to send.

use crate::spec::{App, TransportSpec};
use incast_cc::Time;
use std::collections::VecDeque;

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
    /// Bytes that messages ask for.
    wanted: u64,
    writes: Option<Box<Writes>>,
    stopped: bool,
}

/// A write of a closed loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Write {
    /// Number of the write, from 0.
    pub number: u64,
    /// When it was due, ps.
    pub begun: u64,
    /// Byte after its last.
    pub end: u64,
}

/// Where a closed loop stands.
#[derive(Clone, Default, Debug)]
struct Writes {
    /// When the next ones come, ps, in order.
    due: VecDeque<u64>,
    /// Written, not acknowledged.
    under_way: VecDeque<Write>,
    /// Begun so far.
    begun: u64,
}

impl AppState {
    /// An application that stops at `stop`; a sized one writes `extra` more bytes.
    pub fn new(app: App, stop: Time, extra: u64) -> AppState {
        let tick = match app {
            App::OnOff { rate, write, .. } => rate.serialize(write).0.max(1),
            App::Bulk { .. } | App::Messages | App::ClosedLoop { .. } | App::Udp { .. } => 0,
        };
        let writes = matches!(app, App::ClosedLoop { .. }).then(Box::default);
        AppState {
            app,
            on_from: u64::MAX,
            stop: stop.0,
            tick,
            ticks_done: 0,
            written: 0,
            extra,
            wanted: 0,
            writes,
            stopped: false,
        }
    }

    /// The connection is open: the application starts.
    pub fn open(&mut self, now: u64) {
        self.on_from = match self.app {
            App::OnOff { off, off_first: true, .. } => now.saturating_add(off.0),
            _ => now,
        };
        if let (App::ClosedLoop { outstanding, count, .. }, Some(writes)) = (self.app, &mut self.writes) {
            let first = count.unwrap_or(u64::MAX).min(outstanding as u64);
            writes.due.extend((0..first).map(|_| now));
        }
    }

    /// A message of `bytes` is to be sent.
    pub fn ask(&mut self, bytes: u64) {
        if !self.stopped {
            self.wanted += bytes;
        }
    }

    /// The oldest write of a closed loop, if everything below `una` completes it; the next one is
    /// then due a think time later.
    pub fn completed(&mut self, una: u64, now: u64) -> Option<Write> {
        let App::ClosedLoop { think, count, .. } = self.app else { return None };
        let writes = self.writes.as_mut()?;
        let write = *writes.under_way.front().filter(|w| w.end <= una)?;
        writes.under_way.pop_front();
        let planned = writes.begun + writes.due.len() as u64;
        if !self.stopped && count.is_none_or(|count| planned < count) {
            let at = now.saturating_add(think.0);
            if at < self.stop {
                writes.due.push_back(at);
            }
        }
        Some(write)
    }

    /// Whether acknowledgements complete writes.
    #[inline]
    pub fn is_closed_loop(&self) -> bool {
        self.writes.is_some()
    }

    /// Writes of a closed loop that are not acknowledged.
    pub fn under_way(&self) -> impl Iterator<Item = Write> {
        self.writes.iter().flat_map(|w| w.under_way.iter().copied())
    }

    /// Writes nothing more.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.wanted = self.written;
        if let Some(writes) = &mut self.writes {
            writes.due.clear();
        }
    }

    /// Bytes after which the application is done, once that is known.
    pub fn end(&self) -> Option<u64> {
        match self.app {
            _ if self.stopped => Some(self.written),
            App::Bulk { size: Some(size), .. } => Some(size + self.extra),
            App::ClosedLoop { write, count: Some(count), .. } => Some(count * write),
            _ => None,
        }
    }

    /// It ends by itself.
    pub fn is_finite(&self) -> bool {
        self.app.is_finite()
    }

    /// It moves bytes as fast as it may.
    pub fn is_bulk(&self) -> bool {
        matches!(self.app, App::Bulk { .. })
    }

    /// A bulk flow has at least `bytes` more than `nxt`.
    pub fn has_beyond(&self, nxt: u64, bytes: u32) -> bool {
        self.end().is_none_or(|end| end >= nxt + bytes as u64)
    }

    /// A bulk flow ends so many bytes earlier.
    pub fn forget(&mut self, bytes: u64) {
        if let App::Bulk { size: Some(size), .. } = &mut self.app {
            *size = size.saturating_sub(bytes);
            self.written = self.written.min(*size + self.extra);
        }
    }

    /// Ticks up to and including `t`. What an ON time leaves of a tick counts towards the first
    /// tick of the next, as if the OFF time were cut out; a tick that falls on the end of an ON
    /// time comes with the beginning of the next (ns-3's OnOffApplication).
    fn ticks_by(&self, t: u64) -> u64 {
        let App::OnOff { on, off, .. } = self.app else { return 0 };
        let t = t.min(self.stop.saturating_sub(1));
        let Some(since) = t.checked_sub(self.on_from) else { return 0 };
        if off == Time::ZERO {
            return since / self.tick;
        }
        let cycle = on.0 + off.0;
        (since / cycle * on.0 + (since % cycle).min(on.0 - 1)) / self.tick
    }

    /// When the next tick after those done comes; `None` if there is none.
    pub fn next_tick(&self) -> Option<u64> {
        if let Some(writes) = &self.writes {
            return writes.due.front().copied();
        }
        let App::OnOff { on, off, .. } = self.app else { return None };
        if self.stopped || self.on_from == u64::MAX {
            return None;
        }
        let worked = (self.ticks_done + 1).checked_mul(self.tick)?;
        let paused = if off == Time::ZERO { 0 } else { (worked / on.0).checked_mul(off.0)? };
        let at = self.on_from.checked_add(worked)?.checked_add(paused)?;
        (at < self.stop).then_some(at)
    }

    /// Whether a buffer with `space` bytes free takes a write.
    pub fn fits(&self, space: u64) -> bool {
        match self.app {
            App::OnOff { write, .. } | App::Bulk { write, .. } => space >= write,
            App::Messages | App::ClosedLoop { .. } | App::Udp { .. } => space > 0,
        }
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
        } else if !matches!(self.app, App::Bulk { .. }) {
            self.take_messages(now, space);
        }
    }

    /// What messages ask for enters the send buffer, as far as there is room.
    #[inline(never)]
    fn take_messages(&mut self, now: u64, space: u64) {
        if let (App::ClosedLoop { write, .. }, Some(writes)) = (self.app, &mut self.writes) {
            while let Some(begun) = writes.due.front().copied().filter(|at| *at <= now) {
                writes.due.pop_front();
                self.wanted += write;
                writes.under_way.push_back(Write { number: writes.begun, begun, end: self.wanted });
                writes.begun += 1;
            }
        }
        self.written += (self.wanted - self.written).min(space);
    }

    /// A bulk application's next write, as the transport would see it while its window is open.
    /// `whole`: only if the buffer takes all of it.
    pub fn write_one(&mut self, space: u64, whole: bool) {
        if let App::Bulk { size, write } = self.app
            && !self.stopped
        {
            let left = size.map_or(u64::MAX, |s| s + self.extra - self.written);
            let wanted = write.min(left);
            self.written += if wanted <= space {
                wanted
            } else if whole {
                0
            } else {
                space
            };
        }
    }

    /// Whether a bulk application that keeps little unsent is woken to write: less than half of
    /// `t.notsent_lowat` is unsent beyond `nxt`.
    pub fn wants(&self, nxt: u64, t: &TransportSpec) -> bool {
        let more = !self.stopped && self.end() != Some(self.written);
        more && 2 * (self.written - nxt.min(self.written)) < t.notsent_lowat
    }

    /// A bulk application that keeps little unsent: once less than half of `t.notsent_lowat` is unsent
    /// beyond `nxt`, it writes until as much is. A write ends early, after a whole segment, when it
    /// reaches that; where writes end is added to `ends`, for segments that say so (`t.push_ack`).
    #[inline(never)]
    pub fn top_up(&mut self, space: u64, nxt: u64, t: &TransportSpec, ends: &mut VecDeque<u64>) {
        let App::Bulk { size, write } = self.app else { return };
        let full = (nxt + t.notsent_lowat).min(self.written + space);
        if self.stopped || 2 * (self.written - nxt.min(self.written)) >= t.notsent_lowat {
            return;
        }
        let mss = t.mss as u64;
        let end = size.map_or(u64::MAX, |s| s + self.extra);
        while self.written < full && self.written < end {
            let whole = self.written + write.min(end - self.written);
            // segments are begun while there is room
            let cut = self.written + (full - self.written).div_ceil(mss) * mss;
            self.written = whole.min(cut);
            if t.push_ack {
                ends.push_back(self.written);
            }
        }
    }

    /// A bulk application fills the buffer while the transport's window is shut.
    #[inline]
    pub fn fill(&mut self, space: u64, whole: bool) {
        if let App::Bulk { size, write } = self.app
            && !self.stopped
        {
            let left = size.map_or(u64::MAX, |s| s + self.extra - self.written);
            self.written += if left <= space {
                left
            } else if whole {
                space / write * write
            } else {
                space
            };
        }
    }
}
