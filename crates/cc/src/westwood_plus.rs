//! TCP Westwood+: Westwood with one sample of the bandwidth a round trip (Grieco and Mascolo, Computer
//! Communication Review 34(2), 2004).
//!
//! Bunched ACKs make Westwood's sample of each ACK too large; what a whole round trip brings they cannot bunch.
//! All else is [`crate::westwood`]'s.

use crate::bandwidth::{Filter, MinOf, Sampling};
use crate::registry::{Kind, ParamSet};
use crate::reno_window::{Arithmetic, Avoidance, IdleRule, SlowStart, Timeouts};
use crate::westwood::{self, AtLoss, Westwood};
use crate::{Env, Profile, Time};

params! {
    form of {
        /// Whole bytes, segments and bits per second; a sample lasts a smoothed round trip, and the shortest round
        /// trip is a smoothed one.
        "ns3" = "ns-3.43, TcpWestwoodPlus (src/internet/model/tcp-westwood-plus.cc)" {
            sampling = "scheduled", filter = "tustin", min_of = "srtt", arithmetic = "whole"
        }
    }
    /// What one sample of the bandwidth is: "ack" what an ACK newly reports over the time since the ACK before it,
    /// "rtt" what a round trip's ACKs report over its time, "scheduled" what is reported in one smoothed round-trip
    /// time from the first ACK after a sample, "ticks" what is reported in a window longer than the latest round
    /// trip and than 50 ms, in whole ticks.
    sampling: Sampling = "rtt", "", "paper, section 3; ns-3 has scheduled, Linux ticks";
    /// How samples are averaged: "interval" by a first-order low-pass filter with the samples' intervals,
    /// "tustin" by the same with a coefficient of 0.9, "first-order" 0.9 of the average and 0.1 of the sample,
    /// "eighths" by 7/8 and 1/8, twice, "none" not at all.
    filter: Filter = "first-order", "", "paper, section 3; ns-3 has tustin and none, Linux eighths";
    /// Time constant of the filter "interval".
    tau: Time = "500ms", "", "Westwood's paper, section 2.2", "a time above 0" => |x| *x > Time::ZERO && *x < Time::NEVER;
    /// Clock of the samples "ticks".
    tick: Time = "1ms", "", "Linux with HZ = 1000", "a time above 0" => |x| *x > Time::ZERO && *x < Time::NEVER;
    /// What a loss makes of the bandwidth times the shortest round trip: "bound" that is ssthresh and the most that
    /// the window may be, "set" both, "recovered" both, but when the recovery ends; the loss halves the window.
    at_loss: AtLoss = "set", "", "paper, section 3; Westwood has bound, Linux recovered";
    /// Of what the shortest round trip is taken: the samples ("rtt"), or the smoothed one ("srtt").
    min_of: MinOf = "rtt", "", "paper, section 3; ns-3 has srtt";
    /// What slow start counts: "ack" adds at most one segment for each ACK, "segments" adds all that the ACK
    /// covers.
    slow_start_per: SlowStart = "ack", "", "RFC 5681 section 3.1; Linux counts segments";
    /// How congestion avoidance adds one segment a round trip: "ack" adds mss*mss/cwnd for each ACK, "bytes" one
    /// segment for each window of acknowledged bytes, "room" min(mss, room)*mss/cwnd for each ACK, where the room
    /// is what the window allows beyond what is in flight (htsim).
    avoidance: Avoidance = "ack", "", "RFC 5681 equation (3)";
    /// Smallest window a reduction leaves.
    floor: f64 = "2.0", "segments", "paper, section 3", "a number of at least 1" => |x| *x >= 1.0;
    /// Numbers in which the window is kept: "real", "whole" for ns-3's integers (whole segments counted, the rest
    /// carried over; cuts and rates rounded down), "segments" for Linux' (whole segments, cuts rounded down;
    /// growth by what an ACK newly reports), or "bytes" for htsim's (cuts and steps into the room rounded down to
    /// bytes).
    arithmetic: Arithmetic = "real", "", "own choice; ns-3 counts whole segments and bytes, Linux segments";
    /// Timeouts that lower ssthresh: the "first" of the same data, "every" one, or "once": the first unless the
    /// window is being reduced for this data already.
    timeouts: Timeouts = "first", "", "RFC 5681 section 3.1; Linux once; ns-3 takes every one, which finds the same estimate";
    /// What an idle time longer than the retransmission timeout does: "restart" from the initial window, or
    /// "decay" by halves for every timeout that has passed, while ssthresh remembers three quarters of the window
    /// (transport.idle_restart switches both off).
    idle: IdleRule = "restart", "", "RFC 5681 section 4.1; Linux follows RFC 2861";
}

/// What `describe` prints.
pub static KIND: Kind = Kind {
    name: "westwood-plus",
    title: "Westwood+",
    source: "Grieco and Mascolo, Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion \
             control, Computer Communication Review 34(2), 2004, section 3",
    what: "Westwood whose bandwidth is sampled once a round trip, which bunched ACKs do not inflate.",
    differences: &[
        "A sample lasts from an ACK to the first one that comes at least the latest round-trip time later.",
        "Bytes that SACK reports count when they are reported.",
        "Linux calls its Westwood+ westwood, and so does the form here: westwood:form=linux.",
        "Fast recovery itself belongs to the transport (transport.recovery).",
    ],
    state: westwood::KIND.state,
    profile: Profile::TCP,
    params: Params::PARAMS,
};

/// A Westwood+ sender.
#[derive(Clone, Debug)]
pub struct WestwoodPlus(Westwood);

impl WestwoodPlus {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> WestwoodPlus {
        let params = westwood::Params {
            form: params.form,
            sampling: params.sampling,
            filter: params.filter,
            tau: params.tau,
            tick: params.tick,
            at_loss: params.at_loss,
            min_of: params.min_of,
            slow_start_per: params.slow_start_per,
            avoidance: params.avoidance,
            floor: params.floor,
            arithmetic: params.arithmetic,
            timeouts: params.timeouts,
            idle: params.idle,
        };
        WestwoodPlus(Westwood::new(&params, env))
    }
}

acts_as_its_part!(WestwoodPlus);
