//! Sending applications, evaluated lazily: an event is spent on one only while the transport has nothing else to send.
//!
//! One application is one file here, a variant of [`Kind`] and of [`App`]. Datagrams are written by
//! their transport ([`crate::transport::udp`]).

mod bulk;
mod closed_loop;
mod on_off;

use crate::spec::{App, TransportSpec};
use bulk::Bulk;
use closed_loop::ClosedLoop;
pub use closed_loop::Write;
use incast_cc::Time;
use on_off::OnOff;
use std::collections::VecDeque;

/// An application and how far it has come.
#[derive(Clone, Debug)]
pub struct AppState {
    /// Bytes accepted.
    pub written: u64,
    stopped: bool,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Bulk(Bulk),
    OnOff(OnOff),
    /// Bytes that messages ask for.
    Messages(u64),
    ClosedLoop(Box<ClosedLoop>),
}

impl AppState {
    /// An application that stops at `stop`; a sized one writes `extra` more bytes.
    pub fn new(app: App, stop: Time, extra: u64) -> AppState {
        let kind = match app {
            App::Bulk { size, write } => Kind::Bulk(Bulk { size, extra, write }),
            App::OnOff { rate, on, off, write, off_first } => {
                let tick = rate.serialize(write).max(Time::ps(1));
                Kind::OnOff(OnOff { on, off, write, off_first, tick, stop, on_from: Time::NEVER, ticks_done: 0 })
            }
            App::Messages | App::Udp { .. } => Kind::Messages(0),
            App::ClosedLoop { write, outstanding, think, count } => Kind::ClosedLoop(Box::new(ClosedLoop {
                write,
                outstanding,
                think,
                count,
                stop,
                due: VecDeque::new(),
                under_way: VecDeque::new(),
                begun: 0,
                wanted: 0,
            })),
        };
        AppState { written: 0, stopped: false, kind }
    }

    /// The connection is open: the application starts.
    pub fn open(&mut self, now: Time) {
        match &mut self.kind {
            Kind::OnOff(app) => app.open(now),
            Kind::ClosedLoop(app) => app.open(now),
            Kind::Bulk(_) | Kind::Messages(_) => {}
        }
    }

    /// A message of `bytes` is to be sent.
    pub fn on_message(&mut self, bytes: u64) {
        if let Kind::Messages(wanted) = &mut self.kind
            && !self.stopped
        {
            *wanted += bytes;
        }
    }

    /// The oldest write of a closed loop, if everything below `una` completes it.
    pub fn on_acked(&mut self, una: u64, now: Time) -> Option<Write> {
        let Kind::ClosedLoop(app) = &mut self.kind else { return None };
        app.on_acked(una, now, self.stopped)
    }

    /// Whether acknowledgements complete writes.
    #[inline]
    pub fn is_closed_loop(&self) -> bool {
        matches!(self.kind, Kind::ClosedLoop(_))
    }

    /// Writes of a closed loop that are not acknowledged.
    pub fn under_way(&self) -> impl Iterator<Item = Write> {
        let app = if let Kind::ClosedLoop(app) = &self.kind { Some(app) } else { None };
        app.into_iter().flat_map(|app| app.under_way.iter().copied())
    }

    /// Writes nothing more.
    pub fn stop(&mut self) {
        self.stopped = true;
        match &mut self.kind {
            Kind::Messages(wanted) => *wanted = self.written,
            Kind::ClosedLoop(app) => {
                app.wanted = self.written;
                app.due.clear();
            }
            Kind::Bulk(_) | Kind::OnOff(_) => {}
        }
    }

    /// Bytes after which the application is done, once that is known.
    pub fn end(&self) -> Option<u64> {
        match &self.kind {
            _ if self.stopped => Some(self.written),
            Kind::Bulk(app) => app.end(),
            Kind::ClosedLoop(app) => app.count.map(|count| count * app.write),
            Kind::OnOff(_) | Kind::Messages(_) => None,
        }
    }

    /// It ends by itself.
    pub fn is_finite(&self) -> bool {
        match &self.kind {
            Kind::Bulk(app) => app.size.is_some(),
            Kind::ClosedLoop(app) => app.count.is_some(),
            Kind::OnOff(_) | Kind::Messages(_) => false,
        }
    }

    /// It moves bytes as fast as it may.
    pub fn is_bulk(&self) -> bool {
        matches!(self.kind, Kind::Bulk(_))
    }

    /// A bulk flow has at least `bytes` more than `nxt`.
    pub fn has_beyond(&self, nxt: u64, bytes: u32) -> bool {
        self.end().is_none_or(|end| end >= nxt + bytes as u64)
    }

    /// A bulk flow ends so many bytes earlier.
    pub fn forget(&mut self, bytes: u64) {
        if let Kind::Bulk(app) = &mut self.kind
            && let Some(end) = app.forget(bytes)
        {
            self.written = self.written.min(end);
        }
    }

    /// When the application writes next; `None` if it does so when the transport wants, or never.
    pub fn next_at(&self) -> Option<Time> {
        match &self.kind {
            Kind::ClosedLoop(app) => app.due.front().copied(),
            Kind::OnOff(app) if !self.stopped => app.next_at(),
            Kind::Bulk(_) | Kind::OnOff(_) | Kind::Messages(_) => None,
        }
    }

    /// Whether a buffer with `space` bytes free takes a write.
    pub fn fits(&self, space: u64) -> bool {
        match &self.kind {
            Kind::OnOff(OnOff { write, .. }) | Kind::Bulk(Bulk { write, .. }) => space >= *write,
            Kind::Messages(_) | Kind::ClosedLoop(_) => space > 0,
        }
    }

    /// Lets everything that was to be written up to `now` try to enter the `space` free in the send buffer.
    #[inline]
    pub fn catch_up(&mut self, now: Time, space: u64) {
        match &mut self.kind {
            Kind::Bulk(_) => {}
            Kind::OnOff(_) if self.stopped => {}
            Kind::OnOff(app) => self.written += app.catch_up(now, space),
            _ => self.take_messages(now, space),
        }
    }

    /// What messages ask for enters the send buffer, as far as there is room.
    #[inline(never)]
    fn take_messages(&mut self, now: Time, space: u64) {
        let wanted = match &mut self.kind {
            Kind::Messages(wanted) => *wanted,
            Kind::ClosedLoop(app) => app.wanted_by(now),
            Kind::Bulk(_) | Kind::OnOff(_) => return,
        };
        self.written += (wanted - self.written).min(space);
    }

    /// A bulk application's next write, as the transport would see it while its window is open.
    /// `whole`: only if the buffer takes all of it.
    pub fn write_one(&mut self, space: u64, whole: bool) {
        if let Kind::Bulk(app) = &self.kind
            && !self.stopped
        {
            self.written = app.write_one(self.written, space, whole);
        }
    }

    /// Whether a bulk application that keeps little unsent is woken to write: less than half of
    /// `t.notsent_lowat` is unsent beyond `nxt`.
    pub fn wants(&self, nxt: u64, t: &TransportSpec) -> bool {
        let more = !self.stopped && self.end() != Some(self.written);
        more && 2 * (self.written - nxt.min(self.written)) < t.notsent_lowat
    }

    /// A bulk application that keeps little unsent: once less than half of `t.notsent_lowat` is unsent
    /// beyond `nxt`, it writes until as much is ([`Bulk::top_up`]).
    #[inline(never)]
    pub fn top_up(&mut self, space: u64, nxt: u64, t: &TransportSpec, ends: &mut VecDeque<u64>) {
        if let Kind::Bulk(app) = &self.kind
            && !self.stopped
            && 2 * (self.written - nxt.min(self.written)) < t.notsent_lowat
        {
            self.written = app.top_up(self.written, space, nxt, t, ends);
        }
    }

    /// A bulk application fills the buffer while the transport's window is shut.
    #[inline]
    pub fn fill(&mut self, space: u64, whole: bool) {
        if let Kind::Bulk(app) = &self.kind
            && !self.stopped
        {
            self.written = app.fill(self.written, space, whole);
        }
    }
}
