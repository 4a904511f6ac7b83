//! Bolt: the sender's half of sub-RTT congestion control (Arslan et al., NSDI 2023). A port with a queue notifies the
//! sender by packets of its own, and decides which packets may each add one packet to the window
//! (`docs/programs/bolt.md`). The sender reacts by the paper's algorithm 2, as in the public code:
//!
//! ```text
//! a port has q packets, at rate C, and says so after t = now - when the packet was sent:
//!     share = rate / C,  rate = cwnd/RTT          one packet less, once in t / ((q - target) share)
//! an ACK:  one packet more if its packet was let to; one more once a round trip
//! ```
//!
//! So N equal flows together remove q packets within the delay of the notification. Windows in bytes.

use crate::registry::{Kind, ParamSet};
use crate::{Ack, Asks, Backlog, Congestion, Controller, Env, Pacing, Profile, Time, Timeout};

params! {
    /// Additive increase of the window per round trip.
    ai: f64 = "1.0", "packets", "algorithm 2", "a number of at least 0" => |x| *x >= 0.0;
    /// Queue left at a port.
    target_queue: f64 = "0.0", "packets", "bolt_cc_ns3; the paper has none", "a number of at least 0" => |x| *x >= 0.0;
    /// Share of the window removed by a loss or a timeout, at most once in a round trip, and by each notice of a port
    /// while the window is a packet or less.
    max_mdf: f64 = "0.5", "", "bolt_cc_ns3", "a number above 0, below 1" => |x| *x > 0.0 && *x < 1.0;
    /// Base round-trip time; auto is the idle round-trip time of the flow's path.
    base_rtt: Option<Time> = "auto", "", "bolt_cc_ns3: a bandwidth-delay product of the fabric for all";
    /// Largest window, which is also the first, as a share of what the line sends in a base round trip.
    max_cwnd: f64 = "1.0", "of rate times RTT", "the studies of bolt_cc_ns3", "a number above 0" => |x| *x > 0.0;
    /// Smallest window; below one packet the sender paces.
    min_cwnd: f64 = "0.01", "packets", "bolt_cc_ns3: 15 bytes", "a number above 0, at most 1"
        => |x| *x > 0.0 && *x <= 1.0;
    /// Spaces the packets of a flow by at least their serialization time on the host's link. Without it a lone flow's
    /// first window queues at its own host.
    spaced: bool = "true", "", "bolt_cc_ns3";
    together {
        "base_rtt": "above 0" => |p| p.base_rtt != Some(Time::ZERO);
    }
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "bolt",
    title: "Bolt",
    source: "Arslan, Li, Kumar, Dukkipati, Bolt: Sub-RTT Congestion Control for Ultra-Low Latency, NSDI 2023, \
             algorithm 2; serhatarslan-hub/bolt_cc_ns3, commit 0cf98cc",
    what: "Reduces its window by notices that ports send straight back, and increases it by packets for which ports \
           have room.",
    differences: &[
        "The transport repairs losses by SACK, where the authors' simulator goes back to the first missing packet.",
        "A flow has a handshake if its transport has one; the SYN's round trip counts as a sample.",
        "The first notice of a flow is compared with the time since its packet was sent; the authors' simulator takes \
         the flow's beginning.",
    ],
    state: &[
        ("told_packets", "queue of the port that sent the latest notice, packets"),
        ("told_after_s", "time from the sending of the packet that met that queue to the notice"),
    ],
    profile: Profile { own_recovery: true, ack_every_packet: true, asks: Asks::Bolt, ..Profile::TCP },
    params: Params::PARAMS,
};

/// A Bolt sender.
#[derive(Clone, Debug)]
pub struct Bolt {
    cwnd: f64,
    least: f64,
    most: f64,
    mss: f64,
    ai: f64,
    target: f64,
    max_mdf: f64,
    base_rtt: Time,
    /// Bits per second.
    line: f64,
    /// Spacing of packets while the window is at least a packet.
    spacing: Pacing,
    /// RTT of the latest ACK, if one has arrived.
    rtt: Option<Time>,
    /// Time of the latest reduction; initially the earliest possible time of the cause of the flow's first notice.
    reduced: Option<Time>,
    /// Count of bytes sent that ends the current round trip.
    round_end: u64,
    notice: Option<(f64, Time)>,
}

impl Bolt {
    /// A new flow: the window is what the line sends in a base round trip.
    pub fn new(params: &Params, env: &Env) -> Bolt {
        let mss = f64::from(env.mss);
        let base_rtt = params.base_rtt.unwrap_or(env.base_rtt);
        let least = params.min_cwnd * mss;
        let most = (params.max_cwnd * env.line_rate.as_f64() * base_rtt.as_secs_f64() / 8.0).max(mss);
        Bolt {
            cwnd: most,
            least,
            most,
            mss,
            ai: params.ai * mss,
            target: params.target_queue,
            max_mdf: params.max_mdf,
            base_rtt,
            line: env.line_rate.as_f64(),
            spacing: match env.line_packet_time {
                Time::ZERO => Pacing::None,
                _ if !params.spaced => Pacing::None,
                packet => Pacing::Rate(mss * 8e12 / packet.0 as f64),
            },
            rtt: None,
            reduced: None,
            round_end: 0,
            notice: None,
        }
    }

    fn set(&mut self, cwnd: f64) {
        self.cwnd = cwnd.min(self.most).max(self.least);
    }

    /// Reacts to a loss, at most once in a round trip.
    fn lose(&mut self, now: Time) {
        let rtt = self.rtt.unwrap_or(Time::ZERO);
        if self.reduced.is_none_or(|at| now - at >= rtt) {
            self.set(self.cwnd * (1.0 - self.max_mdf));
            self.reduced = Some(now);
        }
    }
}

impl Controller for Bolt {
    /// Procedure HandleSRC.
    fn on_backlog(&mut self, backlog: &Backlog) {
        let Backlog { now, sent, packets, rate } = *backlog;
        let took = now - sent;
        self.notice = Some((packets, took));
        let before = *self.reduced.get_or_insert(sent);
        if self.cwnd <= self.mss {
            return self.set(self.cwnd * (1.0 - self.max_mdf));
        }
        let own = self.rtt.map_or(self.line, |rtt| self.cwnd * 8e12 / rtt.0 as f64);
        let due = (packets - self.target) * own / rate.as_f64();
        if due > 0.0 && (now - before).0 as f64 * due >= took.0 as f64 {
            self.set(self.cwnd - self.mss);
            self.reduced = Some(now);
        }
    }

    fn on_bolt_grant(&mut self, packets: u32) {
        self.set(self.cwnd + f64::from(packets) * self.mss);
    }

    /// Procedure HandleACK.
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Time::ZERO) {
            self.rtt = Some(rtt);
        }
        if ack.round.is_past(self.round_end) {
            self.round_end = ack.round.sent;
            self.set(self.cwnd + self.ai);
        }
    }

    fn on_loss(&mut self, event: &Congestion) {
        self.lose(event.now);
    }

    fn on_timeout(&mut self, event: &Timeout) {
        self.lose(event.now);
    }

    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn pacing(&self) -> Pacing {
        if self.cwnd >= self.mss {
            return self.spacing;
        }
        let rtt = self.rtt.unwrap_or(self.base_rtt);
        Pacing::Gap(Time((rtt.0 as f64 * self.mss / self.cwnd) as u64))
    }

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let (packets, took) = self.notice.map_or((f64::NAN, f64::NAN), |(n, took)| (n, took.as_secs_f64()));
        visit("told_packets", packets);
        visit("told_after_s", took);
    }
}
