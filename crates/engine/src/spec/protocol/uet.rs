//! Parameters of UET.

use super::facts::Facts;
use crate::spec::keys::keys;
use crate::spec::refused_value::Refusals;
use crate::spec::words::words;
use incast_cc::Time;

keys! {
    $ uet_keys
    /// UET (Ultra Ethernet).
    uet: Uet {
        /// Congestion control.
        control: Control as Word<Control>,
        /// Round-trip time of the fabric, of a full packet and its ACK over the longest path: determines NSCC's gains
        /// and windows. `auto`: that of each pair of hosts.
        rtt: Option<Time> as Auto<Time>,
        /// Target queueing delay of NSCC. `auto`: three quarters of `rtt`; all of it with `queue.cuts = "none"`.
        target_delay: Option<Time> as Auto<Time>,
        /// RCCC: credit rate of a host, as a share of its link's rate.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        pull_rate: f64,
        /// RCCC: capacity of hosts over that of the core. Above 1, hosts lower their credit rate, once per 1.5 round
        /// trips, in response to packets trimmed or marked by the core (uet-htsim's control on oversubscribed
        /// fabrics, which it has without NSCC). At 1 they do not.
        #[schemars(range(min = 1))]
        oversubscription: f64,
        /// Bytes received since the last ACK that trigger an ACK.
        ack_bytes: u64 as Size,
        /// Selection of entropies by a sender, with `routing.kind = "transport"` and `routing.by = "entropy"`.
        spread: Spread as Word<Spread>,
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

impl Uet {
    /// Minimum round-trip time of a fabric with an oversubscribed core.
    pub(crate) const MIN_RTT: Time = Time::ns(100);

    /// True if a sender has a window (NSCC).
    pub fn window(&self) -> bool {
        self.control != Control::Rccc
    }

    /// True if a receiver grants credit (RCCC).
    pub fn credit(&self) -> bool {
        self.control != Control::Nscc
    }

    /// Refuses values that contradict each other.
    pub(super) fn check(&self, to: &mut Refusals) {
        let message = "expected false with control = \"rccc\": it goes by NSCC's window";
        to.expect(!self.sleek || self.window(), "sleek", self.sleek, message);
        for (key, time) in [("rtt", self.rtt), ("target_delay", self.target_delay)] {
            to.expect(time != Some(Time::ZERO), key, Time::ZERO, "expected a time above 0, or \"auto\"");
        }
        let ratio = self.oversubscription;
        let rtt = self.rtt.filter(|rtt| ratio > 1.0 && *rtt > Time::ZERO).unwrap_or(Uet::MIN_RTT);
        let message = "expected at least 100ns with oversubscription above 1: hosts adapt once in 1.5 of them";
        to.expect(rtt >= Uet::MIN_RTT, "rtt", rtt, message);
        let message = "expected 1 with control = \"nscc\": it is the rate of credit that changes, and there is none";
        to.expect(ratio <= 1.0 || self.credit(), "oversubscription", ratio, message);
        to.expect(self.ack_bytes > 0, "ack_bytes", self.ack_bytes, "expected at least 1B");
        to.entropies(self.entropies);
    }
}

words! {
    /// Congestion control of UET.
    Control {
        /// The sender: a window, by delays and marks.
        Nscc = "nscc",
        /// The receiver: credit.
        Rccc = "rccc",
        /// Both: a packet is sent if window and credit allow it.
        Both = "both",
    }
}

words! {
    /// Selection of entropies by a sender of UET.
    Spread {
        /// All in turn.
        Oblivious = "oblivious",
        /// All in turn; an entropy with a mark, a packet trimmed before the last hop, or a loss is skipped 1, 4 or 15
        /// times.
        Bitmap = "bitmap",
        /// Entropies returned without a mark, the latest 8, each used once; a random one if there is none (REPS).
        Reps = "reps",
        /// Entropies returned without a mark, each used once; as `bitmap` if there is none.
        Mixed = "mixed",
    }
}

impl Uet {
    /// Facts of the transport.
    pub fn facts(&self) -> Facts {
        Facts {
            control: Some(match (self.window(), self.credit()) {
                (true, true) => "nscc+rccc",
                (_, true) => "rccc",
                _ => "nscc",
            }),
            data_slot_period: 11,
            needs_trimming: true,
            works_without_trimming: true,
            has_pulls: self.credit(),
            ..Facts::of("uet")
        }
    }
}
