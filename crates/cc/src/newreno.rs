//! NewReno: TCP congestion control of RFC 5681 with the fast recovery of RFC 6582.
//!
//! Slow start, congestion avoidance and ssthresh are RFC 5681 section 3.1; the window after fast recovery is RFC 6582
//! section 3.2 step 3. The behaviour *during* fast recovery (inflation by duplicates, SACK, proportional rate
//! reduction) belongs to the transport.
//!
//! With classic ECN the first ECN-Echo of a window halves it like a loss (RFC 3168 section 6.1.2).

use crate::registry::{Kind, ParamSet};
use crate::reno_window::{self, Halve, RenoWindow, by_window};
use crate::{Ack, Congestion, Controller, Env, Profile, Time, Timeout};

choice! {
    /// Window after fast recovery, RFC 6582 section 3.2 step 3.
    Recovered {
        /// Option (2): ssthresh.
        Ssthresh = "ssthresh",
        /// Option (1): min(ssthresh, max(flight, mss) + mss), which avoids a burst.
        Flight = "flight",
    }
}

params! {
    form of {
        /// NewReno in whole bytes and segments.
        "ns3" = "ns-3.43, TcpNewReno (src/internet/model/tcp-congestion-ops.cc)" {
            arithmetic = "whole", timeouts = "every"
        }
        /// NewReno in whole segments; halves the window.
        "linux" = "Linux 6.1, net/ipv4/tcp_cong.c and tcp_input.c" {
            slow_start_per = "segments", avoidance = "bytes", arithmetic = "segments",
            timeouts = "once", halve = "cwnd",
            idle = "decay"
        }
    }
    /// Window after fast recovery: "ssthresh", or "flight" for the bytes in flight plus one segment if that is less.
    recovered: Recovered = "ssthresh", "", "RFC 6582 section 3.2 step 3, option (2); ns-3 and Linux do the same";
    /// Quantity that a loss halves: the bytes in "flight", or "cwnd".
    halve: Halve = "flight", "", "RFC 5681 equation (4); Linux halves cwnd";
    then ..window: reno_window::Params {
        floor = "2.0", "RFC 5681 equation (4)", "a number of at least 1" => |x| *x >= 1.0;
    };
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "newreno",
    title: "NewReno",
    source: "RFC 5681 section 3.1, RFC 6582 section 3.2; with classic ECN RFC 3168 section 6.1.2",
    what: "Loss-based: doubles each round trip in slow start, adds one segment each round trip afterwards, halves on a \
           loss.",
    differences: &[
        "Fast recovery itself belongs to the transport (transport.recovery), so that every loss-based controller \
         shares one.",
        "The window is a real number of bytes; RFC 5681's rounding up of mss*mss/cwnd to one byte is not needed.",
    ],
    state: &[],
    profile: Profile::TCP,
    params: Params::PARAMS,
};

/// A NewReno sender.
#[derive(Clone, Debug)]
pub struct NewReno {
    window: RenoWindow,
    recovered: Recovered,
    recovering: bool,
}

impl NewReno {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> NewReno {
        NewReno {
            window: RenoWindow::new(env, params.window, params.halve),
            recovered: params.recovered,
            recovering: false,
        }
    }
}

impl Controller for NewReno {
    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        self.window.grow(ack);
    }

    fn on_loss(&mut self, event: &Congestion) {
        let half = self.window.half(event.in_flight, event.window);
        self.window.reduce(half);
        self.recovering = true;
    }

    fn on_ecn(&mut self, event: &Congestion) {
        let half = self.window.half(event.in_flight, event.window);
        self.window.reduce(half);
    }

    fn on_timeout(&mut self, event: &Timeout) {
        let half = self.window.half(event.in_flight, event.window);
        self.window.restart(event, half);
        self.recovering = false;
    }

    fn on_recovered(&mut self, _now: Time, in_flight: u64) {
        if self.recovering && self.recovered == Recovered::Flight {
            let mss = self.window.mss;
            self.window.deflate((in_flight as f64).max(mss) + mss);
        }
        if self.recovering {
            self.window.recovered();
        }
        self.recovering = false;
    }

    fn on_undo(&mut self) {
        self.window.undo();
    }

    by_window!();
}
