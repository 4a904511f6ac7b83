//! Receiver-driven transports: their keys, one table per transport.

use crate::text::problem::Report;
use crate::text::quantity::{Auto, Size, Time, listed};
use crate::text::words::{Word, words};
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Declares the table of a transport: optional keys, and the merge with default values.
macro_rules! table {
    ($(#[$about:meta])+ $name:ident { $($(#[$doc:meta])+ $key:ident: $type:ty,)+ }) => {
        $(#[$about])+
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[schemars(inline)]
        pub struct $name {
            $($(#[$doc])+ #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<$type>,)+
        }

        impl $name {
            /// Returns these values, with missing ones from `base`.
            fn or(&self, base: &$name) -> $name {
                $name { $($key: Clone::clone(&self.$key).or_else(|| Clone::clone(&base.$key))),+ }
            }
        }
    };
}

/// Merges the first with the second; `or` joins two.
pub(crate) fn joined<T: Clone>(own: &Option<T>, base: &Option<T>, or: impl Fn(&T, &T) -> T) -> Option<T> {
    match (own, base) {
        (Some(own), Some(base)) => Some(or(own, base)),
        _ => own.clone().or_else(|| base.clone()),
    }
}

table! {
    /// NDP.
    Ndp {
        /// Initial unsolicited window, in packets; htsim's default. Every later packet needs a pull.
        #[schemars(range(min = 1))]
        window: u32,
        /// Pull rate of a host, as a share of its link's rate.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        pull_rate: f64,
        /// Order in which endpoints use their paths, with `routing.kind = "transport"`.
        paths: Word<spec::Walk>,
        /// NDP as in htsim: no retransmission timer, so a flow whose header is dropped never ends; NACKs wait behind
        /// data in their host; the last packet has full size.
        htsim: bool,
    }
}

words! {
    /// Order in which an endpoint uses its paths.
    "Walk" spec::Walk {
        /// All paths in a random order, one packet each; then in a new order.
        "permute" => spec::Walk::Permute,
        /// A random path for each packet.
        "random" => spec::Walk::Random,
    }
}

impl Ndp {
    pub(crate) fn over(&self, base: &Ndp) -> Ndp {
        self.or(base)
    }

    /// Specification for the engine.
    pub(crate) fn spec(&self) -> Option<spec::Ndp> {
        Some(spec::Ndp { window: self.window?, pull_rate: self.pull_rate?, walk: self.paths?.0, htsim: self.htsim? })
    }

    /// Reports values outside bounds that types do not express.
    pub(crate) fn check(&self, at: &mut Report) {
        if self.window == Some(0) {
            at.value("window", 0, "expected at least 1 packet");
        }
        if let Some(rate) = self.pull_rate.filter(|rate| !(*rate > 0.0 && *rate <= 1.0)) {
            at.value("pull_rate", rate, "expected a share above 0 and at most 1");
        }
    }
}

table! {
    /// EQDS.
    Eqds {
        /// Speculative credit at the start of a flow, in packets; a receiver also grants this much beyond the demand
        /// when no flow asks for credit.
        #[schemars(range(min = 1))]
        window: u32,
        /// Credit rate of a host, as a share of its link's rate.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        pull_rate: f64,
        /// Entropies of a flow, with `routing.kind = "transport"` and `routing.by = "entropy"`: a power of two.
        #[schemars(range(min = 1, max = 32768))]
        entropies: u32,
        /// EQDS as in htsim: more credit than backlog lowers the target, and a flow shorter than its window receives
        /// credit for ever, because a target below zero wraps around; `pull_rate` multiplies the time between
        /// credits, which is that of a packet and 38 bytes; all credit of a flow has one entropy.
        htsim: bool,
    }
}

impl Eqds {
    pub(crate) fn over(&self, base: &Eqds) -> Eqds {
        self.or(base)
    }

    /// Specification for the engine.
    pub(crate) fn spec(&self) -> Option<spec::Eqds> {
        let (window, entropies) = (self.window?, self.entropies?);
        Some(spec::Eqds { window, pull_rate: self.pull_rate?, entropies, htsim: self.htsim? })
    }

    /// Reports values outside bounds that types do not express.
    pub(crate) fn check(&self, at: &mut Report) {
        if self.window == Some(0) {
            at.value("window", 0, "expected at least 1 packet");
        }
        if let Some(rate) = self.pull_rate.filter(|rate| !(*rate > 0.0 && *rate <= 1.0)) {
            at.value("pull_rate", rate, "expected a share above 0 and at most 1");
        }
        if let Some(n) = self.entropies.filter(|n| !n.is_power_of_two() || *n > 1 << 15) {
            at.value("entropies", n, "expected a power of two, 1 to 32768");
        }
    }
}

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

table! {
    /// ExpressPass.
    ExpressPass {
        /// Smallest credit, in IP bytes; the size of each credit is random.
        credit_min: Size,
        /// Largest credit, in IP bytes.
        credit_max: Size,
        /// Initial credit rate of a receiver, as a share of the largest rate. At the largest rate the data sent for
        /// credits fills the link of its host.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        alpha: f64,
        /// A request for fewer packets than this starts more slowly, in proportion to its packets.
        ramp: u32,
        /// Reaction of the rate to losses of credits, once a round trip.
        feedback: Word<spec::Feedback>,
        /// Target share of lost credits. With `feedback = "ns2"` it is multiplied by the unused share of the largest
        /// rate.
        #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
        target_loss: f64,
        /// Weight of the largest rate in the first increase.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        weight: f64,
        /// Smallest weight: losses halve it.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        min_weight: f64,
        /// Random variation of the time to the next credit: at most this share of it.
        #[schemars(range(min = 0), extend("exclusiveMaximum" = 1))]
        jitter: f64,
        /// A sender stops requesting once a round trip has delivered as many credits as it has packets left;
        /// otherwise when nothing is left.
        early_stop: bool,
    }
}

table! {
    /// pHost. The unit of times is the transmission time of a full packet on the host's link.
    PHost {
        /// Messages that have tokens from the start.
        free: Word<spec::Free>,
        /// Largest number of unscheduled packets of a message. (About a bandwidth-delay product.)
        #[schemars(range(max = 65535))]
        free_packets: u32,
        /// Time from one token of a host to its next. The authors' simulator has 1.027: a packet of 1500 bytes and a
        /// header of 40.
        #[schemars(extend("exclusiveMinimum" = 0))]
        gap: f64,
        /// Lifetime of a token after its arrival.
        #[schemars(extend("exclusiveMinimum" = 0))]
        expiry: f64,
        /// Largest number of tokens of a message not yet answered by data.
        #[schemars(range(min = 1))]
        window: u32,
        /// With `window` unanswered tokens a message gets one more token this long after its last.
        #[schemars(extend("exclusiveMinimum" = 0))]
        skip: f64,
        /// Time after the last token of a message at which tokens for missing packets are sent again, once all have
        /// been sent.
        #[schemars(extend("exclusiveMinimum" = 0))]
        reissue: f64,
        /// Number of priorities: control packets, data, and with 3 data of large messages.
        #[schemars(range(min = 2, max = 3))]
        levels: u32,
        /// Messages larger than this are large. `auto`: those above `free_packets`.
        large: Auto<Size>,
    }
}

words! {
    /// Messages of pHost that have tokens from the start.
    "Free" spec::Free {
        /// Messages of up to `free_packets` packets, for all of them; others have none: as in the authors' simulator.
        "short" => spec::Free::Short,
        /// All messages, for their first `free_packets` packets: as in the paper, at second hand.
        "all" => spec::Free::All,
    }
}

impl PHost {
    pub(crate) fn over(&self, base: &PHost) -> PHost {
        self.or(base)
    }

    /// Specification for the engine; a full packet has `mss` bytes.
    pub(crate) fn spec(&self, mss: u32) -> Option<spec::PHost> {
        let free_packets = self.free_packets?;
        let large = self.large?.given().map_or((free_packets as u64 * mss as u64).max(1), |size| size.0.0);
        Some(spec::PHost {
            free: self.free?.0,
            free_packets,
            gap: self.gap?,
            expiry: self.expiry?,
            window: self.window?,
            skip: self.skip?,
            reissue: self.reissue?,
            large: (self.levels? > 2).then_some(large),
        })
    }

    /// Reports values outside bounds that types do not express.
    pub(crate) fn check(&self, at: &mut Report) {
        let times = [("gap", self.gap), ("expiry", self.expiry), ("skip", self.skip), ("reissue", self.reissue)];
        for (key, time) in times {
            if let Some(time) = time.filter(|time| !(*time > 0.0 && *time <= spec::PHost::MAX_PACKETS as f64)) {
                let most = spec::PHost::MAX_PACKETS;
                at.value(key, time, format!("expected a time of more than 0 and at most {most} packets"));
            }
        }
        if let Some(n) = self.free_packets.filter(|n| *n > spec::PHost::MAX_PACKETS) {
            let message = format!("expected at most {}: they go at once", spec::PHost::MAX_PACKETS);
            at.value("free_packets", n, message);
        }
        if self.window == Some(0) {
            at.value("window", 0, "expected at least 1 token");
        }
        if let Some(levels) = self.levels.filter(|levels| !(2..=3).contains(levels)) {
            at.value("levels", levels, "expected 2 or 3");
        }
        if let Some(size) = self.large.and_then(Auto::given).filter(|size| size.0.0 == 0) {
            at.text("large", size, "expected at least 1B: no message is shorter");
        }
    }
}

words! {
    /// Reaction of a receiver's credit rate to losses of credits.
    "Feedback" spec::Feedback {
        /// As in the authors' simulator: with few losses the rate approaches the largest one, by a weight that grows
        /// by 0.05 up to 0.5; above the target it falls to the rate at which credits arrived, times 1 plus the
        /// target.
        "ns2" => spec::Feedback::Code,
        /// As printed: with few losses the rate approaches the largest one times 1 plus the target, by a weight that
        /// approaches 0.5; above the target it falls by the lost share, times 1 plus the target.
        "paper" => spec::Feedback::Paper,
    }
}

impl ExpressPass {
    pub(crate) fn over(&self, base: &ExpressPass) -> ExpressPass {
        self.or(base)
    }

    /// Specification for the engine.
    pub(crate) fn spec(&self) -> Option<spec::ExpressPass> {
        let bytes = |size: Size| size.0.0.min(u32::MAX as u64) as u32;
        Some(spec::ExpressPass {
            credit: (bytes(self.credit_min?), bytes(self.credit_max?)),
            alpha: self.alpha?,
            ramp: self.ramp?,
            feedback: self.feedback?.0,
            target_loss: self.target_loss?,
            weight: self.weight?,
            min_weight: self.min_weight?,
            jitter: self.jitter?,
            early_stop: self.early_stop?,
        })
    }

    /// Reports values outside bounds that types do not express; `all` has every value.
    pub(crate) fn check(&self, all: &spec::ExpressPass, at: &mut Report) {
        for (key, size) in [("credit_min", self.credit_min), ("credit_max", self.credit_max)] {
            if let Some(size) = size.filter(|size| !(1..=u16::MAX as u64).contains(&size.0.0)) {
                at.text(key, size, "expected 1B to 65535B, a packet");
            }
        }
        if all.credit.0 > all.credit.1 {
            let (min, max) = all.credit;
            at.text("credit_min", format_args!("{min}B"), format!("expected at most credit_max, {max}B"));
        }
        for (key, share) in [("alpha", self.alpha), ("weight", self.weight), ("min_weight", self.min_weight)] {
            if let Some(share) = share.filter(|share| !(*share > 0.0 && *share <= 1.0)) {
                at.value(key, share, "expected a share above 0 and at most 1");
            }
        }
        for (key, share) in [("target_loss", self.target_loss), ("jitter", self.jitter)] {
            if let Some(share) = share.filter(|share| !(0.0..1.0).contains(share)) {
                at.value(key, share, "expected a share of at least 0 and below 1");
            }
        }
        if all.min_weight > all.weight {
            at.value("min_weight", all.min_weight, format!("expected at most weight, {}", all.weight));
        }
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

impl Uet {
    pub(crate) fn over(&self, base: &Uet) -> Uet {
        self.or(base)
    }

    /// Specification for the engine.
    pub(crate) fn spec(&self) -> Option<spec::Uet> {
        let control = self.control?;
        Some(spec::Uet {
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
        })
    }

    /// Reports values outside bounds that types do not express.
    pub(crate) fn check(&self, at: &mut Report) {
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

table! {
    /// Homa.
    Homa {
        /// Unscheduled bytes of a message, and bytes in flight of a granted one; a shorter message is all
        /// unscheduled. About the bytes of a round trip.
        unscheduled: Size,
        /// Number of priorities: switches need as many classes in their queues. Control packets have the highest.
        #[schemars(range(min = 1, max = 8))]
        levels: u32,
        /// Number of messages that a host grants at a time, one per sender. `auto`: one per priority not used by
        /// unscheduled packets.
        overcommit: Auto<NonZeroU32>,
        /// Unscheduled packets of a message of at most the first size have the highest priority, and so on; those
        /// above the last size have the next priority. `auto`: from the sizes of the scenario's messages; each
        /// priority gets the same unscheduled bytes, and the number of priorities follows the unscheduled share of
        /// all bytes.
        cutoffs: Auto<Vec<Size>>,
    }
}

impl Homa {
    pub(crate) fn over(&self, base: &Homa) -> Homa {
        self.or(base)
    }

    /// Specification for the engine.
    pub(crate) fn spec(&self) -> Option<spec::Homa> {
        let cutoffs = self.cutoffs.clone()?.given().map(|sizes| sizes.iter().map(|size| size.0.0).collect());
        let overcommit = self.overcommit?.given().map(NonZeroU32::get);
        let levels = self.levels?.min(u8::MAX as u32) as u8;
        Some(spec::Homa { unscheduled: self.unscheduled?.0.0, levels, overcommit, cutoffs })
    }

    /// Reports values outside bounds that types do not express; `all` has every value.
    pub(crate) fn check(&self, all: &spec::Homa, at: &mut Report) {
        if let Some(size) = self.unscheduled.filter(|size| size.0.0 == 0) {
            at.text("unscheduled", size, "expected at least 1B: a receiver learns of a message by its first packet");
        }
        let most = spec::Homa::MAX_LEVELS as u32;
        if let Some(levels) = self.levels.filter(|levels| !(1..=most).contains(levels)) {
            at.value("levels", levels, format!("expected 1 to {most}"));
        }
        let cutoffs = all.cutoffs.as_deref().unwrap_or_default();
        let wrong = |at: &mut Report, message: &str| at.value("cutoffs", listed(cutoffs), message);
        if !cutoffs.is_sorted_by(|a, b| a < b) {
            wrong(at, "expected ascending sizes");
        } else if cutoffs.first() == Some(&0) {
            wrong(at, "expected sizes of at least 1B: no message is shorter");
        } else if cutoffs.len() >= all.levels as usize {
            at.key("cutoffs", format!("has {} sizes; expected fewer than levels, {}", cutoffs.len(), all.levels));
        }
    }
}
