//! Differences of other implementations of Swift from the paper: htsim's (`form = "htsim"`), and those of two ns-3
//! studies of Swift and DCTCP (`form = "yasomam"`; `form = "cse322"` and `"cse322-text"`). Each difference is a
//! parameter, so that what it is worth can be measured; this file declares them, `sender` acts by them, `cse322` has
//! what the text of that study alone does, `cycles` what its code does.
//! The paper's own path is in [`super::sender`].

pub mod cse322;
pub(in crate::swift) mod cycles;
mod sender;

choice! {
    /// The event that restarts the time to the next decrease.
    DecreaseClock {
        /// The window fell.
        Strict = "strict",
        /// The window did not grow, as algorithm 1 is printed.
        Literal = "literal",
    }
}

choice! {
    /// The unit of the window.
    Arithmetic {
        /// Real numbers; an ACK counts the bytes it brings.
        Real = "real",
        /// Whole bytes, rounded down; an ACK counts whole segments and leaves the rest to the
        /// next.
        Bytes = "bytes",
        /// As bytes, and additive increase in whole segments of the window: ai / cwnd is rounded down.
        Segments = "segments",
        /// Whole bytes and targets of whole picoseconds, rounded down; an ACK counts the bytes it
        /// brings.
        Integer = "integer",
    }
}

choice! {
    /// Whose loss recovery it is.
    Recovery {
        /// Section 3.6: a cut at every newly found loss, and no recovery window.
        Own = "own",
        /// The transport's: the window rests during fast recovery and is ssthresh afterwards,
        /// as NewReno sets it.
        NewReno = "newreno",
        /// The transport's, during which delays go on moving the window; the cut for the loss comes at
        /// its end (htsim).
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
        /// The smoothed RTT before the ACK that is to decrease, in whole picoseconds.
        PriorSrtt = "prior-srtt",
        /// None: every ACK may decrease. Losses stay a latest sample apart.
        None = "none",
    }
}

choice! {
    /// The packets that additive increase counts.
    Counts {
        /// Every packet when an ACK first reports it, be it by SACK.
        Delivered = "delivered",
        /// The bytes by which the cumulative ACK moves, at the delay of the ACK that moves it.
        Cumulative = "cumulative",
    }
}

choice! {
    /// The round-trip time in the pause between packets of a window below one packet.
    PaceBy {
        /// The latest sample.
        Rtt = "rtt",
        /// The smoothed RTT.
        Srtt = "srtt",
    }
}

params! {
    /// What restarts the time to the next decrease: "strict" a decrease of the window, "literal" also an unchanged
    /// window.
    decrease_clock: DecreaseClock = "strict", "",
        "own choice, htsim does the same; the paper prints the literal form";
    /// The round-trip time that must pass between decreases: "rtt" the latest sample, "srtt" the
    /// smoothed, "prior-srtt" the smoothed before this ACK's sample; "none": every ACK may decrease, losses
    /// stay one sample apart.
    gate: Gate = "rtt", "", "own choice; the paper does not say which, htsim takes prior-srtt";
    /// The packets that additive increase counts: those "delivered", each when an ACK first reports it, also by SACK;
    /// or those of the "cumulative" ACK, at the delay of the ACK that advances it.
    counts: Counts = "delivered", "", "own choice; htsim, without SACK, cumulative";
    /// The round-trip time for the pacing of windows below one packet: "rtt" the latest sample, "srtt" the smoothed.
    pace_by: PaceBy = "rtt", "", "section 3.4; htsim smooths";
    /// Numbers of windows and targets: "real"; whole "bytes", and whole segments an ACK; "segments", the same with
    /// additive increase in whole segments, ai / cwnd rounded down; or "integer" bytes and picoseconds, all rounded
    /// down at every change.
    arithmetic: Arithmetic = "real", "", "own choice; ns-3 counts bytes, htsim has integers";
}

/// The differences from the paper that are switched on.
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
    /// NewReno's window, which moves once a round trip.
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
    /// Whether it is the paper's Swift.
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

    /// Whether an ACK counts whole segments (ns-3).
    pub(in crate::swift) fn counts_segments(&self) -> bool {
        matches!(self.arithmetic, Arithmetic::Bytes | Arithmetic::Segments)
    }

    /// Additive increase of a window of `w` packets by `n`, in whole packets: `ai / w` is rounded down before it is
    /// multiplied.
    pub(in crate::swift) fn whole_increase(ai: f64, w: f64, n: f64) -> f64 {
        let whole = libm::floor(w);
        whole + libm::floor(ai / whole.max(1.0)) * n
    }

    /// A window of `w` packets of `mss` bytes in its arithmetic.
    pub(in crate::swift) fn rounded(&self, w: f64, mss: f64) -> f64 {
        // the quotient of a whole number of bytes may lie a trace below it
        if self.arithmetic == Arithmetic::Real { w } else { libm::floor(w * mss + 1e-6) / mss }
    }
}
