//! Transports that receivers drive: their keys, each a table of the transport's.

use crate::text::problem::Report;
use crate::text::quantity::{Auto, Size, Time};
use crate::text::words::{Word, words};
use incast_engine::spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares the table of a transport: keys that a user may give, and what of them others lend.
macro_rules! table {
    ($(#[$about:meta])+ $name:ident { $($(#[$doc:meta])+ $key:ident: $type:ty,)+ }) => {
        $(#[$about])+
        #[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[schemars(inline)]
        pub struct $name {
            $($(#[$doc])+ #[serde(skip_serializing_if = "Option::is_none")] pub $key: Option<$type>,)+
        }

        impl $name {
            /// The values given here, the others from `base`.
            fn or(&self, base: &$name) -> $name {
                $name { $($key: self.$key.or(base.$key)),+ }
            }
        }
    };
}

/// Values given in the first, the others from the second; `or` joins two.
pub(crate) fn joined<T: Clone>(own: &Option<T>, base: &Option<T>, or: impl Fn(&T, &T) -> T) -> Option<T> {
    match (own, base) {
        (Some(own), Some(base)) => Some(or(own, base)),
        _ => own.clone().or_else(|| base.clone()),
    }
}

table! {
    /// NDP.
    Ndp {
        /// Packets that go unasked when a flow begins; htsim's default. Every later packet needs a pull.
        #[schemars(range(min = 1))]
        window: u32,
        /// Share of its link's rate at which a host pulls.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        pull_rate: f64,
        /// How endpoints go through their paths, with `routing.kind = "transport"`.
        paths: Word<spec::Walk>,
        /// NDP as htsim has it: no retransmission timer, so that a flow whose header is dropped never ends; NACKs wait
        /// behind data in their host; the last packet has full size.
        htsim: bool,
    }
}

words! {
    /// How an endpoint goes through its paths.
    "Walk" spec::Walk {
        /// All of them in a random order, one packet each; then in another order.
        "permute" => spec::Walk::Permute,
        /// Each packet takes one at random.
        "random" => spec::Walk::Random,
    }
}

impl Ndp {
    pub(crate) fn over(&self, base: &Ndp) -> Ndp {
        self.or(base)
    }

    /// As the engine has it.
    pub(crate) fn spec(&self) -> Option<spec::Ndp> {
        Some(spec::Ndp { window: self.window?, pull_rate: self.pull_rate?, walk: self.paths?.0, htsim: self.htsim? })
    }

    /// Bounds that types do not give.
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
        /// Packets of speculative credit that a flow begins with; a receiver gives as much beyond what was asked for,
        /// where nobody asks.
        #[schemars(range(min = 1))]
        window: u32,
        /// Share of its link's rate at which a host gives credit.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        pull_rate: f64,
        /// Entropies of a flow, with `routing.kind = "transport"` and `routing.by = "entropy"`: a power of two.
        #[schemars(range(min = 1, max = 32768))]
        entropies: u32,
        /// EQDS as htsim has it: a flow shorter than its window is given credit for ever, since a negative target wraps
        /// around; `pull_rate` multiplies the time between credits, which is that of a packet and 38 bytes; all credit
        /// of a flow has one entropy.
        htsim: bool,
    }
}

impl Eqds {
    pub(crate) fn over(&self, base: &Eqds) -> Eqds {
        self.or(base)
    }

    /// As the engine has it.
    pub(crate) fn spec(&self) -> Option<spec::Eqds> {
        let (window, entropies) = (self.window?, self.entropies?);
        Some(spec::Eqds { window, pull_rate: self.pull_rate?, entropies, htsim: self.htsim? })
    }

    /// Bounds that types do not give.
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
        /// What controls congestion.
        control: Control,
        /// Round-trip time of the fabric, of a full packet and its ACK over the longest path: NSCC's gains and windows
        /// follow from it. `auto`: that of each pair of hosts.
        rtt: Auto<Time>,
        /// Queueing delay that NSCC aims at. `auto`: three quarters of `rtt`.
        target_delay: Auto<Time>,
        /// RCCC: share of its link's rate at which a host gives credit.
        #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
        pull_rate: f64,
        /// Bytes that come since the last ACK and call for one.
        ack_bytes: Size,
        /// How a sender chooses entropies, with `routing.kind = "transport"` and `routing.by = "entropy"`.
        spread: Word<spec::Spread>,
        /// Entropies of a flow: a power of two.
        #[schemars(range(min = 1, max = 32768))]
        entropies: u32,
        /// RCCC as uet-htsim has it: a packet that was cut asks for no credit, a request for credit repeats the last
        /// target, and a flow goes on being given credit after its end.
        htsim: bool,
    }
}

/// What controls UET's congestion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// The sender: a window, by delays and marks.
    Nscc,
    /// The receiver: credit.
    Rccc,
    /// Both: a packet goes if window and credit let it.
    Both,
}

words! {
    /// How a sender of UET chooses entropies.
    "Spread" spec::Spread {
        /// All in turn.
        "oblivious" => spec::Spread::Oblivious,
        /// All in turn, but one with a mark, a cut before the last hop or a loss is passed over 1, 4 or 15 times.
        "bitmap" => spec::Spread::Bitmap,
        /// Those that came back without a mark, the latest 8, each used once; without any a random one (REPS).
        "reps" => spec::Spread::Reps,
        /// Those that came back without a mark, each used once; without any as `bitmap`.
        "mixed" => spec::Spread::Mixed,
    }
}

impl Uet {
    pub(crate) fn over(&self, base: &Uet) -> Uet {
        self.or(base)
    }

    /// As the engine has it.
    pub(crate) fn spec(&self) -> Option<spec::Uet> {
        let control = self.control?;
        Some(spec::Uet {
            window: control != Control::Rccc,
            credit: control != Control::Nscc,
            rtt: self.rtt?.given().map(|t| t.0),
            target_delay: self.target_delay?.given().map(|t| t.0),
            pull_rate: self.pull_rate?,
            ack_bytes: self.ack_bytes?.0.0,
            spread: self.spread?.0,
            entropies: self.entropies?,
            htsim: self.htsim?,
        })
    }

    /// Bounds that types do not give.
    pub(crate) fn check(&self, at: &mut Report) {
        for (name, time) in [("rtt", self.rtt), ("target_delay", self.target_delay)] {
            if time.and_then(Auto::given).is_some_and(|time| time.0 == incast_cc::Time::ZERO) {
                at.text(name, "0s", "expected a time above 0, or \"auto\"");
            }
        }
        if let Some(rate) = self.pull_rate.filter(|rate| !(*rate > 0.0 && *rate <= 1.0)) {
            at.value("pull_rate", rate, "expected a share above 0 and at most 1");
        }
        if let Some(bytes) = self.ack_bytes.filter(|bytes| bytes.0.0 == 0) {
            at.text("ack_bytes", bytes, "expected at least 1B");
        }
        if let Some(n) = self.entropies.filter(|n| !n.is_power_of_two() || *n > 1 << 15) {
            at.value("entropies", n, "expected a power of two, 1 to 32768");
        }
    }
}
