//! Differences of other implementations of Swift from the paper: htsim's (`form = "htsim"`), and those of two ns-3
//! studies of Swift and DCTCP (`form = "yasomam"`; `form = "cse322"` and `"cse322-text"`). Each difference is a
//! parameter, so that its effect can be measured. This file declares them, `sender` applies them, `cse322` has the
//! rules found only in the text of that study, and `cycles` those of its code. The paper's own path is in
//! [`super::sender`].

pub mod cse322;
pub(in crate::swift) mod cycles;
mod sender;

choice! {
    /// Event that restarts the time to the next decrease.
    DecreaseClock {
        /// The window fell.
        Strict = "strict",
        /// The window did not grow, as in the printed algorithm 1.
        Literal = "literal",
    }
}

choice! {
    /// Number format of the window.
    Arithmetic {
        /// Real numbers; an ACK counts its bytes.
        Real = "real",
        /// Whole bytes, rounded down; an ACK counts whole segments and carries the rest over to the next.
        Bytes = "bytes",
        /// As bytes, with additive increase in whole segments of the window: ai / cwnd is rounded down.
        Segments = "segments",
        /// Whole bytes and targets of whole picoseconds, rounded down; an ACK counts its bytes.
        Integer = "integer",
    }
}

choice! {
    /// Origin of the loss recovery.
    Recovery {
        /// Section 3.6: a reduction at every newly found loss, and no recovery window.
        Own = "own",
        /// The transport's: the window does not change during fast recovery and is ssthresh afterwards, as NewReno
        /// sets it.
        NewReno = "newreno",
        /// The transport's, while delays continue to change the window; the reduction for the loss happens at its end
        /// (htsim).
        AtExit = "at-exit",
    }
}

choice! {
    /// The round-trip time that must pass between decreases.
    Gate {
        /// The latest sample.
        Rtt = "rtt",
        /// The smoothed RTT.
        Srtt = "srtt",
        /// The smoothed RTT before the current ACK's sample, in whole picoseconds.
        PriorSrtt = "prior-srtt",
        /// No gate: every ACK may decrease. Losses stay at least one latest sample apart.
        None = "none",
    }
}

choice! {
    /// Packets counted by additive increase.
    Counts {
        /// Every packet when an ACK first reports it, also by SACK.
        Delivered = "delivered",
        /// The bytes by which the cumulative ACK advances, at the delay of that ACK.
        Cumulative = "cumulative",
    }
}

choice! {
    /// Round-trip time in the pause between packets of a window below one packet.
    PaceBy {
        /// The latest sample.
        Rtt = "rtt",
        /// The smoothed RTT.
        Srtt = "srtt",
    }
}

params! {
    /// Event that restarts the time to the next decrease: "strict" a decrease of the window, "literal" also an
    /// unchanged window.
    decrease_clock: DecreaseClock = "strict", "",
        "own choice, htsim does the same; the paper prints the literal form";
    /// Round-trip time that must pass between decreases: "rtt" the latest sample, "srtt" the smoothed RTT,
    /// "prior-srtt" the smoothed RTT before this ACK's sample; "none": every ACK may decrease, losses stay one sample
    /// apart.
    gate: Gate = "rtt", "", "own choice; the paper does not say which, htsim takes prior-srtt";
    /// Packets counted by additive increase: those "delivered", each when an ACK first reports it, also by SACK; or
    /// those of the "cumulative" ACK, at the delay of the ACK that advances it.
    counts: Counts = "delivered", "", "own choice; htsim, without SACK, cumulative";
    /// Round-trip time for the pacing of windows below one packet: "rtt" the latest sample, "srtt" the smoothed RTT.
    pace_by: PaceBy = "rtt", "", "section 3.4; htsim smooths";
    /// Number format of windows and targets: "real"; whole "bytes", and whole segments per ACK; "segments", the same
    /// with additive increase in whole segments, ai / cwnd rounded down; or "integer" bytes and picoseconds, all
    /// rounded down at every change.
    arithmetic: Arithmetic = "real", "", "own choice; ns-3 counts bytes, htsim has integers";
}

/// Active differences from the paper.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::swift) struct Emulation {
    pub(in crate::swift) decrease_clock: DecreaseClock,
    pub(in crate::swift) gate: Gate,
    pub(in crate::swift) counts: Counts,
    pub(in crate::swift) pace_by: PaceBy,
    pub(in crate::swift) arithmetic: Arithmetic,
    pub(in crate::swift) recovery: Recovery,
    /// NewReno's slow start below ssthresh.
    pub(in crate::swift) slow_start: bool,
    /// NewReno's window, which changes once a round trip.
    pub(in crate::swift) cycles: bool,
}

impl Params {
    pub(in crate::swift) fn chosen(&self) -> Emulation {
        let Params { decrease_clock, gate, counts, pace_by, arithmetic } = *self;
        let (recovery, slow_start, cycles) = (Recovery::Own, false, false);
        Emulation { decrease_clock, gate, counts, pace_by, arithmetic, recovery, slow_start, cycles }
    }
}

impl Emulation {
    /// True for the paper's Swift.
    pub(in crate::swift) fn is_none(&self) -> bool {
        *self
            == Emulation {
                decrease_clock: DecreaseClock::Strict,
                gate: Gate::Rtt,
                counts: Counts::Delivered,
                pace_by: PaceBy::Rtt,
                arithmetic: Arithmetic::Real,
                recovery: Recovery::Own,
                slow_start: false,
                cycles: false,
            }
    }

    /// True if an ACK counts whole segments (ns-3).
    pub(in crate::swift) fn counts_segments(&self) -> bool {
        matches!(self.arithmetic, Arithmetic::Bytes | Arithmetic::Segments)
    }

    /// Additive increase of a window of `w` packets by `n`, in whole packets: `ai / w` is rounded down before the
    /// multiplication.
    pub(in crate::swift) fn whole_increase(ai: f64, w: f64, n: f64) -> f64 {
        let whole = libm::floor(w);
        whole + libm::floor(ai / whole.max(1.0)) * n
    }

    /// Rounds a window of `w` packets of `mss` bytes to its arithmetic.
    pub(in crate::swift) fn rounded(&self, w: f64, mss: f64) -> f64 {
        // the quotient of a whole number of bytes may lie slightly below it
        if self.arithmetic == Arithmetic::Real { w } else { libm::floor(w * mss + 1e-6) / mss }
    }
}
