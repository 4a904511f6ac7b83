//! Keys of UET.

use super::rule::{PacketTransport, table};
use crate::text::problem::Report;
use crate::text::quantity::{Auto, Size, Time};
use crate::text::words::{Word, words};
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

table! {
    /// UET.
    Uet {
        /// Congestion control.
        control: Control,
        /// Round-trip time of the fabric, of a full packet and its ACK over the longest path: determines NSCC's gains
        /// and windows. `auto`: that of each pair of hosts.
        rtt: Auto<Time>,
        /// Target queueing delay of NSCC. `auto`: three quarters of `rtt`; all of it with `queue.cuts = "none"`.
        target_delay: Auto<Time>,
        /// RCCC: credit rate of a host, as a share of its link's rate.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        pull_rate: f64,
        /// RCCC: capacity of hosts over that of the core. Above 1, hosts lower their credit rate, once per 1.5 round
        /// trips, in response to packets trimmed or marked by the core (uet-htsim's control on oversubscribed
        /// fabrics, which it has without NSCC). At 1 they do not.
        #[schemars(range(min = 1))]
        oversubscription: f64,
        /// Bytes received since the last ACK that trigger an ACK.
        ack_bytes: Size,
        /// Selection of entropies by a sender, with `routing.kind = "transport"` and `routing.by = "entropy"`.
        spread: Word<spec::Spread>,
        /// Entropies of a flow: a power of two.
        #[schemars(range(min = 1, max = 32768))]
        entropies: u32,
        /// SLEEK, for NSCC with switches that do not trim (`queue.cuts = "none"`): missing packets are retransmitted,
        /// regardless of the window, when more packets are out of order than spreading explains, or when a probe
        /// returns quickly.
        sleek: bool,
        /// RCCC as in uet-htsim: a trimmed packet does not request credit, a request for credit repeats the last
        /// target, and a flow continues to receive credit after its end.
        htsim: bool,
    }
}

/// Congestion control of UET.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// The sender: a window, by delays and marks.
    Nscc,
    /// The receiver: credit.
    Rccc,
    /// Both: a packet is sent if window and credit allow it.
    Both,
}

words! {
    /// Selection of entropies by a sender of UET.
    "Spread" spec::Spread {
        /// All in turn.
        "oblivious" => spec::Spread::Oblivious,
        /// All in turn; an entropy with a mark, a packet trimmed before the last hop, or a loss is skipped 1, 4 or 15
        /// times.
        "bitmap" => spec::Spread::Bitmap,
        /// Entropies returned without a mark, the latest 8, each used once; a random one if there is none (REPS).
        "reps" => spec::Spread::Reps,
        /// Entropies returned without a mark, each used once; as `bitmap` if there is none.
        "mixed" => spec::Spread::Mixed,
    }
}

impl PacketTransport for Uet {
    fn spec(&self, _mss: u32) -> Option<spec::Protocol> {
        let control = self.control?;
        Some(spec::Protocol::Uet(spec::Uet {
            window: control != Control::Rccc,
            credit: control != Control::Nscc,
            rtt: self.rtt?.given().map(|t| t.0),
            target_delay: self.target_delay?.given().map(|t| t.0),
            pull_rate: self.pull_rate?,
            oversubscription: self.oversubscription?,
            ack_bytes: self.ack_bytes?.0.0,
            spread: self.spread?.0,
            entropies: self.entropies?,
            sleek: self.sleek?,
            htsim: self.htsim?,
        }))
    }

    fn check(&self, _all: &spec::TransportSpec, at: &mut Report) {
        if self.sleek == Some(true) && self.control == Some(Control::Rccc) {
            at.value("sleek", true, "expected false with control = \"rccc\": it goes by NSCC's window");
        }
        for (name, time) in [("rtt", self.rtt), ("target_delay", self.target_delay)] {
            if time.and_then(Auto::given).is_some_and(|time| time.0 == incast_cc::Time::ZERO) {
                at.text(name, "0s", "expected a time above 0, or \"auto\"");
            }
        }
        let core = self.oversubscription.is_some_and(|ratio| ratio > 1.0);
        if let Some(Auto::Given(rtt)) = self.rtt.filter(|_| core)
            && rtt.0 > incast_cc::Time::ZERO
            && rtt.0 < spec::Uet::MIN_RTT
        {
            at.text(
                "rtt",
                rtt,
                "expected at least 100ns with oversubscription above 1: hosts adapt once in 1.5 of them",
            );
        }
        if let Some(rate) = self.pull_rate.filter(|rate| !(*rate > 0.0 && *rate <= 1.0)) {
            at.value("pull_rate", rate, "expected a share above 0 and at most 1");
        }
        match self.oversubscription {
            Some(ratio) if !(ratio >= 1.0 && ratio.is_finite()) => {
                at.value("oversubscription", ratio, "expected at least 1: hosts' capacity over that of the core");
            }
            Some(ratio) if ratio > 1.0 && self.control == Some(Control::Nscc) => {
                let message =
                    "expected 1 with control = \"nscc\": it is the rate of credit that changes, and there is none";
                at.value("oversubscription", ratio, message);
            }
            _ => {}
        }
        if let Some(bytes) = self.ack_bytes.filter(|bytes| bytes.0.0 == 0) {
            at.text("ack_bytes", bytes, "expected at least 1B");
        }
        if let Some(n) = self.entropies.filter(|n| !n.is_power_of_two() || *n > 1 << 15) {
            at.value("entropies", n, "expected a power of two, 1 to 32768");
        }
    }
}
