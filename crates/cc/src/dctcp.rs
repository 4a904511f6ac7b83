//! DCTCP: a window cut in proportion to the share of marked data (Alizadeh et al., SIGCOMM 2010,
//! section 3.1; RFC 8257 section 3.3).
//!
//! Once per window of data, `F` is the share of its bytes whose ACKs carried ECN-Echo, and
//!
//! ```text
//! alpha = (1 - g) alpha + g F          paper equation (1), RFC 8257 section 3.3 step 6
//! cwnd  = cwnd (1 - alpha / 2)         paper equation (2), RFC 8257 section 3.3 step 9
//! ```
//!
//! The window grows as Reno's ([`crate::reno_window`]), and reacts to a loss as Reno's unless `loss` says otherwise.
//! The receiver's half of DCTCP (the two-state delayed ACK) belongs to the transport.
//!
//! With `feedback = "median"` an ACK counts as marked if most of the last ACKs are ([`crate::median`]): for `F`, for
//! growth, and for reductions.

use crate::median::{self, Median};
use crate::registry::{Kind, ParamSet};
use crate::reno_window::{self, Arithmetic, Halve, RenoWindow, by_window};
use crate::{Ack, Congestion, Controller, Ecn, Env, Profile, Time, Timeout};
use alloc::boxed::Box;

choice! {
    /// Reaction to a packet loss.
    Loss {
        /// RFC 8257 section 3.5: as conventional TCP.
        Halve = "halve",
        /// By alpha, as to marks (ns-3 up to 3.43).
        Alpha = "alpha",
    }
}

choice! {
    /// The end of a window of data, at which alpha is updated.
    Round {
        /// RFC 8257: when the data outstanding at the last update is acknowledged.
        Data = "data",
        /// htsim: when as many ACKs were counted as the window had segments at the last update.
        Acks = "acks",
    }
}

choice! {
    /// Time of a reduction by alpha.
    CutAt {
        /// RFC 8257: at the first mark of a window.
        Mark = "mark",
        /// htsim: at every update of alpha while alpha is above zero, marks or not.
        Round = "round",
    }
}

choice! {
    /// The window that a reduction multiplies by 1 - alpha/2.
    CutOf {
        /// The controller's.
        Cwnd = "cwnd",
        /// The window in force; during a recovery that is the transport's (ns-3 has only one).
        InForce = "in-force",
    }
}

choice! {
    /// Arithmetic of the average.
    Alpha {
        /// A real number.
        Real = "real",
        /// Linux: whole 1024ths. The decay and the new share are rounded down separately; a decay of less than one
        /// takes all that is left.
        Fixed = "1024ths",
    }
}

choice! {
    /// The ACK that ends a window of data.
    WindowEnd {
        /// The first one beyond the data outstanding at its start (RFC 8257).
        Beyond = "beyond",
        /// Linux: the one that reaches that data's end.
        Reached = "reached",
    }
}

params! {
    form of {
        /// Whole segments and bytes, no floor, alpha's reaction to every loss and timeout, reductions of the window
        /// in force.
        "ns3" = "ns-3.43, TcpDctcp and TcpLinuxReno (src/internet/model)" {
            loss = "alpha", floor = "0.0", cut_of = "in-force", arithmetic = "whole", timeouts = "every"
        }
        /// The same decisions from the same ACKs as htsim's DCTCP, as long as nothing is lost. The
        /// transport around it is `transport.preset = "htsim"` with `lone_syn`, the queue
        /// `ecn-threshold` with `mark_at = "departure"`.
        "htsim" = "sim/dctcp.cpp and sim/tcp.cpp of Broadcom/csg-htsim, commit 841d9e7" {
            initial_alpha = "0.0", round = "acks", cut_at = "round", slow_start = "false", avoidance = "room",
            arithmetic = "bytes", floor = "1.0"
        }
        /// Whole segments and 1024ths.
        "linux" = "Linux 6.1, net/ipv4/tcp_dctcp.c" {
            alpha = "1024ths", alpha_window = "reached", arithmetic = "segments", timeouts = "once", halve = "cwnd",
            idle = "decay"
        }
    }
    /// Gain of the moving average of the marked share.
    g: f64 = "0.0625", "", "1/16: the paper's experiments, RFC 8257 section 4", "a number above 0, at most 1"
        => |x| *x > 0.0 && *x <= 1.0;
    /// Initial value of the average; 1 makes the first reduction a halving.
    initial_alpha: f64 = "1.0", "", "RFC 8257, Linux, ns-3; htsim starts at 0",
        "a number from 0 to 1" => |x| *x >= 0.0 && *x <= 1.0;
    /// End of a window of data, which updates alpha: "data" when all data outstanding at the last update is
    /// acknowledged, "acks" when as many ACKs were counted as the window then had segments (at first two).
    round: Round = "data", "", "RFC 8257 section 3.3; htsim counts ACKs";
    /// Time of a reduction: "mark" at the first mark of a window, "round" at every update of alpha while alpha is
    /// above zero.
    cut_at: CutAt = "mark", "", "RFC 8257 section 3.3; htsim cuts at every update";
    /// Begins a flow in slow start; otherwise ssthresh begins as the initial window.
    slow_start: bool = "true", "", "RFC 5681; experiments with htsim set ssthresh to the initial window";
    /// Reaction to a packet loss: "halve" as conventional TCP does, or "alpha" as to marks.
    loss: Loss = "halve", "", "RFC 8257 section 3.5; ns-3 up to 3.43 uses alpha";
    /// Arithmetic of the average: a "real" number, or whole "1024ths", each step rounded down.
    alpha: Alpha = "real", "", "the paper; Linux has 1024ths";
    /// The ACK that ends a window of data: the first one "beyond" the data outstanding at its start, or the one that
    /// has "reached" the end of that data.
    alpha_window: WindowEnd = "beyond", "", "RFC 8257 section 3.3; Linux and ns-3: reached";
    /// The window that a reduction multiplies by 1 - alpha/2: "cwnd" as the controller keeps it, or the one "in-force",
    /// which during a recovery is the transport's.
    cut_of: CutOf = "cwnd", "", "RFC 8257 section 3.3; ns-3 has one window for both";
    /// Quantity that a loss halves: the bytes in "flight", or "cwnd".
    halve: Halve = "flight", "", "RFC 5681 equation (4); Linux halves cwnd";
    then ..median: median::Params { !even; };
    then ..window: reno_window::Params {
        slow_start_per = "segments", "Linux and ns-3";
        avoidance = "bytes", "Linux and ns-3; htsim has room";
        floor = "2.0", "Linux; the paper and ns-3 have none";
    };
}

/// Description printed by `describe`.
pub static KIND: Kind = Kind {
    name: "dctcp",
    title: "DCTCP",
    source: "Alizadeh et al., Data Center TCP, SIGCOMM 2010, section 3; RFC 8257 sections 3.3-3.5",
    what: "Switches mark packets above a queue threshold; the sender cuts its window once a round trip by half the \
           (averaged) share of marked bytes.",
    differences: &[
        "alpha is a real number, so it neither sticks above zero nor fails to rise as integer forms can (RFC 8257 \
         section 4).",
        "Growth counts acknowledged bytes, as Linux and ns-3 do, where RFC 8257 refers to RFC 5681's count of ACKs; \
         with delayed ACKs the difference is a factor of two in slow start (slow_start_per, avoidance).",
        "No window below floor segments after a reduction; the paper names no floor, Linux has two segments.",
        "The timing of a reduction (at once, or spread over a round trip as in Linux) is the transport's rule \
         (transport.ecn_by_prr).",
        "feedback = \"median\" replaces every ACK's mark by the majority of the last ACKs, which Gerstein et al. \
         (arXiv 2025, section III) propose and do not evaluate. The first ACK of a window with a marked majority \
         reduces the window.",
    ],
    state: &[("alpha", "averaged share of marked bytes, 0 to 1")],
    profile: Profile { ecn: Ecn::Dctcp, ..Profile::TCP },
    params: Params::PARAMS,
};

/// A DCTCP sender.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: RenoWindow,
    alpha: f64,
    window_end: u64,
    bytes_acked: u64,
    bytes_marked: u64,
    /// True once the first window of whole arithmetic has its end.
    started: bool,
    /// True in fast recovery.
    recovering: bool,
    /// True for the rules of RFC 8257 and Linux: windows of data, every mark by itself.
    plain: bool,
    g: f64,
    alpha_kind: Alpha,
    window_ends: WindowEnd,
    loss: Loss,
    cut_of: CutOf,
    round: Round,
    cut_at: CutAt,
    /// Round counted in ACKs: ACKs since the last update, those of them with ECN-Echo, and the window at that update,
    /// bytes.
    acks: u32,
    marked_acks: u32,
    past_cwnd: f64,
    median: Option<Box<Median>>,
}

impl Dctcp {
    /// A new flow.
    pub fn new(params: &Params, env: &Env) -> Dctcp {
        let window = RenoWindow::new(env, params.window, params.halve);
        let median = params.median.filter();
        Dctcp {
            past_cwnd: 2.0 * window.mss,
            window: if params.slow_start { window } else { window.in_avoidance() },
            alpha: params.initial_alpha,
            window_end: 0,
            bytes_acked: 0,
            bytes_marked: 0,
            started: false,
            recovering: false,
            plain: params.round == Round::Data && params.window.arithmetic != Arithmetic::Whole && median.is_none(),
            g: params.g,
            alpha_kind: params.alpha,
            window_ends: params.alpha_window,
            loss: params.loss,
            cut_of: params.cut_of,
            round: params.round,
            cut_at: params.cut_at,
            acks: 0,
            marked_acks: 0,
            median,
        }
    }

    /// The averaged share of marked bytes.
    pub(crate) fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The window, bytes.
    pub(crate) fn window(&self) -> f64 {
        self.window.cwnd
    }

    /// Equation (2), with `alpha` in place of the average.
    fn cut(&self, alpha: f64, in_force: f64) -> f64 {
        let window = match self.cut_of {
            CutOf::Cwnd => self.window.cwnd,
            CutOf::InForce => in_force,
        };
        if self.window.in_segments() {
            // whole segments are reduced by a whole number
            let mss = self.window.mss;
            return window - libm::floor(window / mss * alpha / 2.0) * mss;
        }
        window * (1.0 - alpha / 2.0)
    }

    fn after_loss(&self, alpha: f64, in_flight: u64, in_force: f64) -> f64 {
        match self.loss {
            Loss::Halve => self.window.half(in_flight, in_force),
            Loss::Alpha => self.cut(alpha, in_force),
        }
    }

    /// Reacts to a loss, with `alpha` in place of the average.
    pub(crate) fn lose(&mut self, event: &Congestion, alpha: f64) {
        self.window.reduce(self.after_loss(alpha, event.in_flight, event.window));
        self.recovering = true;
    }

    /// Reacts to the first mark of a window, with `alpha` in place of the average.
    pub(crate) fn mark(&mut self, event: &Congestion, alpha: f64) {
        match self.cut_at {
            CutAt::Mark => self.window.reduce(self.cut(alpha, event.window)),
            CutAt::Round => self.window.end_slow_start(),
        }
        self.recovering = false;
    }

    /// Reacts to a timeout, with `alpha` in place of the average.
    pub(crate) fn time_out(&mut self, event: &Timeout, alpha: f64) {
        self.window.restart(event, self.after_loss(alpha, event.in_flight, event.window));
        self.recovering = false;
    }

    /// Equation (1).
    fn update(&mut self, marked_share: f64) {
        self.alpha = match self.alpha_kind {
            Alpha::Real => (1.0 - self.g) * self.alpha + self.g * marked_share,
            Alpha::Fixed => {
                let scaled = self.alpha * 1024.0;
                // an alpha whose share is less than one becomes 0
                let share = libm::floor(scaled * self.g);
                let decay = if share == 0.0 { scaled } else { share };
                let fresh = libm::floor(1024.0 * self.g * marked_share);
                (scaled - decay + fresh).min(1024.0) / 1024.0
            }
        };
        if self.cut_at == CutAt::Round && self.alpha > 0.0 {
            self.window.reduce(self.cut(self.alpha, self.window.cwnd));
        }
    }

    /// [`Round::Acks`].
    fn count_ack(&mut self, ece: bool) {
        self.acks += 1;
        self.marked_acks += u32::from(ece);
        if f64::from(self.acks) * self.window.mss >= self.past_cwnd {
            self.update(f64::from(self.marked_acks) / f64::from(self.acks));
            (self.acks, self.marked_acks, self.past_cwnd) = (0, 0, self.window.cwnd);
        }
    }

    /// Ends a window of data; the next one ends at `end`.
    fn next_window(&mut self, end: u64) {
        self.update(self.bytes_marked as f64 / self.bytes_acked.max(1) as f64);
        self.window_end = end;
        self.bytes_acked = 0;
        self.bytes_marked = 0;
    }

    /// Counts an ACK by ns-3's rules: whole segments, one for a duplicate or a partial ACK. The window ends with the
    /// ACK that reaches the end of the segment sent last (possibly a retransmission) when the window began.
    fn count_whole(&mut self, ack: &Ack, segments: f64) {
        let bytes = self.window.whole_bytes(ack, segments);
        self.bytes_acked += bytes;
        if ack.ece {
            self.bytes_marked += bytes;
        }
        if !self.started {
            self.started = true;
            self.window_end = ack.tcp.sent_to;
        }
        if ack.round.has_reached(self.window_end) {
            self.next_window(ack.tcp.sent_to);
        }
    }

    /// Counts an ACK by RFC 8257 and Linux.
    #[inline]
    fn count(&mut self, ack: &Ack) {
        let counted = self.window.counts(ack);
        self.bytes_acked += counted;
        if ack.ece {
            self.bytes_marked += counted;
        }
        let ends = match self.window_ends {
            WindowEnd::Beyond => ack.round.is_past(self.window_end),
            WindowEnd::Reached => ack.round.has_reached(self.window_end),
        };
        if ends {
            self.next_window(ack.round.sent);
        }
        self.window.grow(ack);
    }

    /// Handles an ACK by rules that are not plain.
    fn on_other_ack(&mut self, ack: &Ack) {
        let w = self.window.cwnd / self.window.mss;
        match self.median.as_mut().map(|median| median.hear_mark(ack.ece, w)) {
            Some(ece) if ece != ack.ece => self.count_other(&Ack { ece, ..*ack }),
            _ => self.count_other(ack),
        }
    }

    /// Counts an ACK by these rules, once its mark is known.
    #[inline]
    fn count_other(&mut self, ack: &Ack) {
        if self.round == Round::Acks {
            self.count_ack(ack.ece);
            return self.window.grow(ack);
        }
        if !self.window.in_whole() {
            return self.count(ack);
        }
        let segments = self.window.whole_segments(ack);
        self.count_whole(ack, segments);
        self.window.grow_whole(ack, segments);
    }
}

impl Controller for Dctcp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if self.plain {
            self.count(ack);
        } else {
            self.on_other_ack(ack);
        }
    }

    fn on_loss(&mut self, event: &Congestion) {
        self.lose(event, self.alpha);
    }

    fn heeds_mark(&self) -> bool {
        self.median.as_ref().is_none_or(|median| median.is_marked())
    }

    fn on_ecn(&mut self, event: &Congestion) {
        self.mark(event, self.alpha);
    }

    fn on_timeout(&mut self, event: &Timeout) {
        self.time_out(event, self.alpha);
    }

    fn on_recovered(&mut self, _now: Time, _in_flight: u64) {
        if core::mem::take(&mut self.recovering) {
            self.window.recovered();
        }
    }

    fn on_undo(&mut self) {
        self.window.undo();
    }

    by_window!();

    fn state(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("alpha", self.alpha);
    }
}
