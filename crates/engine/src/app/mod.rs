//! Sending applications, evaluated lazily: they cause events only while the transport has nothing else to send.
//!
//! An application is a pure state machine, called with the current time. Each has one file here, with its parameters
//! and its state, which is an [`Application`]. The list below derives [`App`], used in specifications, and
//! [`AppState`], used by senders. Datagrams are written by their transport ([`crate::transport::udp`]).

mod application;
mod bulk;
mod closed_loop;
mod messages;
mod on_off;
mod udp;

pub use application::{Application, Start, Work, Write};
use incast_cc::Time;
pub use on_off::Begin;
use std::collections::VecDeque;

macro_rules! applications {
    (($d:tt) $($file:ident::$name:ident,)+) => {
        /// Types for specifications.
        pub mod parameters {
            pub use super::App;
            $(pub use super::$file::$name;)+
        }

        /// A sending application.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub enum App {
            $(#[doc = concat!("See [`", stringify!($name), "`](crate::spec::", stringify!($name), ").")]
            $name($file::$name),)+
        }

        #[derive(Clone, Debug)]
        enum Kind {
            $($name($file::State),)+
        }

        impl AppState {
            /// State before the connection opens.
            pub fn new(app: App, start: Start) -> AppState {
                let kind = match app {
                    $(App::$name(parameters) => Kind::$name(Application::new(parameters, start)),)+
                };
                AppState { written: 0, stopped: false, kind }
            }
        }

        /// Calls a method of the application, whichever it is.
        macro_rules! ask {
            ($d kind:expr, $d app:ident => $d question:expr) => {
                match $d kind {
                    $(Kind::$name($d app) => $d question,)+
                }
            };
        }
    };
}

applications! { ($)
    bulk::Bulk,
    on_off::OnOff,
    messages::Messages,
    udp::Udp,
    closed_loop::ClosedLoop,
}

/// Properties known before the start.
impl App {
    fn state(self) -> AppState {
        AppState::new(self, Start::ENDLESS)
    }

    /// Bytes after which the application ends by itself.
    pub fn end(self) -> Option<u64> {
        self.state().end()
    }

    /// True if the application ends by itself, after a number of bytes or writes.
    pub fn is_finite(self) -> bool {
        self.end().is_some()
    }

    /// True if the application writes the messages of a query, on a two-way connection.
    pub fn is_messages(self) -> bool {
        matches!(self, App::Messages(_))
    }

    /// Bytes of a single transfer, if it has a size.
    pub fn size(self) -> Option<u64> {
        if let App::Bulk(bulk) = self { bulk.size } else { None }
    }

    /// Gap between datagrams, if the application sends any.
    pub fn datagram_gap(self) -> Option<Time> {
        if let App::Udp(udp) = self { Some(udp.gap) } else { None }
    }

    /// Upper bound of the application's rate, in bits per second, with segments of `mss` bytes.
    pub fn rate(self, mss: u32) -> f64 {
        ask!(self.state().kind, app => app.rate(mss))
    }
}

/// The application of a flow, at its sender.
#[derive(Clone, Debug)]
pub struct AppState {
    /// Bytes accepted.
    pub written: u64,
    stopped: bool,
    kind: Kind,
}

impl AppState {
    /// Called when the connection opens: the application starts.
    pub fn open(&mut self, now: Time) {
        ask!(&mut self.kind, app => app.open(now));
    }

    /// Called when a message of `bytes` is to be sent.
    pub fn on_message(&mut self, bytes: u64) {
        if !self.stopped {
            ask!(&mut self.kind, app => app.on_message(bytes));
        }
    }

    /// Called when no further message will come.
    pub fn close(&mut self) {
        if let Kind::Messages(app) = &mut self.kind {
            app.close();
        }
    }

    /// See [`Application::on_acked`].
    pub fn on_acked(&mut self, una: u64, now: Time) -> Option<Write> {
        ask!(&mut self.kind, app => app.on_acked(una, now, self.stopped))
    }

    /// See [`Application::work`].
    pub fn work(&self) -> Option<Work> {
        ask!(&self.kind, app => app.work())
    }

    /// See [`Application::under_way`].
    #[inline]
    pub fn under_way(&self) -> Option<&VecDeque<Write>> {
        ask!(&self.kind, app => app.under_way())
    }

    /// Stops the application: nothing more is written.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Bytes after which the application is done, once known.
    pub fn end(&self) -> Option<u64> {
        if self.stopped { Some(self.written) } else { ask!(&self.kind, app => app.end()) }
    }

    /// True if the application ends by itself.
    pub fn is_finite(&self) -> bool {
        ask!(&self.kind, app => app.end()).is_some()
    }

    /// True if the application was stopped before it had written everything up to its own end.
    pub fn is_cut(&self) -> bool {
        self.stopped && ask!(&self.kind, app => app.end()).is_some_and(|end| self.written < end)
    }

    /// See [`Application::next_at`].
    pub fn next_at(&self, space: u64) -> Option<Time> {
        if self.stopped || space == 0 { None } else { ask!(&self.kind, app => app.next_at(space)) }
    }

    /// See [`Application::catch_up`].
    #[inline]
    pub fn catch_up(&mut self, now: Time, space: u64) {
        if !self.stopped {
            self.written += ask!(&mut self.kind, app => app.catch_up(now, self.written, space));
        }
    }
}

/// Bulk applications, which write on demand of the transport.
impl AppState {
    /// True for a bulk application.
    pub fn is_bulk(&self) -> bool {
        matches!(self.kind, Kind::Bulk(_))
    }

    /// True if a single write is larger than a buffer of `max` bytes, so that none ever fits as a whole.
    pub fn is_refused(&self, max: u64) -> bool {
        self.bulk().is_some_and(|own| own.app.size.is_none() && own.app.write > max)
    }

    /// The bulk application, unless stopped.
    #[inline]
    fn bulk(&self) -> Option<&bulk::State> {
        if let Kind::Bulk(app) = &self.kind { Some(app).filter(|_| !self.stopped) } else { None }
    }

    /// True if the flow has at least `bytes` bytes beyond `nxt`.
    pub fn has_beyond(&self, nxt: u64, bytes: u32) -> bool {
        self.end().is_none_or(|end| end >= nxt + bytes as u64)
    }

    /// Moves the end of a bulk flow `bytes` earlier.
    pub fn forget(&mut self, bytes: u64) {
        if let Kind::Bulk(app) = &mut self.kind
            && let Some(end) = app.forget(bytes)
        {
            self.written = self.written.min(end);
        }
    }

    /// Makes the next write of a bulk application, as the transport sees it while its window is open. `whole`: only if
    /// the buffer accepts all of it.
    pub fn write_one(&mut self, space: u64, whole: bool) {
        if let Some(app) = self.bulk() {
            self.written += app.write(self.written, app.app.write, space, whole);
        }
    }

    /// True if an application that keeps little unsent (TCP_NOTSENT_LOWAT) is to be woken: less than half of `lowat` is
    /// unsent beyond `nxt`.
    pub fn wants(&self, nxt: u64, lowat: u64) -> bool {
        let more = !self.stopped && self.end() != Some(self.written);
        more && 2 * (self.written - nxt.min(self.written)) < lowat
    }

    /// Lets a bulk application that keeps little unsent write until `lowat` bytes are unsent beyond `nxt`, once less
    /// than half of that is ([`bulk::State::top_up`]).
    #[inline(never)]
    pub fn top_up(&mut self, space: u64, nxt: u64, lowat: u64, mss: u32, ends: Option<&mut VecDeque<u64>>) {
        if let Some(app) = self.bulk()
            && 2 * (self.written - nxt.min(self.written)) < lowat
        {
            let full = (nxt + lowat).min(self.written + space);
            self.written = app.top_up(self.written, full, mss, ends);
        }
    }

    /// Lets a bulk application fill the buffer while the transport's window is closed.
    #[inline]
    pub fn fill(&mut self, space: u64, whole: bool) {
        if let Some(app) = self.bulk() {
            self.written += app.write(self.written, u64::MAX, space, whole);
        }
    }
}
