//! Swift: a window that follows a target delay (Kumar et al., SIGCOMM 2020).
//!
//! ```text
//! target = base_target + hops h + clamp(a_fs / sqrt(fcwnd) + b_fs, 0, fs_range)     section 3.5
//! fabric delay < target:  fcwnd += n ai / fcwnd   (n ai below one packet)
//! else, once an RTT:      fcwnd *= max(1 - beta (delay - target) / delay, 1 - max_mdf)   algorithm 1
//! ecwnd: the same rule on a moving average of the endpoint delay and its own target     section 3.3
//! cwnd = min(fcwnd, ecwnd)
//! ```
//!
//! Windows are in packets and real; below one packet the flow is paced at one packet every
//! rtt / cwnd (section 3.4). There is no slow start. A file holds a section of the paper:
//!
//! - [`window`]: algorithm 1, the window around its target (3.1 and 3.2);
//! - [`endpoint`]: the second window, for the delay in hosts (3.3);
//! - [`pacing`]: windows below one packet (3.4);
//! - [`target_delay`]: what the target is made of (3.5);
//! - [`losses`]: losses and timeouts (3.6);
//! - [`sender`]: the parts put together;
//! - [`emulation`]: differences of other implementations; [`variants`]: controllers that share the parts.
//!
//! Two deliberate differences from the text of the paper, each with its parameter:
//!
//! - Algorithm 1 restarts the decrease timer whenever the window did not grow (`<=`). An ACK over
//!   target that may not decrease yet leaves the window as it was, so while ACKs come more than
//!   once an RTT the timer never runs out and the window freezes. Here it restarts when the
//!   window *fell* (`decrease_clock = "strict"`); `"literal"` is the paper's line.
//! - The published constants belong to 50-100 Gb/s. On a slow or long fabric the idle RTT alone
//!   exceeds any target they allow, so `base_target`, `h` and `fs_range` default to `auto`: the
//!   target on the shortest path is its idle RTT plus ten packets of queue, and each further link
//!   adds the idle RTT of a link. Own choice; absolute values are taken when given.
//!
//! `target = "min-rtt"` replaces the published sum by the smallest delay the flow has seen, plus `epsilon`. With an
//! exact clock and `epsilon = 0` the window cannot grow: no delay is *below* the smallest one seen, so the increase
//! never happens and the window only falls. Simulators with a coarse time-stamp clock hide this, because there many
//! delays are rounded down. `epsilon = "auto"` allows ten packets of queue.

pub mod emulation;
pub mod endpoint;
mod losses;
mod pacing;
pub mod sender;
pub mod target_delay;
pub mod variants;
pub mod window;

pub use sender::{DelaySignal, Judgement};
pub use window::Verdict;

use crate::registry::{Kind, ParamSet};
use crate::{Env, Profile};
use emulation::cse322::Bounds;
use emulation::cycles::Rule;
use emulation::{Arithmetic, Recovery};
use sender::{Family, Latest};
use target_delay::Target;

params! {
    form of {
        /// The code of an ns-3 study of Swift and DCTCP: a target from the smallest smoothed RTT (`epsilon = 1ms`
        /// is its second mode, `target = static` its third), integer factors, windows in bytes between 2000 and
        /// 60000 B at its segments of 1500 B, the printed decrease rule, ns-3's own way out of fast recovery.
        "yasomam" | "seed-000" = "omarghara/DCTCP-SWIFT-YASOMAM" {
            target = "min-rtt", min_of = "srtt", arithmetic = "bytes", recovery = "newreno",
            decrease_clock = "literal",
            ai = "2.0", beta = "4.0", max_mdf = "1.0", min_cwnd = "1.3333333333333333", max_cwnd = "40.0",
            retx_reset_threshold = "3"
        }
        /// The Swift of a student's report on ns-3, from its code: NewReno's window; the end of a round trip grows it
        /// by 2 bytes per segment if the smallest smoothed RTT is below a target of 25 ms, and empties it otherwise.
        "cse322" = "tcp-swift.cc of Mushtari-Sadia/TCPSwift-A-Congestion-Control-Algorithm-For-Datacenters, 91178fc" {
            cycles = "true", target = "static", static_target = "25ms", recovery = "newreno",
            ai = "2.0", max_mdf = "1.0"
        }
        /// The Swift described in the text of the same report: slow start of NewReno below ssthresh, then a fixed
        /// target of 25 us in whole segments, windows between one segment and 20000 B, the printed decrease rule,
        /// ns-3's own way out of fast recovery. Beyond round trips of 33 us the window is in slow start or one
        /// segment.
        "cse322-text" = "report of CSE 322, BUET, 2022, sections 4 and 5" {
            target = "static", static_target = "25us", arithmetic = "segments", recovery = "newreno",
            slow_start = "true", bounds = "bytes", decrease_clock = "literal",
            ai = "2.0", beta = "4.0", max_mdf = "1.0", min_cwnd = "500.0", max_cwnd = "20000.0",
            retx_reset_threshold = "4"
        }
        /// The same decisions from the same delays as htsim's Swift, as long as nothing is lost: its hop count is
        /// always zero, its types are integers. The matching transport is `transport.preset = "htsim"`, the NIC
        /// `queue.host.kind = "fair-nic"`.
        "htsim" = "sim/swift.cpp of Broadcom/csg-htsim, commit 841d9e7" {
            base_target = "20us",
            topology_scaling = "false",
            fs_window = "whole",
            arithmetic = "integer",
            gate = "prior-srtt",
            pace_by = "srtt",
            min_cwnd = "0.0025",
        }
    }
    ..target_delay: target_delay::Params;
    /// Loss recovery: "own" reduces at every newly found loss; "newreno" leaves it to the transport: the window does
    /// not change during fast recovery and is then half of the data that was in flight, at least two segments;
    /// "at-exit" also leaves it to the transport, while delays continue to change the window, and reduces by max_mdf
    /// when it ends.
    recovery: Recovery = "own", "",
        "section 3.6; in ns-3 code that leaves TcpNewReno's rule in place, newreno; htsim, at-exit";
    /// Adds NewReno's slow start: below ssthresh one packet per ACK, whatever the delay.
    slow_start: bool = "false", "", "section 3.1, which has none; the form cse322-text has it";
    /// Unit of min_cwnd and max_cwnd: "packets", or "bytes", rounded to the nearest whole number of packets, at least
    /// one.
    bounds: Bounds = "packets", "", "own choice; the form cse322-text has bytes";
    /// Uses NewReno's window, which the target changes once a round trip, by the smallest smoothed RTT: below
    /// static_target it grows by ai bytes per segment, else beta and max_mdf reduce it, in bytes. Other parameters
    /// have no effect then.
    cycles: bool = "false", "", "algorithm 1 acts on every ACK; code over ns-3's Vegas (form cse322) does not";
    then ..endpoint: endpoint::Params;
    then ..window: window::Params;
    profile => |p, profile| Profile { own_recovery: p.recovery == Recovery::Own, ..profile };
    together {
        "slow_start": "false unless recovery = newreno, which sets ssthresh" =>
            |p| !p.slow_start || p.recovery == Recovery::NewReno;
        "cycles": "false unless recovery = newreno and target = static" =>
            |p| !p.cycles || p.recovery == Recovery::NewReno && p.target_delay.target == Target::Static;
    }
}

/// State that controllers of the family with two windows expose for tracing.
pub(crate) const STATE: [(&str, &str); 5] = [
    ("target_delay_s", "target delay that the latest ACK was compared with, seconds"),
    ("fabric_delay_s", "fabric delay of the latest ACK, seconds"),
    ("fcwnd_packets", "fabric window, packets"),
    ("ecwnd_packets", "endpoint window, packets; not a number before the first endpoint delay"),
    ("endpoint_delay_s", "moving average of the endpoint delay, seconds; not a number before the first"),
];

/// The same state with one more entry.
const fn state_and(name: &'static str, meaning: &'static str) -> [(&'static str, &'static str); 6] {
    [STATE[0], STATE[1], STATE[2], STATE[3], STATE[4], (name, meaning)]
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "swift",
    title: "Swift",
    source: "Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter, SIGCOMM 2020",
    what: "Compares each packet's delay with a target that grows with the path and with the number of flows; increases \
           additively below it, decreases in proportion above it, and paces windows below one packet. A second window \
           does the same for the delay in hosts.",
    differences: &[
        "decrease_clock = \"strict\": the paper's printed line restarts the decrease timer on every ACK that leaves \
         the window unchanged, which freezes the decrease; \"literal\" brings it back.",
        "base_target, h and fs_range default to values derived from the fabric, since the published ones belong to \
         50-100 Gb/s.",
        "Constants the paper does not publish are htsim's (ai, beta, max_mdf, flow scaling, max_cwnd, \
         retx_reset_threshold) or own choices (endpoint_gain, ceiling).",
        "The endpoint window begins with the first endpoint delay above zero: without a model of hosts there is none.",
        "Real arithmetic throughout: htsim's windows are whole bytes, and its target moves in steps of whole packets \
         (arithmetic, fs_window; form = \"htsim\").",
        "A reduction for a loss happens when the loss is found, as in the paper; htsim reduces when recovery ends \
         (recovery).",
    ],
    state: &STATE,
    profile: Profile { own_recovery: true, ack_every_packet: true, ..Profile::TCP },
    params: Params::PARAMS,
};

/// A Swift sender.
pub type Swift = Family<Latest>;

impl Swift {
    /// A new flow.
    pub fn new(p: &Params, env: &Env) -> Swift {
        let window = p.bounds.in_packets(&p.window, env.mss);
        let family = Family::start(Latest { target: p.target(env) }, &window, Some(&p.endpoint), env)
            .recovering(p.recovery, p.slow_start);
        if !p.cycles {
            return family;
        }
        let window::Params { ai, beta, max_mdf, .. } = p.window;
        family.in_cycles_of(Rule { target: p.target_delay.static_target, ai, beta, max_mdf }, env)
    }
}

impl Params {
    fn target(&self, env: &Env) -> target_delay::TargetDelay {
        self.target_delay.of_path(self.window.emulation.arithmetic == Arithmetic::Integer, env)
    }
}
