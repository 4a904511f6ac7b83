//! XCP: the sender's half of the eXplicit Control Protocol (Katabi, Handley and Rohrs, SIGCOMM 2002). Packets carry
//! the sender's window, its round-trip time and a requested change of the window; every switch on the path lowers
//! that change to the allowed one (`docs/programs/xcp.md`). The sender applies the returned change.

use crate::registry::{Kind, ParamSet};
use crate::{Ack, Asks, Congestion, Controller, Env, Feedback, Idle, Profile, Time, Timeout};

choice! {
    /// Round-trip time that converts a change of the rate into one of the window.
    RttOf {
        /// The RTT carried by the packet: the switches allow changes of windows (section 3.2).
        Packet = "packet",
        /// The smoothed RTT at the ACK: the switches allow changes of rates (ns-2).
        Ack = "ack",
    }
}

params! {
    /// Round-trip time that converts a change of the rate into one of the window: the one carried by the "packet", or
    /// the smoothed one at the "ack".
    rtt_of: RttOf = "packet", "", "section 3.2; ns-2 takes ack";
    /// Smallest window.
    min_cwnd: f64 = "1.0", "packets", "section 3.2", "a number above 0" => |x| *x > 0.0;
    /// Largest window.
    max_cwnd: f64 = "1000000.0", "packets", "own choice; the paper has none",
        "a number of at least 1" => |x| *x >= 1.0;
    together {
        "min_cwnd": "at most max_cwnd" => |p| p.min_cwnd <= p.max_cwnd;
    }
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "xcp",
    title: "XCP",
    source: "Katabi, Handley, Rohrs, Congestion Control for High Bandwidth-Delay Product Networks, SIGCOMM 2002, \
             section 3.2",
    what: "Changes its window by the change that the switches on its path allow each packet; all flows get equal \
           shares.",
    differences: &[
        "A flow begins with the transport's initial window; in the paper it begins with a packet.",
        "The requested rate of a sender is its line's; no application requests less.",
        "A loss halves the window and a timeout leaves the smallest, as in conventional TCP, which the paper leaves \
         open; the transport repairs losses.",
        "After an idle retransmission timeout the window is the initial one, if the transport restarts after idle \
         times; the paper leaves that open.",
    ],
    state: &[("feedback_bytes", "change of the window by the latest ACK, bytes")],
    profile: Profile { ack_every_packet: true, asks: Asks::Window, ..Profile::TCP },
    params: Params::PARAMS,
};

/// An XCP sender. Windows in bytes.
#[derive(Clone, Debug)]
pub struct Xcp {
    cwnd: f64,
    initial: f64,
    least: f64,
    most: f64,
    mss: f64,
    rtt_of: RttOf,
    /// Change of the rate to be applied at the next ACK, bytes per second.
    waits: f64,
    change: f64,
}

impl Xcp {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Xcp {
        let mss = f64::from(env.mss);
        let (least, most) = (params.min_cwnd * mss, params.max_cwnd * mss);
        let initial = env.initial_window.max(least).min(most);
        Xcp { cwnd: initial, initial, least, most, mss, rtt_of: params.rtt_of, waits: 0.0, change: 0.0 }
    }

    fn add(&mut self, change: f64) {
        self.change = change;
        self.set(self.cwnd + change);
    }

    fn set(&mut self, cwnd: f64) {
        self.cwnd = cwnd.max(self.least).min(self.most);
    }
}

impl Controller for Xcp {
    fn on_feedback(&mut self, feedback: &Feedback) {
        match self.rtt_of {
            RttOf::Packet => self.add(feedback.change * feedback.rtt.as_secs_f64()),
            RttOf::Ack => self.waits += feedback.change,
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        if self.waits != 0.0 && ack.srtt > Time::ZERO {
            self.add(self.waits * ack.srtt.as_secs_f64());
            self.waits = 0.0;
        }
    }

    fn on_loss(&mut self, _event: &Congestion) {
        self.set((self.cwnd / 2.0).max(self.mss));
    }

    fn on_timeout(&mut self, _event: &Timeout) {
        self.set(self.mss);
    }

    fn on_idle(&mut self, _idle: &Idle) {
        self.set(self.cwnd.min(self.initial));
    }

    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("feedback_bytes", self.change);
    }
}
